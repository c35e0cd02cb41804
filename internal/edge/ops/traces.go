package ops

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/base/tracing"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/notify"
	"carillon/internal/store/messages"
)

// Observer forwards reports from requests and notify to metrics and traces.
type Observer struct {
	Metrics *Metrics
	Tracing *tracing.Tracing // nil disables tracing
}

// Responded records the response to a request.
func (o Observer) Responded(ctx context.Context, x httpio.Response) {
	o.Metrics.observe(x)
	o.Tracing.Responded(ctx, x.Pattern, x.Status, x.Code)
}

// Accepted implements notify.Observer.
func (o Observer) Accepted(ctx context.Context, n *messages.Notification, begin time.Time) {
	o.Metrics.notifications.WithLabelValues(string(n.Channel)).Inc()
	o.Metrics.messages.WithLabelValues(string(n.Channel)).Add(float64(n.Total))
	o.Tracing.Accepted(ctx, n.ID, n.CompanyID, n.Total, begin)
}

// Received implements notify.Observer.
func (o Observer) Received(ctx context.Context, rs []provider.Receipt) {
	for i := range rs {
		o.Metrics.receipts.WithLabelValues(string(rs[i].State), string(rs[i].Reason)).Inc()
	}
	o.Tracing.Received(ctx, rs)
}

// Delivered implements notify.Observer.
func (o Observer) Delivered(d notify.Delivered) {
	outcome := outcomeOf(d.Move, d.Outcome)
	o.Metrics.late.Observe(time.Since(d.Due).Seconds())
	o.Metrics.ended.WithLabelValues(outcome, string(d.Outcome.Reason)).Inc()
	if d.Ref.NotificationID != "" { // otherwise the message could not be read, so its trace is unknown
		o.Tracing.Attempt(d.Ref, d.SenderUID, d.Due, d.Begin, outcome, d.Outcome.Reason)
	}
}

// Reconciled implements notify.Observer. It counts unknown outcomes that were resolved by the senders' policies.
func (o Observer) Reconciled(retried, failed int) {
	o.Metrics.ended.WithLabelValues("retry", string(carillon.ReasonOutcomeUnknown)).Add(float64(retried))
	o.Metrics.ended.WithLabelValues("failed", string(carillon.ReasonOutcomeUnknown)).Add(float64(failed))
}

// Fallback implements notify.Observer.
func (o Observer) Fallback(state messages.FallbackState) {
	o.Metrics.fallbacks.WithLabelValues(string(state)).Inc()
}

// Senders adds a span to each provider request if traces are exported.
func (o Observer) Senders(senders map[string]notify.Sender) map[string]notify.Sender {
	if o.Tracing == nil {
		return senders
	}
	for provider, s := range senders {
		senders[provider] = tracedSender{s, provider, o.Tracing}
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
