package app

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// shortName names a socket in a folder by way of the folder's descriptor, for a socket's path may have 107 bytes. It is
// good until it is released.
func shortName(dir, name string) (path string, release func(), err error) {
	f, err := os.Open(dir) //nolint:gosec // the operator names the folder
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join("/proc/self/fd", fmt.Sprint(f.Fd()), name)
	return path, func() { _ = f.Close() }, nil
}

// privateSocket makes the socket its owner's alone, before it has a name.
func privateSocket(_, _ string, c syscall.RawConn) error {
	var err error
	if cerr := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); cerr != nil {
		return cerr
	}
	return err
}
