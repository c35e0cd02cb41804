package telephone

import (
	"cmp"
	"context"
	"errors"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
)

// referrer transfers a call by REFER while that works: by its line's setting, and until the telephone company refuses a
// REFER, fails with it, or doesn't report its result. Then second legs follow.
type referrer struct {
	p     *placed
	line  *sip.Call
	trunk sip.Trunk
	works bool
	done  bool // the telephone company has taken the call over
}

func (p *placed) referrer(c *sip.Call, number string) *referrer {
	r := &referrer{p: p, line: c}
	trunk, _, err := p.o.Trunks(p.line, &dial.Call{ID: p.call.ID, Number: number, Attempt: 1, AgentID: p.call.AgentID})
	r.trunk, r.works = trunk, err == nil && trunk.Refer
	return r
}

// reached asks the telephone company to call a number, and reports whether the number needs no second leg: it took the
// call, or refused it, or the other side no longer waits.
func (r *referrer) reached(ctx context.Context, x *waiting, conversationID, number string) bool {
	if !r.works {
		return false
	}
	leg, err := r.p.o.Incoming.Transfer(x.ctx, r.p.line, conversationID, number, calls.Refer)
	if err != nil {
		r.p.o.Log.WarnContext(ctx, "refer a call", "company", r.p.line.CompanyID, "call", r.p.call.ID, "error", err)
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The end of the call does not end the wait: the telephone company ends it when it has taken it over.
	defer context.AfterFunc(x.ctx, func() {
		if x.left() != calls.CallerLeft {
			cancel()
		}
	})()
	err = sip.Refer(ctx, r.line, r.trunk, number)
	leg.End(referredEnd(err, x.left()))
	var unreached *sip.Unreached
	r.done, r.works = err == nil, errors.As(err, &unreached) && declines(unreached.Code)
	return r.done || r.works || x.ctx.Err() != nil
}

// declines reports whether a response is that of a person, or of a telephone that is busy.
func declines(code int) bool { return code == 486 || code == 600 || code == 603 }

// referredEnd returns the end of a leg of the telephone company.
func referredEnd(err error, left calls.TransferOutcome) calls.TransferEnd {
	var refused *sip.Refused
	var unreached *sip.Unreached
	switch {
	case err == nil:
		return calls.TransferEnd{State: carillon.StateCompleted, Outcome: calls.Taken, TakenAt: time.Now()}
	case errors.As(err, &unreached):
		var e dial.Ending
		byCode(&e, unreached.Code)
		return unanswered(dial.Ending{State: cmp.Or(e.State, carillon.StateFailed), Cause: unreached.Error()}, left)
	case errors.As(err, &refused):
		return calls.TransferEnd{State: carillon.StateFailed, Outcome: calls.Failed, Cause: "REFER: " + refused.Error()}
	case errors.Is(err, sip.ErrOver):
		return calls.TransferEnd{State: carillon.StateCanceled, Outcome: calls.CallerLeft}
	case errors.Is(err, context.Canceled):
		return calls.TransferEnd{State: carillon.StateCanceled, Outcome: cmp.Or(left, calls.Canceled)}
	}
	return calls.TransferEnd{State: carillon.StateFailed, Outcome: calls.Failed, Cause: "REFER: " + sip.ErrUnreported.Error()}
}
