package membership

import (
	"time"

	"golang.org/x/sys/unix"
)

//nolint:gochecknoglobals // the origin of a monotonic reading
var processStart = time.Now()

// bootTime returns CLOCK_BOOTTIME in nanoseconds: it continues while the machine is suspended and is never set.
// Without it, the monotonic clock is used; a failing clock must not appear to stand still, or a lease would never end.
func bootTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return int64(time.Since(processStart)) + 1
	}
	return ts.Nano()
}
