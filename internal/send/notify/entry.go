package notify

import (
	"context"
	"strconv"
	"sync"
	"time"

	"carillon/internal/store/messages"

	"carillon"
	"carillon/internal/send/request"
)

// entry is a notification with its parsed body, shared by the recipients of a bulk send.
type entry struct {
	n   *messages.Notification
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
	entriesMost = 64
	readMost    = 10 * time.Second
)

func entryKey(seq carillon.Seq) string { return strconv.FormatInt(int64(seq), 36) }

// load returns a notification whose delivery is near. One of several recipients is read once for all of them.
func (n *Notify) load(ctx context.Context, seq carillon.Seq) (*entry, error) {
	key := entryKey(seq)
	e, err := n.entries.Get(ctx, key, func(ctx context.Context) (*entry, string, error) {
		row, err := n.store.Notifications.Load(ctx, seq)
		if err != nil {
			return nil, "", err
		}
		req, err := requestOf(row)
		if err != nil {
			return nil, "", err
		}
		return &entry{n: row, req: req}, key, nil
	})
	if err == nil && e.n.Total == 1 {
		n.entries.Remove(key)
	}
	return e, err
}
