package auth

import (
	"context"
	"maps"
	"sync"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// usage remembers when access keys were used until it is stored.
type usage struct {
	store *store.Store

	mu   sync.Mutex
	used map[string]time.Time // by key id
}

// touch remembers that a key was used; flush stores it later.
func (u *usage) touch(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.After(u.used[id]) {
		u.used[id] = now
	}
}

// last is when a key was last used, as far as stored or known to this node; zero when it was never used.
func (u *usage) last(key *accounts.AccessKey) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if t := u.used[key.ID]; t.After(key.LastUsed) {
		return t
	}
	return key.LastUsed
}

// flush stores when keys were used, in one transaction. What could not be stored is stored the next time.
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
