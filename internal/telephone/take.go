package telephone

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/sip"
)

const (
	takeMost = 64               // calls at once that it is not known of yet whether they are taken
	takeWait = 5 * time.Second  // to find that out
	callMost = 60 * time.Minute // that a caller talks with an agent
)

// taken are the calls to our lines on this node.
type taken struct {
	ctx    context.Context //nolint:containedctx // ends when all are to be hung up
	hangUp context.CancelFunc
	asking chan struct{}

	mu     sync.Mutex
	closed bool
	lines  map[int64]int // calls, by the line's uid
	all    sync.WaitGroup
}

func (t *taken) open() {
	t.ctx, t.hangUp = context.WithCancel(context.Background())
	t.asking, t.lines = make(chan struct{}, takeMost), map[int64]int{}
}

// refusal is why a call is not taken.
type refusal struct {
	code   int
	reason string
}

// Error implements error.
func (r *refusal) Error() string { return r.reason }

var (
	errBusy        = &refusal{486, "Busy Here"}
	errUnknown     = &refusal{404, "Not Found"}
	errForbidden   = &refusal{403, "Forbidden"}
	errUnavailable = &refusal{480, "Temporarily Unavailable"}
	errOverload    = &refusal{503, "Service Unavailable"}
)

// Take takes a call to us: the agent of the line with that number answers it.
func (t *Telephone) Take(in *sip.Incoming) {
	t.taken.mu.Lock()
	defer t.taken.mu.Unlock()
	if t.taken.closed || t.full() {
		in.Refuse(errOverload.code, errOverload.reason)
		return
	}
	select {
	case t.taken.asking <- struct{}{}:
	default:
		in.Refuse(errOverload.code, errOverload.reason)
		return
	}
	t.taken.all.Go(func() {
		p, err := t.find(in)
		<-t.taken.asking
		if err != nil {
			t.refuse(in, err)
			return
		}
		defer t.leaveLine(p.line.UID)
		if err := t.answer(in, p); err != nil {
			t.o.Log.Info("a call to a line was not answered", "company", p.line.CompanyID, "line", p.line.ID, "error", err)
		}
	})
}

func (t *Telephone) refuse(in *sip.Incoming, err error) {
	why := errOverload
	if !errors.As(err, &why) {
		t.o.Log.Warn("find who answers a call", "error", err)
	}
	in.Refuse(why.code, why.reason)
}

// find is who answers a call. It has taken its place on the line.
func (t *Telephone) find(in *sip.Incoming) (*placed, error) {
	ctx, cancel := context.WithTimeout(t.taken.ctx, takeWait)
	defer cancel()
	line, trunk, err := t.lineOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if off, err := t.o.Suspended(ctx, line.CompanyID); err != nil {
		return nil, err
	} else if off {
		return nil, errUnavailable
	}
	a, company, err := t.o.Agents.TalkingAgent(ctx, line.CompanyID, trunk.Agent)
	var known *carillon.Error
	switch {
	case errors.As(err, &known) && known.Code == carillon.NotFound:
		t.o.Log.Warn("the agent of a line does not exist", "company", line.CompanyID, "line", line.ID)
		return nil, errUnavailable
	case err != nil:
		return nil, err
	}
	if err := t.enterLine(ctx, line); err != nil {
		return nil, err
	}
	return &placed{
		Telephone: t, line: line, agent: a, company: company, progress: unrecorded{}, taken: true,
		call: &dial.Call{ID: in.CallID, Number: numberOf(in.From), AgentID: trunk.Agent, Contact: map[string]string{}},
	}, nil
}

// lineOf is the line that is called: one whose trunk the call comes from, so that nobody else reaches its agent.
func (t *Telephone) lineOf(ctx context.Context, in *sip.Incoming) (*carillon.Sender, sip.Trunk, error) {
	number := numberOf(in.To)
	if number == "" {
		return nil, sip.Trunk{}, errUnknown
	}
	lines, err := t.o.Lines(ctx, number)
	if err != nil {
		return nil, sip.Trunk{}, err
	}
	why := errUnknown
	for _, line := range lines {
		if line.Provider != "sip" {
			continue
		}
		trunk, err := sip.TrunkOf(line.Settings)
		if err != nil || trunk.Agent == "" {
			continue
		}
		if comesFrom(ctx, in.Source, trunk.Host) {
			return line, trunk, nil
		}
		why = errForbidden
	}
	return nil, sip.Trunk{}, why
}

// comesFrom reports whether an address is one of a host.
func comesFrom(ctx context.Context, source, host string) bool {
	from, err := netip.ParseAddrPort(source)
	if err != nil {
		return false
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", strings.Trim(host, "[]"))
	if err != nil {
		return false
	}
	for _, a := range all {
		if a.Unmap() == from.Addr().Unmap() {
			return true
		}
	}
	return false
}

// enterLine takes a place on a line: calls that are placed count on all nodes, those that are taken on this one.
func (t *Telephone) enterLine(ctx context.Context, line *carillon.Sender) error {
	n := 0
	if line.MaxConcurrent > 0 {
		var err error
		if n, err = t.o.UnderWay(ctx, line.UID); err != nil {
			return err
		}
	}
	t.taken.mu.Lock()
	defer t.taken.mu.Unlock()
	if line.MaxConcurrent > 0 && n+t.taken.lines[line.UID] >= line.MaxConcurrent {
		return errBusy
	}
	t.taken.lines[line.UID]++
	return nil
}

func (t *Telephone) leaveLine(uid int64) {
	t.taken.mu.Lock()
	defer t.taken.mu.Unlock()
	if t.taken.lines[uid]--; t.taken.lines[uid] == 0 {
		delete(t.taken.lines, uid)
	}
}

// answer answers a call and has the agent talk until it ends.
func (t *Telephone) answer(in *sip.Incoming, p *placed) error {
	ctx, cancel := context.WithTimeout(t.taken.ctx, callMost)
	defer cancel()
	_ = in.Progress(180, "Ringing") // a caller who does not know it knows the answer
	select {
	case <-in.Gone():
		return errors.New("the caller gave up")
	default:
	}
	c, err := in.Answer(ctx, nil)
	if err != nil {
		return err
	}
	e := p.talk(ctx, c)
	if e.State == carillon.StateFailed {
		return errors.New(e.Detail)
	}
	return nil
}

// numberOf is a number as lines and contacts have it; "": it is none.
func numberOf(user string) string {
	user = strings.TrimPrefix(user, "+")
	if user == "" || len(user) > 20 || strings.ContainsFunc(user, func(r rune) bool { return r < '0' || r > '9' }) {
		return ""
	}
	return user
}

// visitor is who talks: a caller who hides the number is somebody else each time.
func (p *placed) visitor() string {
	if p.call.Number == "" {
		return "call:" + carillon.NewID(time.Now())
	}
	return "tel:" + p.call.Number
}

// unrecorded is the progress of a call that has no notification.
type unrecorded struct{}

func (unrecorded) Ringing(time.Time)          {}
func (unrecorded) Answered(time.Time, string) {}
func (unrecorded) Recorded(string)            {}

// Taken counts the calls to our lines that are under way on this node.
func (t *Telephone) Taken() (n int) {
	t.taken.mu.Lock()
	defer t.taken.mu.Unlock()
	for _, calls := range t.taken.lines {
		n += calls
	}
	return n
}

// full reports whether this node has as many calls under way as it may. It is called with taken.mu locked.
func (t *Telephone) full() bool {
	if t.o.Most == 0 {
		return false
	}
	n := t.o.Placed() + len(t.taken.asking)
	for _, calls := range t.taken.lines {
		n += calls
	}
	return n >= t.o.Most
}

// Run lets calls to our lines go on until ctx ends; then it takes no more, gives those under way Options.Drain and hangs up.
func (t *Telephone) Run(ctx context.Context) error {
	<-ctx.Done()
	t.taken.mu.Lock()
	t.taken.closed = true
	t.taken.mu.Unlock()
	late := time.AfterFunc(t.o.Drain, t.taken.hangUp)
	defer late.Stop()
	t.taken.all.Wait()
	t.taken.hangUp()
	return nil
}
