package load

import (
	"runtime"
	"syscall"
	"time"
)

// clock waits for instants. The runtime's timers wake an otherwise idle program up to a millisecond late, so the clock
// keeps a thread and sleeps in the kernel.
type clock struct{}

func newClock() clock {
	runtime.LockOSThread()
	return clock{}
}

func (clock) close() { runtime.UnlockOSThread() }

func (clock) until(t time.Time) {
	for {
		left := time.Until(t)
		if left < 20*time.Microsecond {
			return
		}
		ts := syscall.NsecToTimespec(int64(min(left, 50*time.Millisecond))) // so that a canceled load ends soon
		_ = syscall.Nanosleep(&ts, nil)                                     // after a signal, sleep again
	}
}
