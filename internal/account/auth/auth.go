// Package auth identifies callers: people by e-mail, password and tokens, programs by access keys and company tokens.
//
//	sign-in ──▶ session ──▶ access token (JWT, 1 h) + refresh token (opaque, used once)
//	               ▲                                    │
//	               └──────────── refresh ◀──────────────┘   reuse ends the session, except within 10 s
//	access key ──▶ company token (JWT, 1 h; dies with the key)
//
// It does not handle HTTP: packages api and panel pass the credentials and write the responses.
package auth

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"time"

	"carillon/internal/account/limit"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// Options configure the package. The zero value works.
type Options struct {
	Params        Params // of password hashes; default: 19 MiB, 2 passes, 1 thread
	Hashes        int    // concurrent password hashes; default: half of GOMAXPROCS, at least 1
	FailedSignIns int    // per minute, for one address or one e-mail; 0 means the default of 10, negative no limit
	Logger        *slog.Logger
	Shares        *share.Set // nil: separate shares
}

const (
	issuer      = "carillon"          // the iss claim of tokens
	tokenLife   = time.Hour           // of access and company tokens
	sessionLife = 30 * 24 * time.Hour // since the last refresh
	hashQueue   = 256                 // sign-ins that may wait for a password hash
)

// Auth resolves credentials to callers. Its methods are safe for concurrent use.
type Auth struct {
	store  *store.Store
	limits *limit.Limits
	o      Options
	hasher *hasher
	keys   *keyring
	usage  usage
}

// PublicKeys returns the keys that verify tokens, including the standby key.
func (a *Auth) PublicKeys(ctx context.Context) ([]JWK, error) { return a.keys.public(ctx) }

// LastUsed returns when a key was last used, as far as this node knows, or the zero time if it was never used.
func (a *Auth) LastUsed(k *accounts.AccessKey) time.Time { return a.usage.last(k) }

// New returns an Auth that uses a store.
func New(s *store.Store, limits *limit.Limits, o Options) *Auth {
	o.Params = cmp.Or(o.Params, defaultParams())
	o.Hashes = cmp.Or(o.Hashes, max(1, runtime.GOMAXPROCS(0)/2))
	o.FailedSignIns = cmp.Or(o.FailedSignIns, 10)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Auth{
		store: s, limits: limits, o: o, hasher: newHasher(o.Params, o.Hashes, hashQueue, o.Shares), keys: &keyring{store: s},
		usage: usage{store: s, used: map[string]time.Time{}},
	}
}

const (
	flushEvery = 30 * time.Second // last_used is accurate to a minute
	keysEvery  = time.Minute
	sweepEvery = time.Hour
	linksShown = 30 * 24 * time.Hour // retention of expired links, which can be sent again
)

// Run stores when keys were used, rotates the signing keys, deletes expired sessions and reads the cost of stored
// passwords, until ctx ends. Then it stores once more when keys were used.
func (a *Auth) Run(ctx context.Context) error {
	var keys, sweep time.Time
	for {
		now := time.Now()
		if !now.Before(keys) {
			a.report(ctx, "rotate signing keys", a.keys.rotate(ctx))
			keys = now.Add(keysEvery)
		}
		if !now.Before(sweep) {
			a.report(ctx, "delete old sessions", a.store.Sessions.DropSessions(ctx, now))
			a.report(ctx, "delete old invitations", a.store.Links.DropLinks(ctx, now.Add(-linksShown)))
			a.report(ctx, "read what stored passwords cost", a.hasher.learn(ctx, a.store))
			sweep = now.Add(sweepEvery)
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return a.usage.flush(last)
		case <-time.After(flushEvery):
			a.report(ctx, "store when keys were used", a.usage.flush(ctx))
		}
	}
}

// report logs an error of a periodic task.
func (a *Auth) report(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		a.o.Logger.WarnContext(ctx, "cannot "+what, "error", err)
	}
}
