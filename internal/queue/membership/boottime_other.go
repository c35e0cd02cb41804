//go:build !linux

package membership

import "time"

//nolint:gochecknoglobals // the origin of a monotonic reading
var processStart = time.Now()

// bootTime returns the monotonic clock in nanoseconds on systems without CLOCK_BOOTTIME.
func bootTime() int64 { return int64(time.Since(processStart)) + 1 }
