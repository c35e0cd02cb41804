package telephone

import (
	"context"
	"errors"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/call"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
)

const (
	maxUntaken = 64               // maximum concurrent calls for which no line was found yet
	takeWait   = 5 * time.Second  // timeout of finding the line
	maxCall    = 60 * time.Minute // of a conversation with the agent, or with the number after a transfer
)

// taken holds the calls to our lines on this node.
type taken struct {
	ctx    context.Context //nolint:containedctx // canceled when all calls must be hung up
	hangUp context.CancelFunc
	asking chan struct{}

	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup
}

func (t *taken) open() {
	t.ctx, t.hangUp = context.WithCancel(context.Background())
	t.asking = make(chan struct{}, maxUntaken)
}

// refusal is the reason for not accepting a call.
type refusal struct {
	code   int
	reason string
}

// Error implements error.
func (r *refusal) Error() string { return r.reason }

var (
	errBusy        = &refusal{486, "Busy Here"}
	errUnknown     = &refusal{404, "Not Found"} // a line without an agent, only reported to its own trunk
	errForbidden   = &refusal{403, "Forbidden"}
	errUnavailable = &refusal{480, "Temporarily Unavailable"}
	errOverload    = &refusal{503, "Service Unavailable"}
)

// Take handles a call to us. The agent of the called line answers it.
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
		p.entry.End(t.answer(in, p))
	})
}

func (t *Telephone) refuse(in *sip.Incoming, err error) {
	why := errOverload
	if !errors.As(err, &why) {
		t.o.Log.Warn("find who answers a call", "error", err)
	}
	if why == errForbidden {
		in.Forbid()
		return
	}
	in.Refuse(why.code, why.reason)
}

// find returns the agent for a call, and takes the call's place on the line.
func (t *Telephone) find(in *sip.Incoming) (*placed, error) {
	ctx, cancel := context.WithTimeout(t.taken.ctx, takeWait)
	defer cancel()
	line, trunk, err := t.lineOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := t.demanded(in, line, trunk); err != nil {
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
	in.Confined = trunk.Public
	number := callerOf(in)
	entry, err := t.o.Incoming.Take(ctx, t.taken.ctx, line, trunk.Agent, number)
	switch {
	case errors.Is(err, call.ErrFull):
		return nil, errBusy
	case err != nil:
		return nil, err
	}
	p := &placed{
		Telephone: t, line: line, agent: a, company: company, progress: entry, entry: entry,
		call: &dial.Call{ID: entry.ID, Number: number, AgentID: trunk.Agent, Contact: map[string]string{}},
	}
	if err := t.greet(ctx, in, p, trunk); err != nil {
		t.o.Log.Warn("read a call over WhatsApp", "company", line.CompanyID, "call", entry.ID, "error", err)
	}
	return p, nil
}

// lineOf returns the called line, which must belong to the calling trunk, so that no other source reaches its agent.
// All other numbers get the same refusal, so that a trunk does not learn which ones are lines.
func (t *Telephone) lineOf(ctx context.Context, in *sip.Incoming) (*carillon.Sender, sip.Trunk, error) {
	number := sip.Number(in.To)
	if number == "" {
		return nil, sip.Trunk{}, errForbidden
	}
	lines, err := t.o.Lines(ctx, number)
	if err != nil {
		return nil, sip.Trunk{}, err
	}
	owner, err := t.o.Owner(ctx, number)
	if err != nil {
		return nil, sip.Trunk{}, err
	}
	why := errForbidden
	var all []claim
	for _, line := range lines {
		if line.Provider != "sip" || owner != "" && line.CompanyID != owner {
			continue
		}
		trunk, err := sip.TrunkOf(line.Settings)
		if err != nil {
			continue
		}
		switch {
		case !in.ComesFrom(ctx, line.CompanyID, trunk):
		case trunk.Agent == "":
			why = errUnknown
		default:
			all = append(all, claim{line, trunk})
		}
	}
	if len(all) == 0 {
		return nil, sip.Trunk{}, why
	}
	chosen, ok := answering(all)
	if !ok {
		t.disputed(all)
		return nil, sip.Trunk{}, errUnavailable
	}
	return chosen.line, chosen.trunk, nil
}

// answer answers a call and lets the agent talk until it ends.
func (t *Telephone) answer(in *sip.Incoming, p *placed) dial.Ending {
	ctx, cancel := context.WithTimeout(p.entry.Context(), maxCall)
	defer cancel()
	_ = in.Progress(180, "Ringing") // a caller that misses it still gets the answer
	select {
	case <-in.Gone():
		return gaveUp()
	case <-ctx.Done():
		in.Refuse(errUnavailable.code, errUnavailable.reason)
		return dial.Ending{State: carillon.StateCanceled, EndedBy: "system", At: time.Now()}
	default:
	}
	c, err := in.Answer(ctx, p.tap.frame)
	select {
	case <-in.Gone():
		if err != nil {
			return gaveUp()
		}
	default:
	}
	if err != nil {
		e := failed(carillon.ReasonProviderRefused, "", err.Error())
		if errors.Is(err, sip.ErrSound) {
			e.Cause = "488 Not Acceptable Here"
		}
		return e
	}
	return p.talk(ctx, c)
}

// gaveUp returns the end of a call whose caller hung up before the answer.
func gaveUp() dial.Ending {
	return dial.Ending{State: carillon.StateCanceled, Cause: "487 Request Terminated", EndedBy: "caller", At: time.Now()}
}

// callerOf returns the number of the caller, or "" if it is hidden.
func callerOf(in *sip.Incoming) string {
	for _, user := range in.Callers() {
		if number := sip.Number(user); number != "" {
			return number
		}
	}
	return ""
}

// known returns the identity of the other side. A caller's number is unproved.
func (p *placed) known() []identity.Identity {
	switch {
	case p.over.sender != nil && p.call.Number+p.over.userID != "":
		return p.o.WhatsApp.Known(p.over.sender, p.call.Number, p.over.userID)
	case p.call.Number == "":
		return nil
	case p.incoming():
		return []identity.Identity{{Kind: identity.Caller, Key: identity.Number(p.call.Number)}}
	}
	return []identity.Identity{{Kind: identity.Line, Key: identity.Number(p.call.Number)}}
}

// hidden returns the identity of a caller without a number: a new one each time.
func hidden() string { return "call:" + carillon.NewID(time.Now()) }

// full reports whether this node has its maximum number of calls.
func (t *Telephone) full() bool {
	return t.o.Most > 0 && t.o.Placed()+t.o.Incoming.UnderWay()+len(t.taken.asking) >= t.o.Most
}

// Run accepts calls until ctx ends. Then it refuses new ones, waits for the current ones for Options.Drain, and hangs
// up.
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
