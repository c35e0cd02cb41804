package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/store/accounts"
)

// usage remembers when access keys were used, and stores it from time to time.
type usage struct {
	store *accounts.Store
	used  sync.Map // key id → *use
}

// use is when a key was last used, and which use was stored last; both in Unix ms.
type use struct{ at, stored atomic.Int64 }

// touch remembers that a key was used; flush stores it later.
func (u *usage) touch(id string, now time.Time) {
	k, ok := u.used.Load(id)
	if !ok {
		k, _ = u.used.LoadOrStore(id, new(use))
	}
	if at := &k.(*use).at; at.Load() < now.UnixMilli() {
		at.Store(now.UnixMilli())
	}
}

// last is when a key was last used, as far as stored or known to this node; zero when it was never used.
func (u *usage) last(key *accounts.AccessKey) time.Time {
	if k, ok := u.used.Load(key.ID); ok {
		if t := time.UnixMilli(k.(*use).at.Load()).UTC(); t.After(key.LastUsed) {
			return t
		}
	}
	return key.LastUsed
}

// flush stores when keys were used, in one transaction. What could not be stored is stored the next time.
func (u *usage) flush(ctx context.Context) error {
	times, uses := map[string]time.Time{}, map[string]*use{}
	u.used.Range(func(id, k any) bool {
		if at := k.(*use).at.Load(); at > k.(*use).stored.Load() {
			times[id.(string)], uses[id.(string)] = time.UnixMilli(at), k.(*use)
		}
		return true
	})
	if len(times) == 0 {
		return nil
	}
	if err := u.store.TouchKeys(ctx, times); err != nil {
		return err
	}
	for id, at := range times {
		uses[id].stored.Store(at.UnixMilli())
	}
	return nil
}
