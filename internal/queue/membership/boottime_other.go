//go:build !linux

package membership

import "time"

//nolint:gochecknoglobals // the origin of a monotonic reading
var processStart = time.Now()

// bootTime is the monotonic clock in nanoseconds where CLOCK_BOOTTIME cannot be had.
func bootTime() int64 { return int64(time.Since(processStart)) + 1 }
