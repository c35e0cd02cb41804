package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// delivery is a message or a reply with pending receipts.
type delivery struct {
	plan      *plan
	next      int // index of the next step in the plan
	ref       provider.Ref
	reply     *provider.ReplyRef // for a reply; nil for a message
	senderUID int64
	number    string
	charge    provider.Charge // of the message, once it is delivered
	accepted  time.Time
	at        time.Time // time of the next receipt: its due time, or later after a failure
}

func (d *delivery) due() time.Time { return d.accepted.Add(d.plan.steps[d.next].after) }

func (d *delivery) receipt() provider.Receipt {
	s := d.plan.steps[d.next]
	r := provider.Receipt{
		Ref: d.ref, SenderUID: d.senderUID, ProviderID: providerID(d.ref), State: s.state, At: d.due(), Reason: s.reason,
	}
	if s.state == carillon.StateDelivered || s.state == carillon.StateRead {
		r.Charge = d.charge
	}
	return r
}

func (d *delivery) replyReceipt() provider.ReplyReceipt {
	s := d.plan.steps[d.next]
	return provider.ReplyReceipt{Ref: *d.reply, ProviderID: providerID(*d.reply), State: s.state, Reason: s.reason}
}

// providerID returns the sandbox's id for an attempt. It is the same in every run.
func providerID(r fmt.Stringer) string { return "sandbox." + r.String() }

// Send accepts a message and decides its outcome by the number's suffix. It takes microseconds, except for numbers
// with a slow outcome; if ctx ends in the meantime, the outcome is unknown.
func (c *Channel) Send(ctx context.Context, s *carillon.Sender, m *provider.Outgoing) provider.Outcome {
	d := delivery{plan: c.plans.plan(m.Number), ref: m.Ref, senderUID: s.UID, number: cmp.Or(m.Number, m.UserID)}
	if m.Template != nil {
		d.charge = provider.Charge{Type: "regular", Category: strings.ToLower(m.Template.Category)}
	}
	return c.accept(ctx, d, m.Ref.Attempt, m.Ref, c.to.Receipts != nil)
}

// SendReply accepts a reply in the same way as Send accepts a message.
func (c *Channel) SendReply(ctx context.Context, s *carillon.Sender, m *provider.Reply) provider.Outcome {
	d := delivery{plan: c.plans.plan(m.To), reply: &m.Ref, senderUID: s.UID, number: cmp.Or(m.To, m.UserID)}
	return c.accept(ctx, d, m.Ref.Attempt, m.Ref, c.to.Replies != nil)
}

// accept decides the outcome of an attempt and, if reported is true, schedules its receipts.
func (c *Channel) accept(ctx context.Context, d delivery, attempt int, ref fmt.Stringer, reported bool) provider.Outcome {
	p := d.plan
	if p.slow && !wait(ctx, c.o.Delays.Slow) {
		return provider.Outcome{Verdict: provider.Unknown, Detail: "sandbox: canceled before the response"}
	}
	switch {
	case attempt <= p.faults && p.limited:
		return provider.Outcome{
			Verdict: provider.RetryLater, Detail: "sandbox: rate limited, by the number", RetryAfter: c.o.Delays.RetryAfter,
		}
	case attempt <= p.faults:
		return provider.Outcome{Verdict: provider.RetryLater, Detail: "sandbox: temporary fault, by the number"}
	case p.verdict == provider.Refused:
		return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable, Detail: "sandbox: refused, by the number"}
	}
	if reported && len(p.steps) > 0 {
		d.accepted = time.Now()
		d.at = d.due()
		if !c.pending.add(&d) {
			return provider.Outcome{Verdict: provider.RetryLater, Detail: "sandbox: too many receipts are pending", RetryAfter: time.Second}
		}
	}
	if p.verdict == provider.Unknown {
		return provider.Outcome{Verdict: provider.Unknown, Detail: "sandbox: no response, by the number"}
	}
	return provider.Outcome{Verdict: provider.Sent, ProviderID: providerID(ref)}
}

// reportReceipts reports due receipts until ctx ends. It groups them by sender, so that an error affects only one
// sender.
func (c *Channel) reportReceipts(ctx context.Context) {
	for ctx.Err() == nil {
		due := c.reachable(c.pending.pop(receiptBatch))
		if len(due) == 0 {
			c.pending.sleep(ctx)
			continue
		}
		slices.SortStableFunc(due, func(a, b *delivery) int {
			return cmp.Or(cmp.Compare(a.senderUID, b.senderUID), cmp.Compare(a.kind(), b.kind()))
		})
		for len(due) > 0 {
			n := 1
			for n < len(due) && due[n].senderUID == due[0].senderUID && due[n].kind() == due[0].kind() {
				n++
			}
			c.pending.putBack(c.report(ctx, due[:n]))
			due = due[n:]
		}
	}
}

// kind returns 1 for a reply and 0 for a message.
func (d *delivery) kind() int {
	if d.reply != nil {
		return 1
	}
	return 0
}

// report reports receipts of one sender and kind, and returns the deliveries with further receipts. A receipt that
// keeps failing is dropped eventually, so that it neither delays the rest nor stays forever.
func (c *Channel) report(ctx context.Context, due []*delivery) (more []*delivery) {
	err := c.pass(ctx, due)
	if err != nil && ctx.Err() == nil {
		c.o.Logger.WarnContext(ctx, "cannot report receipts", "error", err, "receipts", len(due))
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

// pass reports the next receipts of deliveries of one sender and kind.
func (c *Channel) pass(ctx context.Context, due []*delivery) error {
	if due[0].reply == nil {
		receipts := make([]provider.Receipt, len(due))
		for i, d := range due {
			receipts[i] = d.receipt()
		}
		return c.to.Receipts(ctx, receipts)
	}
	receipts := make([]provider.ReplyReceipt, len(due))
	for i, d := range due {
		receipts[i] = d.replyReceipt()
	}
	return c.to.Replies(ctx, due[0].senderUID, receipts)
}
