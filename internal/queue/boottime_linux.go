package queue

import "golang.org/x/sys/unix"

// bootTime is CLOCK_BOOTTIME in nanoseconds: it runs on through a suspended machine and is never set.
func bootTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 1
	}
	return ts.Nano()
}
