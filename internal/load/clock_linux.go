package load

import (
	"runtime"
	"syscall"
	"time"
)

// clock waits for instants. The runtime's timers wake a program that has nothing else to do up to a millisecond late, so
// it keeps a thread and lets the kernel wake it.
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
		ts := syscall.NsecToTimespec(int64(min(left, 50*time.Millisecond))) // a load that was ended notices soon
		_ = syscall.Nanosleep(&ts, nil)                                     // a signal ends it early: then again
	}
}
