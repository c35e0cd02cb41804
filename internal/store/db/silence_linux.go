package db

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// breakWhenSilent lets the kernel end a connection whose data stays unacknowledged for that long.
func breakWhenSilent(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	if e := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	}); e != nil {
		return e
	}
	return err
}
