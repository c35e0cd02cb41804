package db

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"carillon"
)

// backlog bounds what waits for a committer. Foreground operations are bounded by their number, their bytes and how long
// they would wait; background operations, which finish what was accepted, by their number alone and separately, so that
// they always find room however many requests come.
type backlog struct {
	most            int64 // of either
	requests, bytes atomic.Int64
	own             atomic.Int64 // background operations that wait
	came            atomic.Int64 // operations, ever
	took            atomic.Int64 // what a transaction takes, smoothed, in nanoseconds
}

const (
	backlogBytes = 64 << 20
	longestWait  = 2 * time.Second
)

// enter takes a place for a write, or refuses it.
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

// leave releases a write's place: it is being stored.
func (b *backlog) leave(w *write) {
	if !w.foreground() {
		b.own.Add(-1)
		return
	}
	b.requests.Add(-1)
	b.bytes.Add(-w.bytes)
}

// full refuses when one request more would be one too many.
func (b *backlog) full() error {
	if b.requests.Load() >= b.most || b.bytes.Load() > backlogBytes || b.wait() > longestWait {
		return b.refusal()
	}
	return nil
}

func (b *backlog) refusal() *carillon.Error {
	e := Overloaded("Too many requests are waiting to be stored", nil)
	e.RetryAfter = max(1, int((b.wait()+time.Second-1)/time.Second))
	return e
}

// wait estimates how long a request that comes now would wait.
func (b *backlog) wait() time.Duration {
	waiting := b.requests.Load()
	if waiting == 0 {
		return 0 // the first to come after a slow time finds out whether it is over
	}
	return time.Duration((waiting/batchMax + 1) * b.took.Load())
}

// observe records how long a transaction took.
func (b *backlog) observe(took time.Duration) {
	before := b.took.Load()
	b.took.Store(before + (int64(took)-before)/4)
}

// Commits is the group commit: the committers, and what bounds the requests that reach them.
type Commits struct {
	foreground *committer // operations that callers wait for
	background *committer // the program's own; the same as foreground on SQLite
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

// close finishes the operations that wait.
func (c *Commits) close() {
	c.foreground.close()
	c.background.close()
}

// Full refuses a request before it is read when too many wait to be stored. Errors: service_unavailable.
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

// Operations is how many operations, maintenance aside, have come to be stored since the database was opened.
func (c *Commits) Operations() int64 {
	n := c.foreground.came.Load()
	if c.background != c.foreground {
		n += c.background.came.Load()
	}
	return n
}

// Waiting is how many operations wait for their group commit, and requests to be admitted to it.
func (c *Commits) Waiting() int {
	n := c.foreground.length() + int(c.admission.waiting.Load())
	if c.background != c.foreground {
		n += c.background.length()
	}
	return n
}

const idleCheck = time.Millisecond

// WaitIdle waits until no request waits to be stored, for at most a time: work that nobody waits for goes into the gaps.
func (c *Commits) WaitIdle(ctx context.Context, most time.Duration) {
	for deadline := time.Now().Add(most); c.foreground.requests.Load() > 0 && time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(idleCheck):
		}
	}
}

// admission bounds how many requests are checked and stored at once. An admitted one has processor time to itself and the
// few others; if every request that comes were started at once, then in an overload each step of each would wait for the
// steps of thousands, most of which are refused in the end. The others wait a little, in order, and are then refused.
type admission struct {
	places         chan struct{} // as many as one transaction takes
	most           int64         // that wait
	waiting, bytes atomic.Int64
}

const patience = time.Second

// Admit waits for leave to check and store a request of so many bytes; the caller releases it when done. Errors:
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

// full reports whether a request that comes now would be refused.
func (a *admission) full() bool {
	return a.waiting.Load() >= a.most || a.bytes.Load() > backlogBytes
}
