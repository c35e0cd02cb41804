package notify

import (
	"context"
	"sync"

	"carillon"
	"carillon/internal/store"
)

// entry is a notification with its body read again, shared by the recipients of a bulk send.
type entry struct {
	n   *store.Notification
	req *carillon.Request

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

// entryCache keeps the last bulk notifications: their recipients are delivered one after the other.
type entryCache struct {
	mu    sync.Mutex
	m     map[string]*entry
	order []string
}

const entriesMax = 64

func (c *entryCache) find(id string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.m[id]
}

func (c *entryCache) keep(id string, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[string]*entry{}
	}
	if c.m[id] != nil {
		return
	}
	if len(c.order) == entriesMax {
		delete(c.m, c.order[0])
		c.order = append(c.order[:0], c.order[1:]...)
	}
	c.m[id] = e
	c.order = append(c.order, id)
}

func (n *Notify) load(ctx context.Context, id string) (*entry, error) {
	if e := n.entries.find(id); e != nil {
		return e, nil
	}
	row, err := n.store.LoadNotification(ctx, id)
	if err != nil {
		return nil, err
	}
	req, err := requestOf(row)
	if err != nil {
		return nil, err
	}
	e := &entry{n: row, req: req}
	if row.Total > 1 {
		n.entries.keep(id, e)
	}
	return e, nil
}

func (c *entryCache) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, id)
	for i := range c.order {
		if c.order[i] == id {
			c.order = append(c.order[:i], c.order[i+1:]...)
			return
		}
	}
}
