package sandbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"carillon"
)

// letter is a message or call whose receipts are still owed.
type letter struct {
	plan      *plan
	next      int // of the plan's steps
	ref       carillon.Ref
	senderUID int64
	channel   carillon.Channel
	taken     time.Time
}

func (l *letter) due() time.Time { return l.taken.Add(l.plan.steps[l.next].after) }

func (l *letter) receipt() carillon.Receipt {
	s := l.plan.steps[l.next]
	return carillon.Receipt{
		Channel: l.channel, Ref: l.ref, SenderUID: l.senderUID, ProviderID: providerID(l.ref), State: s.state, At: l.due(), Reason: s.reason,
	}
}

// providerID is the sandbox's name for an attempt: the same in every run.
func providerID(r carillon.Ref) string { return "sandbox." + r.String() }

// Send takes a message, or on a voice sender a call, and decides by the number's suffix what becomes of it. It takes
// microseconds, but where the number asks for slowness; then the end of ctx leaves the outcome unknown.
func (c *Channel) Send(ctx context.Context, s *carillon.Sender, m *carillon.Outgoing) carillon.Outcome {
	p := c.plans[s.Channel].plan(m.Number)
	if p.slow && !wait(ctx, c.o.Delays.Slow) {
		return carillon.Outcome{Verdict: carillon.Unknown, Detail: "sandbox: left before the answer"}
	}
	switch {
	case m.Ref.Attempt <= p.faults && p.limited:
		return carillon.Outcome{Verdict: carillon.RetryLater, Detail: "sandbox: rate limited, by the number", RetryAfter: c.o.Delays.RetryAfter}
	case m.Ref.Attempt <= p.faults:
		return carillon.Outcome{Verdict: carillon.RetryLater, Detail: "sandbox: passing fault, by the number"}
	case p.verdict == carillon.Refused:
		return carillon.Outcome{Verdict: carillon.Refused, Reason: carillon.ReasonUndeliverable, Detail: "sandbox: refused, by the number"}
	}
	if !c.owe(p, s, m) {
		return carillon.Outcome{Verdict: carillon.RetryLater, Detail: "sandbox: too many receipts are owed", RetryAfter: time.Second}
	}
	if p.verdict == carillon.Unknown {
		return carillon.Outcome{Verdict: carillon.Unknown, Detail: "sandbox: no answer, by the number"}
	}
	return carillon.Outcome{Verdict: carillon.Sent, ProviderID: providerID(m.Ref)}
}

// owe notes the receipts to come; false: there is no room, and the message is not taken.
func (c *Channel) owe(p *plan, s *carillon.Sender, m *carillon.Outgoing) bool {
	if c.o.Receipts == nil || len(p.steps) == 0 {
		return true
	}
	l := letter{plan: p, ref: m.Ref, senderUID: s.UID, channel: s.Channel, taken: time.Now()}
	return c.letters.add(l.due(), l)
}

// tell hands on the receipts that are due, sender by sender: one sender's fault is not another's. Letters that owe more
// come again.
func (c *Channel) tell(ctx context.Context, due []*item[letter]) (again, failed []*item[letter], err error) {
	slices.SortStableFunc(due, func(a, b *item[letter]) int { return cmp.Compare(a.v.senderUID, b.v.senderUID) })
	var errs []error
	for len(due) > 0 {
		n := 1
		for n < len(due) && due[n].v.senderUID == due[0].v.senderUID {
			n++
		}
		if err := c.tellOne(ctx, due[:n]); err != nil {
			failed, errs = append(failed, due[:n]...), append(errs, err)
		} else {
			again = append(again, advance(due[:n])...)
		}
		due = due[n:]
	}
	return again, failed, errors.Join(errs...)
}

// tellOne hands on receipts of one sender.
func (c *Channel) tellOne(ctx context.Context, due []*item[letter]) error {
	receipts := make([]carillon.Receipt, len(due))
	for i := range receipts {
		receipts[i] = due[i].v.receipt()
	}
	return c.o.Receipts(ctx, receipts)
}

// advance gives the letters that owe more, due for their next receipt.
func advance(told []*item[letter]) []*item[letter] {
	var more []*item[letter]
	for _, it := range told {
		if it.v.next++; it.v.next < len(it.v.plan.steps) {
			it.due = it.v.due()
			more = append(more, it)
		}
	}
	return more
}
