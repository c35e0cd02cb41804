package store

import (
	"context"

	"carillon/internal/store/configure"
)

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
