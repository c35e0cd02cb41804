//go:build unix

package whatsapp

import (
	"crypto/tls"
	"net"
	"syscall"
)

// watch readies the question whether the other side has closed: a read of the socket that does not wait. It costs less
// than a microsecond, and an answer that never comes costs a message its certainty.
func (l *line) watch() {
	c := l.Conn
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	s, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	var one [1]byte
	l.raw, l.probe = raw, func(fd uintptr) bool {
		n, err := syscall.Read(int(fd), one[:])
		l.quiet = n < 0 && (err == syscall.EAGAIN || err == syscall.EWOULDBLOCK)
		return true
	}
}

// alive tells whether an idle connection is open and silent: what comes without having been asked for is not trusted.
func (l *line) alive() bool {
	if l.raw == nil {
		return true
	}
	l.quiet = false
	return l.raw.Read(l.probe) == nil && l.quiet
}
