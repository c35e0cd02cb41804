package membership

import (
	"time"

	"golang.org/x/sys/unix"
)

//nolint:gochecknoglobals // the origin of a monotonic reading
var processStart = time.Now()

// bootTime is CLOCK_BOOTTIME in nanoseconds: it runs on through a suspended machine and is never set. A kernel without it
// gives the monotonic clock; one that failed must not seem to stand still, or a lease would never end.
func bootTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return int64(time.Since(processStart)) + 1
	}
	return ts.Nano()
}
