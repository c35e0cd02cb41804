package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"carillon"
)

// backlog is what waits for a committer. Requests of callers are bounded by their number, by their bytes and by how long
// they would wait; the program's own writes, which finish what was accepted, by their number alone and apart, so that a
// crowd of callers never stands in their way.
type backlog struct {
	most            int64 // of either
	requests, bytes atomic.Int64
	came            atomic.Int64 // requests and deliveries, ever
	own             atomic.Int64
	took            atomic.Int64 // what a transaction took of late, in nanoseconds
}

const (
	backlogBytes = 64 << 20
	longestWait  = 2 * time.Second
)

// enter takes a place for a write, or refuses it.
func (b *backlog) enter(w *work) error {
	if w.accept == nil {
		if b.own.Add(1) > b.most {
			b.own.Add(-1)
			return overloaded("Too many writes are waiting", nil)
		}
		return nil
	}
	b.came.Add(1)
	if err := b.full(); err != nil {
		return err
	}
	if b.requests.Add(1) > b.most {
		b.requests.Add(-1)
		return b.refusal()
	}
	b.bytes.Add(w.accept.size())
	return nil
}

// leave gives a write's place back: it is being stored.
func (b *backlog) leave(w *work) {
	if w.accept == nil {
		b.own.Add(-1)
		return
	}
	b.requests.Add(-1)
	b.bytes.Add(-w.accept.size())
}

// full refuses when one request more would be one too many.
func (b *backlog) full() error {
	if b.requests.Load() >= b.most || b.bytes.Load() > backlogBytes || b.wait() > longestWait {
		return b.refusal()
	}
	return nil
}

func (b *backlog) refusal() *carillon.Error {
	e := overloaded("Too many requests are waiting to be stored", nil)
	e.RetryAfter = max(1, int((b.wait()+time.Second-1)/time.Second))
	return e
}

// wait is how long a request that comes now would wait, by what transactions took of late.
func (b *backlog) wait() time.Duration {
	waiting := b.requests.Load()
	if waiting == 0 {
		return 0 // the first to come after a slow time finds out whether it is over
	}
	return time.Duration((waiting/batchMax + 1) * b.took.Load())
}

// note takes in how long a transaction took.
func (b *backlog) note(took time.Duration) {
	before := b.took.Load()
	b.took.Store(before + (int64(took)-before)/4)
}

// size is about what an accept holds in memory while it waits.
func (a *Accept) size() int64 { return int64(len(a.Notification.Body) + 64*len(a.Messages)) }

// Full refuses a request before it is read when too many wait to be stored. Errors: service_unavailable.
func (s *Store) Full() error {
	err := s.accepts.full()
	if err == nil && s.accepts.admission.crowded() {
		err = s.accepts.refusal()
	}
	if err != nil {
		return fmt.Errorf("look at what waits: %w", err)
	}
	return nil
}

// Came is how many requests and deliveries have come to be stored since the store was opened.
func (s *Store) Came() int64 { return s.accepts.came.Load() }

const calmLook = time.Millisecond // between looks at what waits

// Calm waits until no request waits to be stored, most at the longest: work that nobody waits for goes into the gaps.
func (s *Store) Calm(ctx context.Context, most time.Duration) {
	for deadline := time.Now().Add(most); s.accepts.requests.Load() > 0 && time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(calmLook):
		}
	}
}
