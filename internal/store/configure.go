package store

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/cache"
	"carillon/internal/store/configure"
)

// rosterMost bounds the time to read all of a company's senders.
const rosterMost = 30 * time.Second

// caches hold configuration by kind.
type caches struct {
	rosters *cache.Cache[*roster] // by company
	senders *cache.Cache[*carillon.Sender]
	named   *cache.Cache[[]*carillon.Sender] // by id, and by id or number
	window  *cache.Cache[Maintenance]
	unknown *cache.Cache[struct{}] // ids and numbers that no sender has
}

func newCaches(c *configure.Configuration) *caches {
	return &caches{
		rosters: configure.SlowCache[*roster](c, rosterMost), senders: configure.Cache[*carillon.Sender](c),
		named: configure.Cache[[]*carillon.Sender](c), window: configure.Cache[Maintenance](c),
		unknown: configure.UnknownCache(c),
	}
}

// Generation changes with every invalidation: a copy of configuration kept elsewhere is stale then.
func (s *Store) Generation() uint64 { return s.config.Generation() }

// Configure is Update for what caches hold: companies, keys, senders, templates, suppressions (configure.Change).
func (s *Store) Configure(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error { return fn(ctx, s.on(tx)) })
}

// configureIf is Configure for a change that may find nothing to change: then the caches stay.
func (s *Store) configureIf(ctx context.Context, fn func(ctx context.Context, tx *Tx) (changed bool, err error)) (bool, error) {
	return s.config.ChangeIf(ctx, func(ctx context.Context, tx *configure.Tx) (bool, error) { return fn(ctx, s.on(tx)) })
}
