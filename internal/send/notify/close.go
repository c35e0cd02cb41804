package notify

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/store"
)

const (
	closeEvery  = 100 * time.Millisecond
	closeAgain  = time.Second // delay after a failure
	closeLast   = time.Second // deadline of the final run; the next start finds the rest
	closeAtOnce = 64          // per transaction, because requests wait for it
	sweepEvery  = 10 * time.Minute
)

// closer closes notifications whose messages have all ended.
type closer struct {
	store *store.Store
	log   *slog.Logger

	mu     sync.Mutex
	closed map[carillon.Seq]bool // notifications of which a message has ended
	signal chan struct{}
	sweep  chan struct{}
}

func newCloser(s *store.Store, log *slog.Logger) *closer {
	return &closer{store: s, log: log, closed: map[carillon.Seq]bool{}, signal: make(chan struct{}, 1), sweep: make(chan struct{}, 1)}
}

// run closes notifications until ctx ends.
func (c *closer) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.signal:
			wait := closeEvery
			if err := c.closeDone(ctx); err != nil {
				wait = closeAgain
			}
			pause(ctx, wait)
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLast)
	defer cancel()
	_ = c.closeDone(last) // already logged; the sweep of the next start finds the rest
}

// Closed records notifications of which a message has ended. They may be complete.
func (c *closer) Closed(seqs []carillon.Seq) {
	if len(seqs) == 0 {
		return
	}
	c.mu.Lock()
	for _, seq := range seqs {
		c.closed[seq] = true
	}
	c.mu.Unlock()
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// closeDone closes the notifications that Closed recorded. Those that fail are kept for the next call.
func (c *closer) closeDone(ctx context.Context) error {
	c.mu.Lock()
	all := slices.Sorted(maps.Keys(c.closed)) // sorted in lock order
	c.closed = map[carillon.Seq]bool{}
	c.mu.Unlock()
	for len(all) > 0 {
		part := all[:min(len(all), closeAtOnce)]
		if err := c.store.Notifications.CloseDone(ctx, part, time.Now()); err != nil {
			c.log.WarnContext(ctx, "close notifications", "error", err)
			c.Closed(all)
			return err
		}
		all = all[len(part):]
	}
	return nil
}

// Sweep requests a sweep of all open notifications, because another node may have died between the end of a message
// and the closing of its notification.
func (c *closer) Sweep() {
	select {
	case c.sweep <- struct{}{}:
	default:
	}
}

// sweepOpen finds open notifications that are complete, as a crash before their closing leaves them.
func (c *closer) sweepOpen(ctx context.Context) {
	company, seq := "", carillon.NoSeq
	for ctx.Err() == nil {
		seqs, lastCompany, last, err := c.store.Notifications.OpenAfter(ctx, company, seq, time.Now(), 1000)
		if err != nil || lastCompany == "" {
			if err != nil && ctx.Err() == nil {
				c.log.WarnContext(ctx, "sweep open notifications", "error", err)
			}
			return
		}
		company, seq = lastCompany, last
		c.Closed(seqs)
		pause(ctx, 20*time.Millisecond)
	}
}
