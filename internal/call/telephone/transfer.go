package telephone

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/call"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
)

const (
	transferRing = 30 * time.Second // limit of ringing on a second leg
	maxTransfers = 10               // of one call, each to several numbers
	frameSamples = 160              // 20 ms
	slackFrames  = 3
)

// transfer calls the agent's numbers in turn over the call's line, until somebody takes the call. Meanwhile the caller
// waits with music. Then both sides are connected until either hangs up.
//
//	queue ─▶ a number rings ─▶ whisper ─▶ key 1 ─▶ connected ─▶ the colleague hangs up ─▶ agent
//	  │           │               └ other: the next number
//	  │           └ busy, unanswered: the next number; after the last one ─▶ agent
//	  └ key # ─▶ agent
//
// A line that refers has the telephone company call the numbers first (referrer).
//
// It returns the agent's next words, or "" if the call is over.
func (p *placed) transfer(ctx context.Context, c *sip.Call, conversationID string) (resume string) {
	w := wordsOf(p.agent.Language)
	if p.transfers++; p.transfers > maxTransfers {
		return w.unreached
	}
	x := p.waits(ctx, c)
	leave, free := p.enter(x, conversationID)
	defer leave()
	var far *sip.Call
	var leg *call.Leg
	if free {
		far, leg = p.consultAll(ctx, x, conversationID)
	}
	switch left := x.end(); {
	case p.referred:
		c.HangUp(context.WithoutCancel(ctx))
		return ""
	case left == calls.CallerLeft || ctx.Err() != nil:
		p.release(ctx, far, leg, cmp.Or(left, calls.Canceled))
		return ""
	case left == calls.CallerReturned:
		p.release(ctx, far, leg, left)
		return w.returned
	case far == nil:
		return w.unreached
	}
	ctx, cancel := context.WithTimeout(ctx, maxCall) // two answering machines never hang up
	defer cancel()
	at := time.Now()
	var recording sync.WaitGroup // sound does not wait for the database
	recording.Go(func() { leg.Taken(at) })
	connect(ctx, c, far)
	far.HangUp(context.WithoutCancel(ctx))
	recording.Wait()
	leg.End(calls.TransferEnd{State: carillon.StateCompleted, Outcome: calls.Taken, Cause: far.Cause().Text, TakenAt: at})
	if ctx.Err() != nil || c.Cause().By != "" {
		return ""
	}
	return w.returned
}

// release ends a second leg that was taken when the caller was no longer waiting.
func (p *placed) release(ctx context.Context, far *sip.Call, leg *call.Leg, outcome calls.TransferOutcome) {
	if far == nil {
		return
	}
	far.HangUp(context.WithoutCancel(ctx))
	leg.End(calls.TransferEnd{State: carillon.StateCanceled, Outcome: outcome, Cause: far.Cause().Text})
}

// dialable returns the agent's numbers to which a call may be transferred.
func (p *placed) dialable(ctx context.Context) []string {
	return slices.DeleteFunc(slices.Clone(p.agent.Transfer.Dialed()), func(number string) bool {
		why := ""
		switch {
		case identity.Number(p.call.Number).Is(number), p.leadsBack(ctx, number):
			why = "a transfer would come back to its own call"
		case p.o.Denied.Has(number):
			why = "a transfer would call a number that is never called"
		case !p.permitted(ctx, number):
			why = "a transfer would call a number that does not allow calls over WhatsApp"
		default:
			return false
		}
		p.o.Log.WarnContext(ctx, why, "company", p.line.CompanyID, "call", p.call.ID, "agent", p.call.AgentID)
		return true
	})
}

// leadsBack reports whether a number is one of our lines, whose agent might transfer the call again.
func (p *placed) leadsBack(ctx context.Context, number string) bool {
	lines, err := p.o.Lines(ctx, number)
	return err != nil || len(lines) > 0 || identity.Number(p.line.Number).Is(number)
}

// consultAll calls the numbers in turn, and returns the second leg of the person who takes the call; nil if nobody does.
// p.referred is set instead if the telephone company has taken the call over.
func (p *placed) consultAll(ctx context.Context, x *waiting, conversationID string) (*sip.Call, *call.Leg) {
	text := p.whispered()
	numbers := p.dialable(x.ctx)
	if len(numbers) == 0 {
		return nil, nil
	}
	refer := p.referrer(x.line, numbers[0])
	for _, number := range numbers {
		if x.ctx.Err() != nil {
			break
		}
		if refer.reached(ctx, x, conversationID, number) {
			if p.referred = refer.done; p.referred {
				return nil, nil
			}
			continue
		}
		leg, err := p.o.Incoming.Transfer(x.ctx, p.line, conversationID, number, calls.Bridge)
		if err != nil {
			p.o.Log.WarnContext(x.ctx, "transfer a call", "company", p.line.CompanyID, "call", p.call.ID, "error", err)
			if errors.Is(err, call.ErrFull) {
				break
			}
			continue
		}
		if far := p.consult(x, leg, number, text); far != nil {
			return far, leg
		}
	}
	return nil, nil
}

// consult calls a number and asks the person who answers to take the call. Otherwise it ends the leg and returns nil.
func (p *placed) consult(x *waiting, leg *call.Leg, number, text string) *sip.Call {
	far, e := p.second(x.ctx, number)
	if far == nil {
		leg.End(unanswered(e, x.left()))
		return nil
	}
	leg.Answered(time.Now())
	outcome := p.whisper(x.ctx, far, text)
	if outcome == calls.Taken {
		return far
	}
	state := carillon.StateNoAnswer
	switch {
	case x.ctx.Err() != nil:
		state, outcome = carillon.StateCanceled, cmp.Or(x.left(), calls.Canceled)
	case outcome == calls.Declined:
		state = carillon.StateRejected
	}
	far.HangUp(context.WithoutCancel(x.ctx))
	leg.End(calls.TransferEnd{State: state, Outcome: outcome, Cause: far.Cause().Text})
	return nil
}

// unanswered returns the end of a second leg that was not answered; left is that of the caller.
func unanswered(e dial.Ending, left calls.TransferOutcome) calls.TransferEnd {
	outcome := calls.Failed
	switch e.State {
	case carillon.StateBusy:
		outcome = calls.Busy
	case carillon.StateNoAnswer:
		outcome = calls.Unanswered
	case carillon.StateRejected:
		outcome = calls.Declined
	case carillon.StateCanceled:
		outcome = cmp.Or(left, calls.Canceled)
	default:
	}
	return calls.TransferEnd{State: e.State, Outcome: outcome, Cause: e.Cause}
}

// second dials a second leg. The leg is nil if it was not answered; the ending has the reason.
func (p *placed) second(ctx context.Context, number string) (*sip.Call, dial.Ending) {
	trunk, header, err := p.o.Trunks(p.line, &dial.Call{ID: p.call.ID, Number: number, Attempt: 1, AgentID: p.call.AgentID})
	if err != nil {
		return nil, dial.Ending{State: carillon.StateFailed}
	}
	far, err := p.o.Engine.Dial(ctx, sip.Dial{
		Trunk: trunk, To: number, From: cmp.Or(trunk.CallerID, p.line.Number), Name: p.company, Header: header,
		Ring: min(cmp.Or(p.line.RingTimeout, transferRing), transferRing),
	})
	if err != nil {
		return nil, endingOf(ctx, err)
	}
	return far, dial.Ending{}
}

// connect passes sound and keys between two calls until either ends.
func connect(ctx context.Context, one, other *sip.Call) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	passed := make(chan struct{}, 2)
	pass := func(from, to *sip.Call) {
		defer func() { passed <- struct{}{} }()
		_ = to.Write(make([]int16, slackFrames*frameSamples)) // the two sides send frames at different times
		for {
			pcm, err := from.Read(ctx)
			if err != nil || to.Write(pcm) != nil {
				return
			}
			select {
			case d := <-from.Digits():
				to.SendDigits(string(d))
			default:
			}
		}
	}
	go pass(one, other)
	go pass(other, one)
	select {
	case <-one.Done():
	case <-other.Done():
	case <-ctx.Done():
	}
	cancel()
	<-passed
	<-passed
}
