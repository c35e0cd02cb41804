// Package notify accepts notifications, delivers them and stores their receipts.
//
//	Accept: body and fields → sender → template or agent → variables → one shared commit, with the quota
//	Deliver: load → may it still be sent? → media → Sender.Send → verdict → result
//	Receive: receipts, possibly out of order and repeated; a message's state only moves forward
//
// Package queue decides when a message is sent; packages whatsapp and sandbox decide how.
package notify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/base/destination"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/send/link"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/work"
)

// Sender sends one message and classifies the provider's response. The message's start has already been committed.
// Send must not repeat a request.
type Sender interface {
	Send(ctx context.Context, s *carillon.Sender, m *provider.Outgoing) provider.Outcome
}

// Media checks the files of headers before a send.
type Media interface {
	// CheckMedia reports whether a company's file is rejected. It returns an error if the file was rejected or could
	// not be checked.
	CheckMedia(ctx context.Context, companyID, format, url string) (rejected bool, err error)
}

// Templates pauses a template that the channel refused.
type Templates interface {
	Pause(ctx context.Context, t *carillon.Template, reason string) error
}

// Observer is notified for metrics and traces.
type Observer interface {
	// Accepted is called after a notification was stored. begin is the arrival time of its request.
	Accepted(ctx context.Context, n *messages.Notification, begin time.Time)
	Delivered(d Delivered)
	// Received is called after receipts were stored.
	Received(ctx context.Context, rs []provider.Receipt)
	// Reconciled is called after the senders' policies decided about messages with an unknown outcome.
	Reconciled(retried, failed int)
	// Fallback is called when it was decided whether a call follows a message.
	Fallback(state messages.FallbackState)
}

// Delivered is a completed attempt.
type Delivered struct {
	Ref        provider.Ref // without the notification's id if it could not be read
	SenderUID  int64
	Due, Begin time.Time
	Move       work.Move
	Outcome    messages.Outcome
}

// Options configure a Notify. Senders is required.
type Options struct {
	Senders   map[string]Sender // by provider name
	Media     Media             // nil disables the check
	Templates Templates         // nil: templates are not paused
	Observer  Observer          // may be nil
	Links     *link.Codecs      // nil: no message with counted links is sent
	Denied    destination.Denied
	// Portfolio returns the scope within which the channel's ids of people are valid for a sender. If nil, ids are neither
	// checked nor linked with numbers.
	Portfolio func(s *carillon.Sender) string
	Drain     time.Duration // how long stopping waits for sends in flight
	Log       *slog.Logger
}

// Notify accepts and delivers notifications. Create it with New. Run does its background work.
type Notify struct {
	store   *store.Store
	queue   *queue.Queue
	o       Options
	entries *cache.Cache[*entry]
	running sync.Map // idempotency keys in use on this node

	*closer
}

// New returns a Notify that delivers the messages started by the queue.
func New(s *store.Store, q *queue.Queue, o Options) *Notify {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := &Notify{store: s, queue: q, o: o, closer: newCloser(s, o.Log), entries: cache.New[*entry](maxEntries, maxRead)}
	q.Handle(queue.Kind{Name: queue.Messages, Source: s.Messages, Worker: &worker{s, &n.o, n.entries, n.closer}, Drain: o.Drain})
	return n
}

const releaseEvery = time.Minute

// Run does the background work until ctx ends: it closes completed notifications, releases held messages of approved
// templates, has calls follow messages that were not delivered, and fills the search table (docs/adr/0004).
func (n *Notify) Run(ctx context.Context) error {
	var done sync.WaitGroup
	done.Go(func() { every(ctx, sweepEvery, n.closer.sweep, n.closer.sweepOpen) })
	done.Go(func() { every(ctx, releaseEvery, nil, n.releaseNeedless) })
	done.Go(func() { n.decideFallbacks(ctx) })
	done.Go(func() { fillSearch(ctx, n.store, n.queue, n.o.Log) })
	done.Go(func() { countStats(ctx, n.store, n.queue, n.o.Log) })
	n.closer.run(ctx)
	done.Wait()
	return nil
}

// every calls do immediately, then periodically and on request, until ctx ends.
func every(ctx context.Context, period time.Duration, request <-chan struct{}, do func(ctx context.Context)) {
	for ctx.Err() == nil {
		do(ctx)
		select {
		case <-ctx.Done():
		case <-request:
		case <-time.After(period):
		}
	}
}

// pause waits for a duration, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
