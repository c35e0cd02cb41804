package db

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"carillon"
)

// backlog bounds the operations that wait for a committer. Foreground operations are bounded by number, bytes and
// estimated wait; background operations, which finish accepted work, by a separate number only, so that they always
// find room regardless of the number of requests.
type backlog struct {
	most            int64         // operations of each class
	longest         time.Duration // estimated wait; at least longestWait
	requests, bytes atomic.Int64
	own             atomic.Int64 // waiting background operations
	came            atomic.Int64 // operations since the start
	took            atomic.Int64 // smoothed duration of a transaction, in nanoseconds
}

const (
	backlogBytes = 64 << 20
	longestWait  = 2 * time.Second
	confirmed    = 3 * time.Second // of a commit's timeout, for the commit itself
)

// enter takes a slot for a write, or refuses it.
func (b *backlog) enter(w *write) error {
	if w.kind != nil && !w.kind.maintenance() {
		b.came.Add(1)
	}
	if !w.foreground() {
		if b.own.Add(1) > b.most {
			b.own.Add(-1)
			return Overloaded("Too many writes are waiting", nil)
		}
		return nil
	}
	if err := b.full(); err != nil {
		return err
	}
	if b.requests.Add(1) > b.most {
		b.requests.Add(-1)
		return b.refusal()
	}
	b.bytes.Add(w.bytes)
	return nil
}

// leave releases the slot of a write that is being stored.
func (b *backlog) leave(w *write) {
	if !w.foreground() {
		b.own.Add(-1)
		return
	}
	b.requests.Add(-1)
	b.bytes.Add(-w.bytes)
}

// full refuses a request if one more would be too many.
func (b *backlog) full() error {
	if b.requests.Load() >= b.most || b.bytes.Load() > backlogBytes || b.wait() > max(b.longest, longestWait) {
		return b.refusal()
	}
	return nil
}

func (b *backlog) refusal() *carillon.Error {
	e := Overloaded("Too many requests are waiting to be stored", nil)
	e.RetryAfter = max(1, int((b.wait()+time.Second-1)/time.Second))
	return e
}

// wait estimates the waiting time of a request that arrives now.
func (b *backlog) wait() time.Duration {
	waiting := b.requests.Load()
	if waiting == 0 {
		return 0 // the first request after a slow period finds out whether it is over
	}
	return time.Duration((waiting/batchMax + 1) * b.took.Load())
}

// observe records the duration of a transaction.
func (b *backlog) observe(took time.Duration) {
	before := b.took.Load()
	b.took.Store(before + (int64(took)-before)/4)
}

// Commits runs the group commit. It holds the committers and the admission control for requests.
type Commits struct {
	foreground *committer // operations with a waiting caller
	background *committer // the program's own operations; the same committer as foreground on SQLite
	admission  admission
}

func (c *Commits) start(d *DB, waiting int) {
	c.admission = admission{places: make(chan struct{}, batchMax), most: 2 * int64(waiting)}
	if d.SQLite() {
		c.foreground = newCommitter(d, 1, waiting)
		c.background = c.foreground
	} else {
		c.foreground = newCommitter(d, 2, waiting)
		c.background = newCommitter(d, 1, waiting)
	}
}

// close finishes the waiting operations.
func (c *Commits) close() {
	c.foreground.close()
	c.background.close()
}

// Full refuses a request before it is read if too many wait to be stored. Errors: service_unavailable.
func (c *Commits) Full() error {
	err := c.foreground.full()
	if err == nil && c.admission.full() {
		err = c.foreground.refusal()
	}
	if err != nil {
		return fmt.Errorf("check the backlog: %w", err)
	}
	return nil
}

// Operations returns the number of operations since the database was opened, without maintenance.
func (c *Commits) Operations() int64 {
	n := c.foreground.came.Load()
	if c.background != c.foreground {
		n += c.background.came.Load()
	}
	return n
}

// Waiting returns the number of operations that wait for a group commit, and of requests that wait for admission.
func (c *Commits) Waiting() int {
	n := c.foreground.length() + int(c.admission.waiting.Load())
	if c.background != c.foreground {
		n += c.background.length()
	}
	return n
}

const idleCheck = time.Millisecond

// WaitIdle waits until no request waits to be stored, up to a timeout: low-priority work uses the gaps.
func (c *Commits) WaitIdle(ctx context.Context, most time.Duration) {
	for deadline := time.Now().Add(most); c.foreground.requests.Load() > 0 && time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(idleCheck):
		}
	}
}

// admission bounds the requests that are checked and stored concurrently. An admitted request shares the processors
// with few others; if all were started together, in an overload each step of each request would wait for the steps
// of thousands, most of which are refused in the end. The others wait briefly, in order, and are then refused.
type admission struct {
	places         chan struct{} // one for each operation of a transaction
	most           int64         // bound of waiting
	waiting, bytes atomic.Int64
}

const patience = time.Second

// Admit waits for permission to check and store a request of the given size; the caller releases it when done. Errors:
// service_unavailable.
func (c *Commits) Admit(ctx context.Context, size int) (release func(), err error) {
	if !c.admission.admit(ctx, int64(size)) {
		return nil, fmt.Errorf("wait to be admitted: %w", c.foreground.refusal())
	}
	return c.admission.release, nil
}

func (a *admission) release() { <-a.places }

func (a *admission) admit(ctx context.Context, size int64) bool {
	select {
	case a.places <- struct{}{}:
		return true
	default:
	}
	waiting, bytes := a.waiting.Add(1), a.bytes.Add(size)
	defer a.waiting.Add(-1)
	defer a.bytes.Add(-size)
	if waiting > a.most || bytes > backlogBytes {
		return false
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case a.places <- struct{}{}:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

// full reports whether a request that arrives now would be refused.
func (a *admission) full() bool {
	return a.waiting.Load() >= a.most || a.bytes.Load() > backlogBytes
}
