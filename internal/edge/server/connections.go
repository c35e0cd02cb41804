package server

import (
	"bytes"
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"carillon/internal/edge/httpio"
)

// connections bounds the connections of a listener, in all and by address. Near a bound the connection that has been idle
// longest is closed to make room. Without an idle one, another connection of the same address is refused, and beyond the
// bound of all it waits to be accepted. The zero bounds are none.
type connections struct {
	net.Listener
	most       int
	perAddress int
	trusted    []netip.Prefix // proxies, which carry the connections of many clients
	log        *slog.Logger

	mu      sync.Mutex
	changed sync.Cond
	closed  bool
	open    int
	from    map[netip.Prefix]*source
	idle    list.List // of *connection, the longest idle first
	evicted map[string]int
}

// source is an address, or an IPv6 network of 64 bits, which one client has to itself.
type source struct {
	open int
	idle list.List // of *connection
}

// connection is one accepted connection. A connection is idle while no request is under way on it.
type connection struct {
	net.Conn // a *net.TCPConn
	owner    *connections
	source   *source
	from     netip.Prefix
	fresh    atomic.Bool // nothing was written since it became idle

	// Guarded by owner.mu. idle and ofSource are its places in the lists, nil while it is busy.
	idle, ofSource *list.Element
	closed         bool
}

func limitConnections(l net.Listener, most, perAddress int, trusted []netip.Prefix, log *slog.Logger) *connections {
	c := &connections{
		Listener: l, most: most, perAddress: perAddress, trusted: trusted, log: log,
		from: map[netip.Prefix]*source{}, evicted: map[string]int{},
	}
	c.changed.L = &c.mu
	return c
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	for {
		if err := l.awaitRoom(); err != nil {
			return nil, err
		}
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if x := l.admit(c.(*net.TCPConn)); x != nil { //nolint:forcetypeassert // the listener is a TCP listener
			return x, nil
		}
		_ = c.Close()
	}
}

// awaitRoom returns when one more connection may be accepted.
func (l *connections) awaitRoom() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.most > 0 && l.open >= l.most && !l.closed && l.idle.Len() == 0 {
		l.changed.Wait()
	}
	if l.closed {
		return net.ErrClosed
	}
	return nil
}

// admit counts a connection, evicting an idle one where a bound is reached; nil when its address has too many busy ones.
func (l *connections) admit(c *net.TCPConn) *connection {
	address := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone("") //nolint:forcetypeassert // of a TCP connection
	x := &connection{Conn: c, owner: l, from: network(address)}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.from[x.from]
	if s == nil {
		s = &source{}
	}
	if l.perAddress > 0 && s.open >= l.perAddress && !l.isTrusted(address) && !l.evict(&s.idle, "address") {
		l.evicted["refused"]++
		return nil
	}
	if l.most > 0 && l.open >= l.most {
		l.evict(l.crowded(s, address), "idle")
	}
	x.source = s
	l.from[x.from] = s // the eviction may have removed it
	l.open++
	s.open++
	return x
}

// crowded is the list whose first connection gives way to one of a source: the source's own where it has more connections than
// the one whose connection has been idle longest, so that who opens many closes none of others.
func (l *connections) crowded(s *source, address netip.Addr) *list.List {
	first := l.idle.Front()
	if first == nil || s.idle.Len() == 0 || l.isTrusted(address) {
		return &l.idle
	}
	if first.Value.(*connection).source.open >= s.open { //nolint:forcetypeassert // the lists hold nothing else
		return &l.idle
	}
	return &s.idle
}

func (l *connections) isTrusted(a netip.Addr) bool {
	return slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// evict closes the connection that has been idle longest, of one list, and reports whether there was one.
func (l *connections) evict(idle *list.List, reason string) bool {
	first := idle.Front()
	if first == nil {
		return false
	}
	x := first.Value.(*connection) //nolint:forcetypeassert // the lists hold nothing else
	_ = x.Conn.Close()
	l.forget(x)
	l.evicted[reason]++
	return true
}

// forget removes a closed connection from the counts; it is called with mu held.
func (l *connections) forget(x *connection) {
	if x.closed {
		return
	}
	x.closed = true
	x.setIdle(false)
	l.open--
	if x.source.open--; x.source.open == 0 {
		delete(l.from, x.from)
	}
	l.changed.Signal()
}

// setIdle adds a connection to the lists of idle ones, or removes it; it is called with the owner's mu held.
func (x *connection) setIdle(idle bool) {
	if x.idle != nil {
		x.owner.idle.Remove(x.idle)
		x.source.idle.Remove(x.ofSource)
		x.idle, x.ofSource = nil, nil
	}
	if idle && !x.closed {
		x.idle, x.ofSource = x.owner.idle.PushBack(x), x.source.idle.PushBack(x)
	}
}

// state follows the states of connections; it is the server's ConnState.
func (l *connections) state(c net.Conn, s http.ConnState) {
	x, ok := c.(*connection)
	if !ok {
		return
	}
	idle := s == http.StateNew || s == http.StateIdle
	if idle {
		x.fresh.Store(true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x.setIdle(idle)
	if idle {
		l.changed.Signal() // it may make room
	}
}

// Close implements net.Listener.
func (l *connections) Close() error {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// Write implements net.Conn. net/http's own errors, which are plain text, get the form of ours: they are the first bytes after
// the connection was idle, written at once.
func (x *connection) Write(b []byte) (int, error) {
	if !x.fresh.Swap(false) {
		return x.Conn.Write(b)
	}
	response, id, ok := httpio.Unreadable(b)
	if !ok {
		return x.Conn.Write(b)
	}
	status, _, _ := bytes.Cut(b, []byte("\r\n"))
	x.owner.log.Info("refuse an unreadable request", "request_id", id, "status", string(bytes.TrimPrefix(status, []byte("HTTP/1.1 "))))
	if _, err := x.Conn.Write(response); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite ends what is sent: net/http does so after it refused a request whose client may still write.
func (x *connection) CloseWrite() error {
	return x.Conn.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // the listener is a TCP listener
}

// Close implements net.Conn.
func (x *connection) Close() error {
	x.owner.mu.Lock()
	x.owner.forget(x)
	x.owner.mu.Unlock()
	return x.Conn.Close()
}

// counts returns the open connections, and those closed or refused at a bound, by reason.
func (l *connections) counts() (open int, evicted map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, map[string]int{"idle": l.evicted["idle"], "address": l.evicted["address"], "refused": l.evicted["refused"]}
}

// network returns what the addresses of one client have in common: the IPv4 address, or 64 bits of the IPv6 address.
func network(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits) // the bits fit
	return p
}
