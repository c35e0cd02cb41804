package sandbox

import (
	"cmp"
	"context"
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
	at        time.Time // when the next receipt is reported: once it is due, or later after a failure
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
	d := &delivery{plan: p, ref: m.Ref, senderUID: s.UID, accepted: time.Now()}
	d.at = d.due()
	return c.pending.add(d)
}

// reportReceipts reports receipts when they are due until ctx ends, sender by sender, so that an error concerns one sender
// only.
func (c *Channel) reportReceipts(ctx context.Context) {
	for ctx.Err() == nil {
		due := c.pending.pop(receiptBatch)
		if len(due) == 0 {
			c.pending.sleep(ctx)
			continue
		}
		slices.SortStableFunc(due, func(a, b *delivery) int { return cmp.Compare(a.senderUID, b.senderUID) })
		for len(due) > 0 {
			n := 1
			for n < len(due) && due[n].senderUID == due[0].senderUID {
				n++
			}
			c.pending.putBack(c.report(ctx, due[:n]))
			due = due[n:]
		}
	}
}

// report reports receipts of one sender, and returns the deliveries with more to report. What fails for long is dropped, so
// that it neither delays the rest nor stays for ever.
func (c *Channel) report(ctx context.Context, due []*delivery) (more []*delivery) {
	receipts := make([]provider.Receipt, len(due))
	for i := range receipts {
		receipts[i] = due[i].receipt()
	}
	err := c.o.Receipts(ctx, receipts)
	if err != nil && ctx.Err() == nil {
		c.o.Logger.WarnContext(ctx, "cannot report receipts", "error", err, "receipts", len(receipts))
	}
	now := time.Now()
	for _, d := range due {
		if err == nil {
			d.next++
		}
		switch {
		case d.next == len(d.plan.steps), err != nil && now.Sub(d.due()) > retryFor:
			continue
		case err == nil:
			d.at = d.due()
		default:
			d.at = now.Add(retryAfter)
		}
		more = append(more, d)
	}
	return more
}
