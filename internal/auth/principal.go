package auth

import (
	"context"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/store"
)

// PresentedKey is the access_key of a request. Present distinguishes an empty one from none: if present, it alone counts.
type PresentedKey struct {
	Key     string
	Present bool
}

// Principal is the holder of an access key, or of a company token made from it.
type Principal struct {
	Company   *carillon.Company
	KeyID     string
	ExpiresAt time.Time // of the key; zero: never
	scopes    []string
}

// Allows reports whether the key has the scope.
func (p *Principal) Allows(s Scope) bool { return allows(p.scopes, s) }

// maxKey bounds the access keys that are looked up at all.
const maxKey = 256

// Principal resolves the credential of a request: an access_key if present, and authorization is ignored; else a company
// token as Bearer, but never a user's token. It does not check the company's state or the scope. Errors: unauthorized, whose reason is missing, invalid, expired or revoked.
func (a *Auth) Principal(ctx context.Context, key PresentedKey, authorization string) (*Principal, error) {
	if !key.Present {
		if token, ok := bearer(authorization); ok {
			return a.companyPrincipal(ctx, token)
		}
	}
	if key.Key == "" {
		return nil, carillon.NoAccess("The access key is missing", reasonMissing)
	}
	if len(key.Key) > maxKey {
		return nil, badKey(reasonInvalid)
	}
	k, err := a.store.AccessKey(ctx, key.Key)
	if err != nil {
		return nil, err
	}
	return a.principal(ctx, k)
}

// principal checks a key and returns its principal.
func (a *Auth) principal(ctx context.Context, k *store.AccessKey) (*Principal, error) {
	now := time.Now()
	switch {
	case k == nil:
		return nil, badKey(reasonInvalid)
	case !k.RevokedAt.IsZero():
		return nil, badKey(reasonRevoked)
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return nil, badKey(reasonExpired)
	}
	company, err := a.store.Company(ctx, k.CompanyID)
	if err != nil {
		if carillon.IsCode(err, carillon.NotFound) { // deleted between the two lookups
			return nil, badKey(reasonInvalid)
		}
		return nil, err
	}
	a.touch(k.ID, now)
	return &Principal{Company: company, KeyID: k.ID, ExpiresAt: k.ExpiresAt, scopes: k.Scopes}, nil
}

// The values of details.reason in a 401 unauthorized.
const (
	reasonMissing = "missing"
	reasonInvalid = "invalid"
	reasonExpired = "expired"
	reasonRevoked = "revoked"
)

func badKey(reason string) *carillon.Error {
	return carillon.NoAccess("The access key is "+reason, reason)
}

// use is when a key was last used, and which use was stored last; both in Unix ms.
type use struct{ at, stored atomic.Int64 }

// touch remembers that a key was used; Run stores it later.
func (a *Auth) touch(id string, now time.Time) {
	u, ok := a.used.Load(id)
	if !ok {
		u, _ = a.used.LoadOrStore(id, new(use))
	}
	if at := &u.(*use).at; at.Load() < now.UnixMilli() {
		at.Store(now.UnixMilli())
	}
}

// LastUsed is when a key was last used, as far as stored or known to this node; zero when it was never used.
func (a *Auth) LastUsed(k *store.AccessKey) time.Time {
	if u, ok := a.used.Load(k.ID); ok {
		if t := time.UnixMilli(u.(*use).at.Load()).UTC(); t.After(k.LastUsed) {
			return t
		}
	}
	return k.LastUsed
}

// flushUsed stores when keys were used, in one transaction. What could not be stored is stored the next time.
func (a *Auth) flushUsed(ctx context.Context) error {
	used := map[string]time.Time{}
	a.used.Range(func(id, u any) bool {
		if at := u.(*use).at.Load(); at > u.(*use).stored.Load() {
			used[id.(string)] = time.UnixMilli(at)
		}
		return true
	})
	if len(used) == 0 {
		return nil
	}
	if err := a.store.TouchKeys(ctx, used); err != nil {
		return err
	}
	for id, at := range used {
		if u, ok := a.used.Load(id); ok {
			u.(*use).stored.Store(at.UnixMilli())
		}
	}
	return nil
}
