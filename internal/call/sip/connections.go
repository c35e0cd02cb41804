package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"carillon/internal/base/share"
)

const (
	handshakeTimeout = 5 * time.Second
	messageTimeout   = 10 * time.Second // from a message's first byte to its last
	writeTimeout     = 10 * time.Second
	// idleTimeout is the maximum silence of a connection that no call uses. Peers that keep one open send something
	// every two minutes (RFC 5626).
	idleTimeout = 3 * time.Minute
	// acceptPause is the wait after a connection could not be accepted, for example for lack of descriptors.
	acceptPause = 100 * time.Millisecond
)

// acceptor accepts the connections of SIP over TCP and TLS that the edge admits, and closes all others immediately.
type acceptor struct {
	net.Listener
	edge   *edge
	secure *tls.Config // nil: TCP
	// used reports whether calls use a connection for their requests. Without it the far side could not end the call.
	used func(remote string) bool

	closing sync.Once
	closed  chan struct{}
}

// accept returns an acceptor of an engine's connections.
func accept(e *Engine, l net.Listener, secure *tls.Config) *acceptor {
	used := func(remote string) bool {
		return slices.ContainsFunc(e.all(), func(c *Call) bool { return c.dialog.destination == remote })
	}
	return &acceptor{Listener: l, edge: e.edge, secure: secure, used: used, closed: make(chan struct{})}
}

// Accept implements net.Listener. It fails only after the listener is closed, because its caller stops after an error.
func (l *acceptor) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
			if s := l.admit(c); s != nil {
				return s, nil
			}
		case errors.Is(err, net.ErrClosed):
			return nil, err
		default:
			select {
			case <-time.After(acceptPause):
			case <-l.closed:
				return nil, net.ErrClosed
			}
		}
	}
}

// admit returns the stream of an admitted connection, or nil if it was closed.
func (l *acceptor) admit(c net.Conn) *stream {
	from := addressOf(c.RemoteAddr().String())
	if !l.edge.knows(from) {
		l.edge.refused.add(byStrangeCaller, from, time.Now())
		reset(c)
		return nil
	}
	var place *share.Place
	if !l.edge.open {
		var err error
		if place, err = l.edge.connections.Take(l.edge.holder(from)); err != nil {
			l.edge.refused.add(byConnections, from, time.Now())
			reset(c)
			return nil
		}
	}
	s := &stream{Conn: c, raw: c, edge: l.edge, from: from, used: l.used, closed: make(chan struct{})}
	if l.secure != nil {
		s.secure = tls.Server(c, l.secure)
		s.Conn = s.secure
	}
	s.close = sync.OnceValue(func() error {
		close(s.closed)
		if place != nil {
			place.Release()
		}
		return s.raw.Close() // also for TLS, whose closing message would wait for a peer that does not read
	})
	return s
}

// reset closes a connection without leaving state in our kernel.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// Close implements net.Listener.
func (l *acceptor) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// stream is an accepted connection. It is closed if its peer does not finish a message in time, or is silent without a
// call.
type stream struct {
	net.Conn // the plaintext side of a TLS connection
	raw      net.Conn
	secure   *tls.Conn // nil without TLS
	edge     *edge
	from     netip.Addr
	used     func(remote string) bool
	close    func() error
	closed   chan struct{}

	// Only used by the reading goroutine:
	shaken bool
	frame  frame
	begun  time.Time // start of the current message
	rest   time.Duration
}

// Read implements net.Conn.
func (s *stream) Read(b []byte) (int, error) {
	if err := s.handshake(); err != nil {
		s.edge.refused.add(byHandshake, s.from, time.Now())
		return 0, err
	}
	if err := s.wait(); err != nil {
		return 0, err
	}
	for {
		within, deadline := s.frame.within(), time.Now().Add(idleTimeout)
		if within {
			deadline = s.begun.Add(messageTimeout)
		}
		if err := s.Conn.SetReadDeadline(deadline); err != nil {
			return 0, err
		}
		n, err := s.Conn.Read(b)
		if errors.Is(err, os.ErrDeadlineExceeded) && n == 0 {
			if !within && s.used(s.RemoteAddr().String()) {
				continue
			}
			if within {
				s.edge.refused.add(byUnfinished, s.from, time.Now())
			}
			return 0, net.ErrClosed // sipgo closes the connection
		}
		ended := s.frame.read(b[:n])
		if ended > 0 || !within {
			s.begun = time.Now()
		}
		if !s.edge.open {
			s.rest = s.edge.pace(s.from, max(1, ended))
		}
		return n, err
	}
}

func (s *stream) handshake() error {
	if s.secure == nil || s.shaken {
		return nil
	}
	s.shaken = true
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	return s.secure.HandshakeContext(ctx)
}

// wait limits the rate of the connection: unread data stays at the peer.
func (s *stream) wait() error {
	if s.rest <= 0 {
		return nil
	}
	s.edge.refused.add(byRate, s.from, time.Now())
	late := time.NewTimer(s.rest)
	defer late.Stop()
	select {
	case <-late.C:
		return nil
	case <-s.closed:
		return net.ErrClosed
	}
}

// SetReadDeadline implements net.Conn; Read sets its own deadlines.
func (*stream) SetReadDeadline(time.Time) error { return nil }

// Close implements net.Conn.
func (s *stream) Close() error { return s.close() }

// maxOpened is the number of connections at which no more are opened. The panel may try many trunks in sequence, and a
// trunk may keep a connection open without need.
const maxOpened = 1024

var errCrowded = errors.New("this node has as many SIP connections as it may")

// crowded reports whether a request of a dialog would exceed maxOpened connections.
func crowded(layer *sip.TransportLayer, d *dialog) bool {
	if d.transport == "UDP" {
		return false
	}
	n := 0
	for _, transport := range []string{"tcp", "tls"} {
		n += layer.Pool(transport).Size()
	}
	if n < 2*maxOpened { // each is listed by both of its addresses
		return false
	}
	c, err := layer.GetConnection(d.transport, d.destination)
	if err != nil {
		return true
	}
	_, _ = c.TryClose() // closes only the reference
	return false
}
