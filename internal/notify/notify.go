// Package notify accepts notifications, delivers them and stores their receipts.
//
//	Accept: body and fields → sender → template or agent → variables → quota, all stored in one shared commit
//	Deliver: load → may it still be sent? → media → Sender.Send → verdict → result
//	Receive: receipts, unordered and repeated; a message only moves forward
//
// It does not decide when a message is sent (queue) nor how (whatsapp, sandbox).
package notify

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/provider"
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/store/work"
)

// Sender sends one message and judges the provider's response. The message's start has been committed; Send must not repeat a
// request.
type Sender interface {
	Send(ctx context.Context, s *carillon.Sender, m *provider.Outgoing) provider.Outcome
}

// Media checks the files of headers before a send.
type Media interface {
	// CheckMedia reports whether a file is rejected, or why it could not be checked.
	CheckMedia(ctx context.Context, format, url string) (rejected bool, err error)
}

// Templates pauses a template that the channel refused.
type Templates interface {
	Pause(ctx context.Context, senderUID int64, templateID, reason string) error
}

// Observer is notified for metrics and traces.
type Observer interface {
	// Accepted: a notification has been stored; begin is when its request came.
	Accepted(ctx context.Context, n *store.Notification, begin time.Time)
	Delivered(d Delivered)
	// Received: receipts have been stored.
	Received(ctx context.Context, rs []provider.Receipt)
	// Reconciled: the senders' policies decided about messages of unknown outcome.
	Reconciled(retried, failed int)
}

// Delivered is an attempt that ended now.
type Delivered struct {
	Ref        provider.Ref // without a notification's id where it could not be read
	SenderUID  int64
	Due, Begin time.Time
	Move       work.Move
	Outcome    store.Outcome
}

// Options configure a Notify. Senders is required.
type Options struct {
	Senders   map[string]Sender // by provider
	Media     Media             // nil: nothing is checked
	Templates Templates         // nil: no template is paused
	Observer  Observer          // nil: none
	Drain     time.Duration     // how long a stop waits for sends in flight
	Log       *slog.Logger
}

// Notify accepts and delivers. Make it with New; Run does its background work.
type Notify struct {
	store   *store.Store
	queue   *queue.Queue
	o       Options
	entries entryCache
	running keys // idempotency keys being worked on by this node

	mu     sync.Mutex
	closed map[carillon.Seq]bool // notifications with a message that ended
	signal chan struct{}
	sweep  chan struct{}
}

// New builds a Notify, which delivers the messages that the queue starts.
func New(s *store.Store, q *queue.Queue, o Options) *Notify {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := &Notify{store: s, queue: q, o: o, closed: map[carillon.Seq]bool{}, signal: make(chan struct{}, 1), sweep: make(chan struct{}, 1)}
	q.Handle(queue.Kind{Name: queue.Messages, Source: s.MessageQueue(), Worker: &worker{n}, Drain: o.Drain})
	return n
}

const (
	closeEvery  = 100 * time.Millisecond
	closeAgain  = time.Second // after a failure
	closeLast   = time.Second // at the end; the next start finds the rest
	closeAtOnce = 64          // per transaction, for which requests wait
	sweepEvery  = 10 * time.Minute
	purges      = time.Minute
)

// Run does the background work until ctx ends: it closes completed notifications, releases messages that need not be held and
// fills the search table (docs/adr/0004).
func (n *Notify) Run(ctx context.Context) error {
	var done sync.WaitGroup
	done.Go(func() { n.sweeps(ctx) })
	done.Go(func() { n.purges(ctx) })
	done.Go(func() { n.fillSearch(ctx) })
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-n.signal:
			wait := closeEvery
			if err := n.closeDone(ctx); err != nil {
				wait = closeAgain
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLast)
	defer cancel()
	_ = n.closeDone(last) // logged; the sweep of the next start finds the rest
	done.Wait()
	return nil
}

// Closed records notifications with a message that ended: they may be complete.
func (n *Notify) Closed(seqs []carillon.Seq) {
	if len(seqs) == 0 {
		return
	}
	n.mu.Lock()
	for _, seq := range seqs {
		n.closed[seq] = true
	}
	n.mu.Unlock()
	select {
	case n.signal <- struct{}{}:
	default:
	}
}

// closeDone closes the notifications that Closed recorded, and keeps those that fail for the next time.
func (n *Notify) closeDone(ctx context.Context) error {
	n.mu.Lock()
	all := slices.Sorted(maps.Keys(n.closed)) // in the lock order
	n.closed = map[carillon.Seq]bool{}
	n.mu.Unlock()
	for len(all) > 0 {
		part := all[:min(len(all), closeAtOnce)]
		if err := n.store.CloseDone(ctx, part, time.Now()); err != nil {
			n.o.Log.WarnContext(ctx, "close notifications", "error", err)
			n.Closed(all)
			return err
		}
		all = all[len(part):]
	}
	return nil
}

// Sweep requests a sweep of all open notifications: another node may have died between the end of a message and the closing of
// its notification.
func (n *Notify) Sweep() {
	select {
	case n.sweep <- struct{}{}:
	default:
	}
}

// sweeps sweeps open notifications at the start, on request, and periodically.
func (n *Notify) sweeps(ctx context.Context) {
	for ctx.Err() == nil {
		n.sweepOpen(ctx)
		select {
		case <-ctx.Done():
		case <-n.sweep:
		case <-time.After(sweepEvery):
		}
	}
}

// sweepOpen closes completed notifications among all open ones, after a crash before their closing.
func (n *Notify) sweepOpen(ctx context.Context) {
	company, seq := "", carillon.NoSeq
	for ctx.Err() == nil {
		seqs, lastCompany, last, err := n.store.OpenAfter(ctx, company, seq, time.Now(), 1000)
		if err != nil || lastCompany == "" {
			if err != nil && ctx.Err() == nil {
				n.o.Log.WarnContext(ctx, "sweep open notifications", "error", err)
			}
			return
		}
		company, seq = lastCompany, last
		if len(seqs) > 0 {
			n.Closed(seqs)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// The search table is filled in short steps, because on SQLite they occupy the writer. A node under load gives it a fifth of the
// time, unless it lags so far that searches would have to read too many notifications.
const (
	searchIdle   = 2 * time.Second
	searchPause  = 2 * time.Millisecond
	searchCalm   = 100 * time.Millisecond // longest wait for a moment without waiting requests
	searchShare  = 4                      // pauses in steps
	searchMaxLag = 2 * time.Minute
)

func (n *Notify) fillSearch(ctx context.Context) {
	caughtUp, came := time.Now(), n.store.Operations()
	for ctx.Err() == nil {
		if !n.queue.Owns(0) { // one of all nodes fills the table
			caughtUp = time.Now()
			select {
			case <-ctx.Done():
			case <-time.After(searchIdle):
			}
			continue
		}
		if time.Since(caughtUp) <= searchMaxLag {
			n.store.WaitIdle(ctx, searchCalm)
		}
		begin := time.Now()
		more, err := n.store.FillSearch(ctx, begin)
		if err != nil && ctx.Err() == nil {
			n.o.Log.WarnContext(ctx, "fill search", "error", err)
		}
		wait := searchIdle
		if more && err == nil {
			now := n.store.Operations()
			wait = searchWait(time.Since(begin), begin.Sub(caughtUp), now != came)
			came = now
		} else {
			caughtUp = begin
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// searchWait returns the pause after a step by its duration and the lag; busy says that the node stored other things
// meanwhile.
func searchWait(took, lag time.Duration, busy bool) time.Duration {
	if lag > searchMaxLag {
		return searchPause
	}
	if !busy {
		return min(max(took, searchPause), searchIdle)
	}
	return min(max(searchShare*took, searchPause), searchIdle)
}

func (n *Notify) purges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(purges):
		}
		if err := n.releaseNeedless(ctx); err != nil && ctx.Err() == nil {
			n.o.Log.WarnContext(ctx, "release held messages", "error", err)
		}
	}
}
