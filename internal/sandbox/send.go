package sandbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"carillon"
	"carillon/internal/provider"
)

// delivery is a message with receipts to come.
type delivery struct {
	plan      *plan
	next      int // of the plan's steps
	ref       provider.Ref
	senderUID int64
	accepted  time.Time
}

func (d *delivery) due() time.Time { return d.accepted.Add(d.plan.steps[d.next].after) }

func (d *delivery) receipt() provider.Receipt {
	s := d.plan.steps[d.next]
	return provider.Receipt{
		Ref: d.ref, SenderUID: d.senderUID, ProviderID: providerID(d.ref), State: s.state, At: d.due(), Reason: s.reason,
	}
}

// providerID is the sandbox's name for an attempt: the same in every run.
func providerID(r provider.Ref) string { return "sandbox." + r.String() }

// Send accepts a message, and decides by the number's suffix what happens to it. It takes microseconds, except for a number
// that makes it slow; then the end of ctx leaves the outcome unknown.
func (c *Channel) Send(ctx context.Context, s *carillon.Sender, m *provider.Outgoing) provider.Outcome {
	p := c.plans.plan(m.Number)
	if p.slow && !wait(ctx, c.o.Delays.Slow) {
		return provider.Outcome{Verdict: provider.Unknown, Detail: "sandbox: canceled before the response"}
	}
	switch {
	case m.Ref.Attempt <= p.faults && p.limited:
		return provider.Outcome{Verdict: provider.RetryLater, Detail: "sandbox: rate limited, by the number", RetryAfter: c.o.Delays.RetryAfter}
	case m.Ref.Attempt <= p.faults:
		return provider.Outcome{Verdict: provider.RetryLater, Detail: "sandbox: temporary fault, by the number"}
	case p.verdict == provider.Refused:
		return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable, Detail: "sandbox: refused, by the number"}
	}
	if !c.enqueue(p, s, m) {
		return provider.Outcome{Verdict: provider.RetryLater, Detail: "sandbox: too many receipts are pending", RetryAfter: time.Second}
	}
	if p.verdict == provider.Unknown {
		return provider.Outcome{Verdict: provider.Unknown, Detail: "sandbox: no response, by the number"}
	}
	return provider.Outcome{Verdict: provider.Sent, ProviderID: providerID(m.Ref)}
}

// enqueue schedules the receipts; false: there is no room, and the message is not accepted.
func (c *Channel) enqueue(p *plan, s *carillon.Sender, m *provider.Outgoing) bool {
	if c.o.Receipts == nil || len(p.steps) == 0 {
		return true
	}
	d := delivery{plan: p, ref: m.Ref, senderUID: s.UID, accepted: time.Now()}
	return c.pending.add(d.due(), d)
}

// reportDue reports the receipts that are due, sender by sender, so that an error concerns one sender only.
func (c *Channel) reportDue(ctx context.Context, due []*item[delivery]) (again, failed []*item[delivery], err error) {
	slices.SortStableFunc(due, func(a, b *item[delivery]) int { return cmp.Compare(a.v.senderUID, b.v.senderUID) })
	var errs []error
	for len(due) > 0 {
		n := 1
		for n < len(due) && due[n].v.senderUID == due[0].v.senderUID {
			n++
		}
		if err := c.reportOne(ctx, due[:n]); err != nil {
			failed, errs = append(failed, due[:n]...), append(errs, err)
		} else {
			again = append(again, advance(due[:n])...)
		}
		due = due[n:]
	}
	return again, failed, errors.Join(errs...)
}

// reportOne reports receipts of one sender.
func (c *Channel) reportOne(ctx context.Context, due []*item[delivery]) error {
	receipts := make([]provider.Receipt, len(due))
	for i := range receipts {
		receipts[i] = due[i].v.receipt()
	}
	return c.o.Receipts(ctx, receipts)
}

// advance returns the deliveries with more receipts to come, due for the next one.
func advance(reported []*item[delivery]) []*item[delivery] {
	var more []*item[delivery]
	for _, it := range reported {
		if it.v.next++; it.v.next < len(it.v.plan.steps) {
			it.due = it.v.due()
			more = append(more, it)
		}
	}
	return more
}
