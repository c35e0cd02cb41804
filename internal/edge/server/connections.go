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

// connections limits the connections of a listener, in total and per address. At a limit, the connection that has been
// idle longest is closed to make room. If none is idle, a further connection of the same address is refused, and a
// connection beyond the total waits to be accepted. Zero means no limit.
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
	idle    list.List // list of *connection, longest idle first
	evicted map[string]int
}

// source is an address, or an IPv6 /64 network, which belongs to one client.
type source struct {
	open int
	idle list.List // list of *connection
}

// connection is one accepted connection. It is idle while it carries no request.
type connection struct {
	net.Conn // a *net.TCPConn
	owner    *connections
	source   *source
	from     netip.Prefix
	fresh    atomic.Bool // nothing was written since it became idle

	// Guarded by owner.mu. idle and ofSource are its elements in the idle lists, nil while it is busy.
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

// admit counts a connection, and evicts an idle one if a limit is reached. It returns nil if the address has too many
// busy connections.
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

// crowded returns the list whose longest idle connection is evicted for a new connection of a source. It is the
// source's own list if the source has more connections than that of the longest idle connection overall, so that a
// client with many connections does not evict those of others.
func (l *connections) crowded(s *source, address netip.Addr) *list.List {
	first := l.idle.Front()
	if first == nil || s.idle.Len() == 0 || l.isTrusted(address) {
		return &l.idle
	}
	if first.Value.(*connection).source.open >= s.open { //nolint:forcetypeassert // the lists contain no other type
		return &l.idle
	}
	return &s.idle
}

func (l *connections) isTrusted(a netip.Addr) bool {
	return slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// evict closes the connection of a list that has been idle longest, and reports whether there was one.
func (l *connections) evict(idle *list.List, reason string) bool {
	first := idle.Front()
	if first == nil {
		return false
	}
	x := first.Value.(*connection) //nolint:forcetypeassert // the lists contain no other type
	_ = x.Conn.Close()
	l.forget(x)
	l.evicted[reason]++
	return true
}

// forget removes a closed connection from the counts. The caller holds mu.
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

// setIdle adds a connection to the idle lists or removes it. The caller holds the owner's mu.
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

// state tracks the states of connections. It is the server's ConnState callback.
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
		l.changed.Signal() // it can be evicted to make room
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

// Write implements net.Conn. It converts net/http's own plain text errors to our error format. They are recognized as
// the first bytes after the connection was idle, written in one call.
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

// CloseWrite closes the sending side. net/http does this after it refused a request whose client may still be writing.
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

// counts returns the number of open connections, and the numbers closed or refused at a limit, by reason.
func (l *connections) counts() (open int, evicted map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, map[string]int{"idle": l.evicted["idle"], "address": l.evicted["address"], "refused": l.evicted["refused"]}
}

// network returns the common prefix of one client's addresses: the IPv4 address, or 64 bits of the IPv6 address.
func network(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits) // the prefix length is valid
	return p
}
