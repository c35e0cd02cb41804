package notify

import (
	"context"
	"sync"
	"time"

	"carillon"
	"carillon/internal/request"
	"carillon/internal/store"
)

// entry is a notification with its body read again, shared by the recipients of a bulk send.
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

// entryCache keeps the last bulk notifications: their recipients are delivered one after the other, many at once, and
// the first of them reads it for all.
type entryCache struct {
	mu      sync.Mutex
	m       map[carillon.Seq]*entry
	order   []carillon.Seq
	reading map[carillon.Seq]*reading

	fresh map[carillon.Seq]*entry // just accepted, of one recipient, due now: each is asked for once
	ring  [freshMax]carillon.Seq  // their numbers
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
	freshBody  = 8 << 10 // bytes of a body worth keeping for one recipient
)

// find gives a notification that is kept, or the reading under way, or a new one for the caller to lead.
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

// end tells those who wait what was read, and keeps it where it will be asked for again. What was dropped meanwhile is
// for those who asked before.
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

// offer spares the delivery of what was just accepted, and is due now, the reading of what is at hand.
func (c *entryCache) offer(n store.Notification, req *request.Request) {
	if n.Total == 1 && len(n.Body) > freshBody {
		return
	}
	n.CreatedAt, n.DueAt = n.CreatedAt.Truncate(time.Millisecond), n.DueAt.Truncate(time.Millisecond) // as they are stored
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
		return n.read(ctx, seq) // the fault may have been the leader's alone
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
