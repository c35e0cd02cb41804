package control

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// shortName returns a path to a socket through the folder's file descriptor, because a socket path is limited to 107
// bytes. It is valid until release is called.
func shortName(dir, name string) (path string, release func(), err error) {
	f, err := os.Open(dir) //nolint:gosec // the operator chooses the folder
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join("/proc/self/fd", fmt.Sprint(f.Fd()), name)
	return path, func() { _ = f.Close() }, nil
}

// privateSocket restricts the socket to its owner before it is bound to a path.
func privateSocket(_, _ string, c syscall.RawConn) error {
	var err error
	if cerr := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); cerr != nil {
		return cerr
	}
	return err
}
