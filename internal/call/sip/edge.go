package sip

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"carillon"
	"carillon/internal/base/share"
)

const (
	maxMessages = 2000            // per second from one source, in the long run
	maxBurst    = 4 * time.Second // burst of a source
	// responsesFor is the time for responses after a message was sent to an address: all retransmissions arrive within
	// 32 s (RFC 3261, 17.1).
	responsesFor = 40 * time.Second
)

// edge decides which sources may send to this node: the trunks of lines, and the far sides of current calls. Others
// get no response, transaction, goroutine or connection, since ports on the internet are scanned and flooded all the
// time.
//
//	packet ──▶ known source? ──▶ rate ──▶ sipgo ──▶ transactions ──▶ handler
//	connection ──▶ known source? ──▶ connections ──▶ handshake ──▶ messages in time, at a rate ──▶ sipgo …
type edge struct {
	open         bool // all sources are allowed
	refused      *refusals
	transactions *share.Share
	connections  *share.Share
	respond      func(*sip.Response) error // responds without a transaction

	mu      sync.Mutex
	sources map[netip.Addr]*source
}

// source is an address that may send.
type source struct {
	line    bool      // trunk of a line
	company string    // of the line; "" if several companies share the trunk
	talks   int       // calls being placed or in progress
	until   time.Time // end of the time for responses to our last message
	next    time.Time // time at which its messages would all have arrived at the maximum rate
}

func newEdge(o *Options) *edge {
	return &edge{
		open: o.Lines == nil, refused: newRefusals(o.Log),
		transactions: o.Shares.Of(share.SIPTransactions), connections: o.Shares.Of(share.SIPConnections),
		sources: map[netip.Addr]*source{}, respond: func(*sip.Response) error { return nil },
	}
}

// find returns a source that may send now, or nil.
func (e *edge) find(a netip.Addr, now time.Time) *source {
	s := e.sources[a]
	if s == nil || !s.line && s.talks == 0 && !now.Before(s.until) {
		return nil
	}
	return s
}

// knows reports whether an address may send to us.
func (e *edge) knows(a netip.Addr) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open || e.find(a, time.Now()) != nil
}

// packet reports whether a packet is admitted.
func (e *edge) packet(from netip.Addr) bool {
	if e.open {
		return true
	}
	now := time.Now()
	e.mu.Lock()
	s := e.find(from, now)
	in := s != nil && s.early(now) <= 0
	if in {
		s.take(1, now)
	}
	e.mu.Unlock()
	switch {
	case s == nil:
		e.refused.add(byStranger, from, now)
	case !in:
		e.refused.add(byRate, from, now)
	}
	return in
}

// pace returns the pause in reading a connection after n of its messages.
func (e *edge) pace(from netip.Addr, n int) time.Duration {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sources[from]
	if s == nil {
		return 0
	}
	s.take(n, now)
	return s.early(now)
}

// take counts n messages.
func (s *source) take(n int, now time.Time) {
	if s.next.Before(now) {
		s.next = now
	}
	s.next = s.next.Add(time.Duration(n) * time.Second / maxMessages)
}

// early returns the time until the next message may arrive, which is 0 or less if it may arrive now.
func (s *source) early(now time.Time) time.Duration { return s.next.Sub(now.Add(maxBurst)) }

// wrote records a message to an address, which may respond.
func (e *edge) wrote(to netip.Addr) {
	if e.open {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.source(to).until = time.Now().Add(responsesFor)
}

// talk allows addresses to send until end is called, and a little longer.
func (e *edge) talk(all ...netip.Addr) (end func()) {
	if e.open {
		return func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range all {
		e.source(a).talks++
	}
	return sync.OnceFunc(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, a := range all {
			s := e.source(a)
			s.talks--
			s.until = time.Now().Add(responsesFor)
		}
	})
}

func (e *edge) source(a netip.Addr) *source {
	s := e.sources[a]
	if s == nil {
		s = &source{}
		e.sources[a] = s
	}
	return s
}

// setLines replaces the addresses of all lines' trunks, each with its company, and removes sources that may no longer
// send.
func (e *edge) setLines(companies map[netip.Addr]string) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for a, company := range companies {
		s := e.source(a)
		s.line, s.company = true, company
	}
	for a, s := range e.sources {
		if _, line := companies[a]; !line {
			s.line, s.company = false, ""
		}
		if e.find(a, now) == nil {
			delete(e.sources, a)
		}
	}
}

// holder returns the holder of a source's shares.
func (e *edge) holder(a netip.Addr) share.Holder {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := share.Holder{Client: share.Network(a.String())}
	if s := e.sources[a]; s != nil {
		h.Company = s.company
	}
	return h
}

// addressOf returns the address in host:port; invalid if there is none.
func addressOf(hostPort string) netip.Addr {
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		hostPort = h
	}
	a, _ := netip.ParseAddr(hostPort)
	return a.Unmap()
}

// guarded wraps a handler. It passes on only readable requests, and limits the pending requests of a node, a company
// and a trunk. A transaction is pending until its last possible retransmission, 32 s after its response.
func (e *edge) guarded(h sipgo.RequestHandler) sipgo.RequestHandler {
	return func(r *sip.Request, tx sip.ServerTransaction) {
		from := addressOf(r.Source())
		switch {
		case !readable(r.Headers()):
			e.refused.add(byUnreadable, from, time.Now())
			e.reject(r, sip.StatusBadRequest, "Bad Request", 0)
			return
		case e.open, r.IsAck(): // an ACK has no response, and its transaction ends immediately
			h(r, tx)
			return
		}
		holder := e.holder(from)
		if err := e.transactions.Add(holder, 1); err != nil {
			e.refused.add(byTransactions, from, time.Now())
			e.reject(r, sip.StatusServiceUnavailable, "Service Unavailable", retryAfter(err))
			return
		}
		free := sync.OnceFunc(func() { e.transactions.Sub(holder, 1) })
		if !tx.OnTerminate(func(string, error) { free() }) {
			free()
		}
		h(r, tx)
	}
}

func retryAfter(err error) int {
	if refused, ok := errors.AsType[*carillon.Error](err); ok {
		return refused.RetryAfter
	}
	return 0
}

// reject responds without a transaction: a repeated request gets the response again, and no state is kept.
func (e *edge) reject(r *sip.Request, code int, reason string, retryAfter int) {
	if r.IsAck() {
		return
	}
	res := sip.NewResponseFromRequest(r, code, reason, nil)
	if retryAfter > 0 {
		res.AppendHeader(sip.NewHeader("Retry-After", strconv.Itoa(retryAfter)))
	}
	_ = e.respond(res)
}

// unrouted responds to a request with an unsupported method.
func unrouted(r *sip.Request, tx sip.ServerTransaction) {
	res := sip.NewResponseFromRequest(r, sip.StatusMethodNotAllowed, "Method Not Allowed", nil)
	res.AppendHeader(sip.NewHeader("Allow", allowed))
	_ = tx.Respond(res)
}

// Refusals returns the number of refused messages by reason, since the start.
func (e *Engine) Refusals() map[string]int64 { return e.edge.refused.counts() }

// packets is the socket of SIP over UDP. Packets refused by the edge are dropped unread: a response would reveal the
// telephone system to scanners, and would go to the victim of a forged source address.
type packets struct {
	net.PacketConn
	edge *edge
}

// ReadFrom implements net.PacketConn.
func (p packets) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := p.PacketConn.ReadFrom(b)
		if err != nil {
			return n, from, err
		}
		if p.edge.packet(from.(*net.UDPAddr).AddrPort().Addr().Unmap()) { //nolint:forcetypeassert // address of a UDP socket
			return n, from, nil
		}
	}
}

// WriteTo implements net.PacketConn.
func (p packets) WriteTo(b []byte, to net.Addr) (int, error) {
	p.edge.wrote(to.(*net.UDPAddr).AddrPort().Addr().Unmap()) //nolint:forcetypeassert // address of a UDP socket
	return p.PacketConn.WriteTo(b, to)
}
