package auth

import (
	"context"
	"maps"
	"sync"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// usage collects the times at which access keys were used until they are stored.
type usage struct {
	store *store.Store

	mu   sync.Mutex
	used map[string]time.Time // by key id
}

// touch records that a key was used. flush stores it later.
func (u *usage) touch(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.After(u.used[id]) {
		u.used[id] = now
	}
}

// last returns when a key was last used, as far as this node knows, or the zero time if it was never used.
func (u *usage) last(key *accounts.AccessKey) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if t := u.used[key.ID]; t.After(key.LastUsed) {
		return t
	}
	return key.LastUsed
}

// flush stores when keys were used, in one transaction. Times that could not be stored are kept for the next call.
func (u *usage) flush(ctx context.Context) error {
	u.mu.Lock()
	times := maps.Clone(u.used)
	u.mu.Unlock()
	if len(times) == 0 {
		return nil
	}
	if err := u.store.Keys.TouchKeys(ctx, times); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.used, func(id string, at time.Time) bool { return at.Equal(times[id]) })
	return nil
}
