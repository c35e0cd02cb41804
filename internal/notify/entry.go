package notify

import (
	"context"
	"sync"
	"time"

	"carillon"
	"carillon/internal/request"
	"carillon/internal/store"
)

// entry is a notification with its parsed body, shared by the recipients of a bulk send.
type entry struct {
	n   *store.Notification
	req *request.Request

	mu      sync.Mutex
	checked *carillon.Template // the last template that the request was found to fit
}

// fits checks the request again against a template that has changed since the request was accepted.
func (e *entry) fits(t *carillon.Template) bool {
	if t.UpdatedAt.Before(e.n.CreatedAt) {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.checked != t && e.req.CheckAgainst(t) == nil {
		e.checked = t
	}
	return e.checked == t
}

// entryCache caches the last bulk notifications, whose recipients are delivered shortly after each other; the first one reads
// the notification for all.
type entryCache struct {
	mu      sync.Mutex
	m       map[carillon.Seq]*entry
	order   []carillon.Seq
	reading map[carillon.Seq]*reading

	fresh map[carillon.Seq]*entry // just accepted, with one recipient, due now; each is used once
	ring  [freshMax]carillon.Seq  // their numbers, oldest first from next
	at    int
}

// reading is a notification being read.
type reading struct {
	done chan struct{}
	e    *entry
	err  error
}

const (
	entriesMax = 64
	freshMax   = 256
	freshBody  = 8 << 10 // largest body that is cached for one recipient
)

// find returns a cached notification, or the reading in progress, or a new reading that the caller must do.
func (c *entryCache) find(seq carillon.Seq) (e *entry, r *reading, lead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.m[seq]; e != nil {
		return e, nil, false
	}
	if e := c.fresh[seq]; e != nil {
		delete(c.fresh, seq)
		return e, nil, false
	}
	if r := c.reading[seq]; r != nil {
		return nil, r, false
	}
	if c.reading == nil {
		c.reading = map[carillon.Seq]*reading{}
	}
	r = &reading{done: make(chan struct{})}
	c.reading[seq] = r
	return nil, r, true
}

// end publishes what was read to all waiting callers and caches it where it will be used again, unless it was dropped
// meanwhile.
func (c *entryCache) end(seq carillon.Seq, r *reading) {
	c.mu.Lock()
	if c.reading[seq] == r {
		delete(c.reading, seq)
		if r.err == nil && r.e.n.Total > 1 {
			c.keep(seq, r.e)
		}
	}
	c.mu.Unlock()
	close(r.done)
}

func (c *entryCache) keep(seq carillon.Seq, e *entry) {
	if c.m == nil {
		c.m = map[carillon.Seq]*entry{}
	}
	if c.m[seq] != nil {
		return
	}
	if len(c.order) == entriesMax {
		delete(c.m, c.order[0])
		c.order = append(c.order[:0], c.order[1:]...)
	}
	c.m[seq] = e
	c.order = append(c.order, seq)
}

// add caches a notification that was just accepted and is due now, so that its delivery need not read it.
func (c *entryCache) add(n store.Notification, req *request.Request) {
	if n.Total == 1 && len(n.Body) > freshBody {
		return
	}
	n.CreatedAt, n.DueAt = n.CreatedAt.Truncate(time.Millisecond), n.DueAt.Truncate(time.Millisecond) // as stored
	e := &entry{n: &n, req: req}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.Total > 1 {
		c.keep(n.Seq(), e)
		return
	}
	if c.fresh == nil {
		c.fresh = make(map[carillon.Seq]*entry, freshMax)
	}
	delete(c.fresh, c.ring[c.at])
	seq := n.Seq()
	c.fresh[seq], c.ring[c.at] = e, seq
	c.at = (c.at + 1) % freshMax
}

func (n *Notify) load(ctx context.Context, seq carillon.Seq) (*entry, error) {
	e, r, lead := n.entries.find(seq)
	switch {
	case e != nil:
		return e, nil
	case lead:
		r.e, r.err = n.read(ctx, seq)
		n.entries.end(seq, r)
		return r.e, r.err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.err != nil {
		return n.read(ctx, seq) // the error may be the other caller's own
	}
	return r.e, nil
}

func (n *Notify) read(ctx context.Context, seq carillon.Seq) (*entry, error) {
	row, err := n.store.LoadNotification(ctx, seq)
	if err != nil {
		return nil, err
	}
	req, err := requestOf(row)
	if err != nil {
		return nil, err
	}
	return &entry{n: row, req: req}, nil
}

func (c *entryCache) drop(seq carillon.Seq) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, seq)
	delete(c.fresh, seq)
	delete(c.reading, seq)
	for i := range c.order {
		if c.order[i] == seq {
			c.order = append(c.order[:i], c.order[i+1:]...)
			return
		}
	}
}
