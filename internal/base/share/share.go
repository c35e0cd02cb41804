// Package share bounds the resources in use on a node, so that nobody can take all of them: in total, by a company and
// its visitors, by a client's network, and by a session. Resources is the table of bounded resources;
// docs/reference/limits.md shows it.
package share

import (
	"context"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"carillon"
)

// Level is a level at which holders are bounded.
type Level int

// The levels, from widest to narrowest.
const (
	Node Level = iota
	Company
	Visitors
	Client
	Session
	levels
)

var levelNames = [levels]string{"node", "company", "visitors", "client", "session"} //nolint:gochecknoglobals // read-only

// String returns the level's name in metrics and errors.
func (l Level) String() string { return levelNames[l] }

// Holder identifies the holder of a place. An empty field has no bound at its level.
type Holder struct {
	Company string
	Visitor bool   // a visitor of the company; anyone can be one
	Client  string // the network of an address, see Network
	Session string // a visitor, an account, an access key
}

// Network returns the network that the addresses of one client share: an IPv4 address, or the /64 of an IPv6 address.
func Network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if a = a.Unmap(); a.Is4() {
		return a.String()
	}
	return netip.PrefixFrom(a.WithZone(""), 64).Masked().String()
}

// Share is one resource of a node. Create it with New or Set.Of.
type Share struct {
	resource Resource

	mu      sync.Mutex
	used    int64
	held    [levels]map[string]int64 // by holder; unused for Node
	waiting []*waiter                // in order of arrival
	refused [levels]int64
	oldest  map[string][]*Place // by session, for resources that Replaces
}

type waiter struct {
	holder Holder
	n      int64
	ready  chan struct{} // closed when it gets its place
	given  bool
}

// New returns an empty share.
func New(r Resource) *Share {
	s := &Share{resource: r, oldest: map[string][]*Place{}}
	for level := Company; level < levels; level++ {
		s.held[level] = map[string]int64{}
	}
	return s
}

// Place is a held part of a resource. The zero value holds nothing.
type Place struct {
	share  *Share
	holder Holder
	n      int64
	yield  chan struct{}
	freed  bool // guarded by share.mu
}

// Release returns a place. A second call does nothing.
func (p *Place) Release() {
	if p.share == nil {
		return
	}
	p.share.mu.Lock()
	defer p.share.mu.Unlock()
	p.free()
}

// Yield returns a channel that is closed when the holder must end, because its session is at its bound and took
// another place.
func (p *Place) Yield() <-chan struct{} { return p.yield }

// free is Release for callers that hold the share's mu.
func (p *Place) free() {
	if p.freed {
		return
	}
	p.freed = true
	if p.share.resource.Replaces {
		p.share.forget(p)
	}
	p.share.sub(p.holder, p.n)
}

func (s *Share) forget(p *Place) {
	all := s.oldest[p.holder.Session]
	for i, x := range all {
		if x == p {
			all = append(all[:i:i], all[i+1:]...)
			break
		}
	}
	if len(all) == 0 {
		delete(s.oldest, p.holder.Session)
		return
	}
	s.oldest[p.holder.Session] = all
}

// Take takes a place without waiting. Errors: rate_limit_exceeded if the company, its visitors, the client or the
// session is at its bound; service_unavailable if the node is.
func (s *Share) Take(h Holder) (*Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if level, full := s.full(h, 1); full && !s.replace(h, level) {
		s.refused[level]++
		return nil, s.refusal(level)
	}
	return s.place(h), nil
}

// Try is Take for work that waits for a place: a failure does not count as a refusal.
func (s *Share) Try(h Holder) (*Place, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, full := s.full(h, 1); full {
		return nil, false
	}
	return s.place(h), true
}

func (s *Share) place(h Holder) *Place {
	s.change(h, 1)
	p := &Place{share: s, holder: h, n: 1, yield: make(chan struct{})}
	if s.resource.Replaces && h.Session != "" {
		s.oldest[h.Session] = append(s.oldest[h.Session], p)
	}
	return p
}

// replace ends the oldest place of a session in favor of a new one. It does so only if the session's bound was
// exceeded and no other bound would be: an old stream must not end for a new one that is refused anyway.
func (s *Share) replace(h Holder, met Level) bool {
	if !s.resource.Replaces || met != Session {
		return false
	}
	p := s.oldest[h.Session][0]
	s.change(p.holder, -p.n)
	_, full := s.full(h, 1)
	s.change(p.holder, p.n)
	if full {
		return false
	}
	close(p.yield)
	p.free()
	return true
}

// Wait takes a place as soon as one is free. Among the waiting holders, the one whose company holds least goes first.
// It returns ctx's error.
func (s *Share) Wait(ctx context.Context, h Holder) (*Place, error) {
	s.mu.Lock()
	w := &waiter{holder: h, n: 1, ready: make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.serve()
	s.mu.Unlock()
	select {
	case <-w.ready:
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.given {
			s.sub(h, w.n)
			return nil, ctx.Err()
		}
		s.leave(w)
		return nil, ctx.Err()
	}
	return &Place{share: s, holder: h, n: w.n, yield: make(chan struct{})}, nil
}

// serve gives free places to waiting holders.
func (s *Share) serve() {
	for {
		var next *waiter
		for _, w := range s.waiting {
			if _, full := s.full(w.holder, w.n); full {
				continue
			}
			if next == nil || s.held[Company][w.holder.Company] < s.held[Company][next.holder.Company] {
				next = w
			}
		}
		if next == nil {
			return
		}
		s.leave(next)
		s.change(next.holder, next.n)
		next.given = true
		close(next.ready)
	}
}

func (s *Share) leave(w *waiter) {
	for i, x := range s.waiting {
		if x == w {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return
		}
	}
}

// Add takes n units for a holder until Sub returns them. Errors: those of Take.
func (s *Share) Add(h Holder, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(h, n)
}

// Sub returns units that Add took.
func (s *Share) Sub(h Holder, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sub(h, n)
}

func (s *Share) add(h Holder, n int64) error {
	level, full := s.full(h, n)
	if full {
		s.refused[level]++
		return s.refusal(level)
	}
	s.change(h, n)
	return nil
}

func (s *Share) sub(h Holder, n int64) {
	s.change(h, -n)
	s.serve()
}

// full reports whether n more units would exceed a bound of the holder, and returns the narrowest such level.
func (s *Share) full(h Holder, n int64) (Level, bool) {
	for level := Session; level > Node; level-- {
		most, name := s.resource.bound(level), h.name(level)
		if most > 0 && name != "" && s.held[level][name]+n > most {
			return level, true
		}
	}
	return Node, s.resource.Node > 0 && s.used+n > s.resource.Node
}

func (s *Share) change(h Holder, n int64) {
	s.used += n
	for level := Company; level < levels; level++ {
		name := h.name(level)
		if name == "" {
			continue
		}
		if s.held[level][name] += n; s.held[level][name] == 0 {
			delete(s.held[level], name)
		}
	}
}

func (h Holder) name(level Level) string {
	switch level {
	case Company:
		return h.Company
	case Visitors:
		if h.Visitor {
			return h.Company
		}
	case Client:
		return h.Client
	case Session:
		return h.Session
	default: // Node has one name
	}
	return ""
}

var holders = [levels]string{ //nolint:gochecknoglobals // read-only
	Company: "A company holds", Visitors: "The visitors of a company hold", Client: "A client holds", Session: "A session holds",
}

// retryAfter is the delay, in seconds, after which a refused client should retry.
const retryAfter = 5

// refusal returns the response to a holder at its bound.
func (s *Share) refusal(level Level) *carillon.Error {
	r := s.resource
	most := strconv.FormatInt(r.bound(level), 10)
	if level == Node {
		return &carillon.Error{
			Code: carillon.ServiceUnavailable, Message: "The service is overloaded", RetryAfter: retryAfter,
			Details: carillon.Details{
				{Key: "reason", Value: "This node holds at most " + most + " " + r.Holds + "; retry later"},
				{Key: "bound", Value: level.String()},
			},
		}
	}
	return &carillon.Error{Code: carillon.RateLimitExceeded, Message: "Too many at once", RetryAfter: retryAfter, Details: carillon.Details{
		{Key: "limit", Value: int(r.bound(level))},
		{Key: "window", Value: strconv.Itoa(retryAfter) + "s"},
		{Key: "reset_time", Value: carillon.FormatTime(time.Now().Add(retryAfter * time.Second))},
		{Key: "reason", Value: holders[level] + " at most " + most + " " + r.Holds + "; retry when one has ended"},
		{Key: "bound", Value: level.String()},
	}}
}

// Counts is a snapshot of a share.
type Counts struct {
	Resource Resource
	Used     int64
	Waiting  int
	Refused  [levels]int64 // by level, since the start
}

// Counts returns a snapshot of the share.
func (s *Share) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Counts{s.resource, s.used, len(s.waiting), s.refused}
}
