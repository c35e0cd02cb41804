//go:build unix

package server

import (
	"math"
	"syscall"
)

// descriptors returns the limit of open files and connections of the process, or 0 if unlimited.
func descriptors() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || uint64(l.Cur) > math.MaxInt32 {
		return 0
	}
	return int(l.Cur) // at most MaxInt32
}
