// Package notify accepts notifications, delivers them and takes the receipts that come back.
//
//	Accept: body and fields → sender → template or agent → variables → quota, all stored in one shared commit
//	Deliver: load → may it still be sent? → media → Sender.Send → verdict → result
//	Receive: forward only, unordered, repeated
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
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/store/work"
)

// Sender sends one message or places one call and judges the provider's answer. It is called with a message whose start
// has been committed and must not repeat a request by itself.
type Sender interface {
	Send(ctx context.Context, s *carillon.Sender, m *carillon.Outgoing) carillon.Outcome
}

// Media checks the files of headers before a send.
type Media interface {
	// CheckMedia reports whether a file is itself at fault, or why it could not be checked.
	CheckMedia(ctx context.Context, format, url string) (rejected bool, err error)
}

// Templates pauses a template that the channel refused.
type Templates interface {
	Pause(ctx context.Context, senderUID int64, templateID, reason string) error
}

// Observer is called about what happened, for metrics and traces.
type Observer interface {
	// Accepted: a notification has been stored; begin is when its request came.
	Accepted(ctx context.Context, n *store.Notification, begin time.Time)
	Delivered(d Delivered)
	// Received: receipts have been stored.
	Received(ctx context.Context, rs []carillon.Receipt)
	// Reconciled: what their senders' policies made of messages of unknown outcome.
	Reconciled(retried, failed int)
}

// Delivered is an attempt that ended now.
type Delivered struct {
	Ref        carillon.Ref // without a notification's id where it could not be read
	SenderUID  int64
	Due, Begin time.Time
	Move       work.Move
	Outcome    store.Outcome
}

// Options wire a Notify. Senders is required.
type Options struct {
	Senders   map[string]Sender // by provider
	Media     Media             // nil: nothing is checked
	Templates Templates         // nil: no template is paused
	Observer  Observer          // nil: nobody
	Drain     time.Duration     // how long a stop waits for sends in flight
	Log       *slog.Logger
}

// Notify accepts and delivers. Make it with New, run its work behind with Run.
type Notify struct {
	store   *store.Store
	queue   *queue.Queue
	o       Options
	entries entryCache
	running keys // idempotency keys being worked on by this node

	mu     sync.Mutex
	closed map[carillon.Seq]bool // notifications of which a message ended
	signal chan struct{}
	sweep  chan struct{}
}

// New builds a Notify, which delivers what the queue starts.
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
	closeLast   = time.Second // at the end; nobody waits longer for what the next start finds
	closeAtOnce = 64          // a transaction: requests to be stored wait for it
	sweepEvery  = 10 * time.Minute
	purges      = time.Minute
)

// Run does the work behind until ctx ends: marking notifications that are done, releasing what is held without need,
// filling the search table.
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
	_ = n.closeDone(last) // logged; the sweep at the next start finds the rest
	done.Wait()
	return nil
}

// Closed records notifications of which a message ended: they may be complete.
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

// closeDone marks what Closed heard of. What could not be marked is kept for the next time.
func (n *Notify) closeDone(ctx context.Context) error {
	n.mu.Lock()
	all := slices.Sorted(maps.Keys(n.closed)) // in the order of locks
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

// Sweep asks for a look through all open notifications soon: another node may have died between a message's end and
// its notification's.
func (n *Notify) Sweep() {
	select {
	case n.sweep <- struct{}{}:
	default:
	}
}

// sweeps looks at the start, when asked, and now and then: whatever was missed is closed late and not never.
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

// sweepOpen looks once through all open notifications: a crash may have come between a message's end and its
// notification's.
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

// The search table is filled calmly: on SQLite each step takes the writer's turn. A node under load gives it a fifth of
// the time, until it has lagged for so long that searches would look through too much that is not in it yet.
const (
	searchIdle   = 2 * time.Second
	searchPause  = 2 * time.Millisecond
	searchCalm   = 100 * time.Millisecond // it waits so long at most for a moment in which no request waits
	searchShare  = 4                      // pauses are so many times as long as steps
	searchMaxLag = 2 * time.Minute
)

func (n *Notify) fillSearch(ctx context.Context) {
	caughtUp, came := time.Now(), n.store.Operations()
	for ctx.Err() == nil {
		if !n.queue.Owns(0) { // one node of all fills the table
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

// searchWait is the pause behind a step that took so long, after having lagged for so long; beside says that the node had
// other things to store meanwhile.
func searchWait(took, lag time.Duration, beside bool) time.Duration {
	if lag > searchMaxLag {
		return searchPause
	}
	if !beside {
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
