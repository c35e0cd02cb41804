package app

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/httpio"
	"carillon/internal/notify"
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/tracing"
)

func (a *App) newTracing(ctx context.Context) (*tracing.Tracing, error) {
	return tracing.New(ctx, tracing.Options{URL: a.cfg.TracesURL, Version: Version(), Log: a.log})
}

func (a *App) observe(ctx context.Context, x httpio.Response) {
	a.metrics.observe(x)
	a.tracing.Responded(ctx, x.Pattern, x.Status, x.Code)
}

func (a *App) accepted(ctx context.Context, n *store.Notification, begin time.Time) {
	a.metrics.stored(n)
	a.tracing.Accepted(ctx, n.ID, n.CompanyID, n.Total, begin)
}

func (a *App) received(ctx context.Context, rs []carillon.Receipt) {
	a.metrics.received(rs)
	a.tracing.Received(ctx, rs)
}

// deliverer returns notify's deliverer, with a span for each attempt when traces are exported.
func (a *App) deliverer() func(ctx context.Context, j *queue.Job) queue.Done {
	if a.tracing == nil {
		return a.notify.Deliver
	}
	return func(ctx context.Context, j *queue.Job) queue.Done {
		begin := time.Now()
		d := a.notify.Deliver(ctx, j)
		if j.NotificationID == "" { // it could not be read, so its trace is unknown
			return d
		}
		ref := carillon.Ref{NotificationID: j.NotificationID, N: j.Key.N(), Attempt: j.Attempt}
		a.tracing.Attempt(ref, j.Sender.UID, j.Due, begin, outcomeOf(&d), d.Result.Reason)
		return d
	}
}

// traced adds a span for each request to a provider when traces are exported.
func (a *App) traced(senders map[string]notify.Sender) map[string]notify.Sender {
	if a.tracing == nil {
		return senders
	}
	for provider, s := range senders {
		senders[provider] = tracedSender{s, provider, a.tracing}
	}
	return senders
}

type tracedSender struct {
	notify.Sender
	provider string
	tracing  *tracing.Tracing
}

// Send implements notify.Sender.
func (t tracedSender) Send(ctx context.Context, s *carillon.Sender, m *carillon.Outgoing) carillon.Outcome {
	begin := time.Now()
	o := t.Sender.Send(ctx, s, m)
	t.tracing.Sent(m.Ref, t.provider, begin, o)
	return o
}
