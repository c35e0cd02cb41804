package app

import (
	"context"
	"time"

	"carillon/internal/store/messages"

	"carillon"
	"carillon/internal/base/httpio"
	"carillon/internal/base/provider"
	"carillon/internal/base/tracing"
	"carillon/internal/send/notify"
)

func (a *App) observe(ctx context.Context, x httpio.Response) {
	a.metrics.observe(x)
	a.tracing.Responded(ctx, x.Pattern, x.Status, x.Code)
}

// observer has metrics and traces record what notify reports.
type observer struct {
	metrics *metrics
	tracing *tracing.Tracing
}

// Accepted implements notify.Observer.
func (o observer) Accepted(ctx context.Context, n *messages.Notification, begin time.Time) {
	o.metrics.stored(n)
	o.tracing.Accepted(ctx, n.ID, n.CompanyID, n.Total, begin)
}

// Received implements notify.Observer.
func (o observer) Received(ctx context.Context, rs []provider.Receipt) {
	o.metrics.received(rs)
	o.tracing.Received(ctx, rs)
}

// Delivered implements notify.Observer.
func (o observer) Delivered(d notify.Delivered) {
	outcome := outcomeOf(d.Move, d.Outcome)
	o.metrics.delivered(outcome, d.Outcome.Reason, time.Since(d.Due))
	if d.Ref.NotificationID != "" { // else it could not be read: the trace that this belongs to is not known
		o.tracing.Attempt(d.Ref, d.SenderUID, d.Due, d.Begin, outcome, d.Outcome.Reason)
	}
}

// Reconciled implements notify.Observer.
func (o observer) Reconciled(retried, failed int) { o.metrics.reconciled(retried, failed) }

// traced adds a span for each request to a provider when traces are exported.
func traced(t *tracing.Tracing, senders map[string]notify.Sender) map[string]notify.Sender {
	if t == nil {
		return senders
	}
	for provider, s := range senders {
		senders[provider] = tracedSender{s, provider, t}
	}
	return senders
}

type tracedSender struct {
	notify.Sender
	provider string
	tracing  *tracing.Tracing
}

// Send implements notify.Sender.
func (t tracedSender) Send(ctx context.Context, s *carillon.Sender, m *provider.Outgoing) provider.Outcome {
	begin := time.Now()
	o := t.Sender.Send(ctx, s, m)
	t.tracing.Sent(m.Ref, t.provider, begin, o)
	return o
}
