//go:build unix

package server

import (
	"math"
	"syscall"
)

// descriptors returns how many files and connections the process may have open; 0: as many as it likes.
func descriptors() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || uint64(l.Cur) > math.MaxInt32 {
		return 0
	}
	return int(l.Cur) //nolint:gosec // it is at most MaxInt32
}
