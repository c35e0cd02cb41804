package notify

import (
	"context"
	"strconv"
	"sync"
	"time"

	"carillon"
	"carillon/internal/cache"
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

const (
	bulkMax   = 64
	freshMax  = 256
	freshBody = 8 << 10 // largest body that is cached for one recipient
	readMost  = 10 * time.Second
)

// entryCache holds notifications whose delivery is near. Those of several recipients are read once for all of them; one that
// was just accepted for a single recipient is used once.
type entryCache struct {
	bulk, fresh *cache.Cache[*entry]
}

func newEntryCache() entryCache {
	return entryCache{bulk: cache.New[*entry](bulkMax, readMost), fresh: cache.New[*entry](freshMax, readMost)}
}

func entryKey(seq carillon.Seq) string { return strconv.FormatInt(int64(seq), 36) }

// add caches a notification that was just accepted and is due now, so that its delivery need not read it.
func (c *entryCache) add(n store.Notification, req *request.Request) {
	n.CreatedAt, n.DueAt = n.CreatedAt.Truncate(time.Millisecond), n.DueAt.Truncate(time.Millisecond) // as stored
	key, to := entryKey(n.Seq()), c.bulk
	if n.Total == 1 {
		to = c.fresh
		if len(n.Body) > freshBody {
			return
		}
	}
	to.Put(key, &entry{n: &n, req: req}, key, to.Clock())
}

// get returns a notification, which it reads where it is not cached.
func (c *entryCache) get(ctx context.Context, seq carillon.Seq, read func(ctx context.Context) (*entry, error)) (*entry, error) {
	key := entryKey(seq)
	if e, ok := c.fresh.Peek(key); ok {
		c.fresh.Remove(key)
		return e, nil
	}
	e, err := c.bulk.Get(ctx, key, func(ctx context.Context) (*entry, string, error) {
		e, err := read(ctx)
		return e, key, err
	})
	if err == nil && e.n.Total == 1 {
		c.bulk.Remove(key)
	}
	return e, err
}

// drop forgets a notification that has changed, also where it is being read.
func (c *entryCache) drop(seq carillon.Seq) {
	c.bulk.Invalidate(entryKey(seq))
	c.fresh.Remove(entryKey(seq))
}

func (n *Notify) load(ctx context.Context, seq carillon.Seq) (*entry, error) {
	return n.entries.get(ctx, seq, func(ctx context.Context) (*entry, error) {
		row, err := n.store.LoadNotification(ctx, seq)
		if err != nil {
			return nil, err
		}
		req, err := requestOf(row)
		if err != nil {
			return nil, err
		}
		return &entry{n: row, req: req}, nil
	})
}
