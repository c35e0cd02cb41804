package db

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

func TestConnectionsBreakWhenTheServerFallsSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := dialer().DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	option := func(level, name, want int) {
		t.Helper()
		if e := raw.Control(func(fd uintptr) {
			if got, err := unix.GetsockoptInt(int(fd), level, name); got != want || err != nil {
				t.Errorf("%d, want %d; %v", got, want, err)
			}
		}); e != nil {
			t.Fatal(e)
		}
	}
	option(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 5000)
	option(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	option(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 5)
}
