// Package accounts is the SQL of companies, accounts and their roles, sessions, signing keys and access keys. Companies and
// access keys are read through caches.
package accounts

import (
	"context"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/seal"
)

// Store reads and writes the tables. Its methods are safe for concurrent use.
type Store struct {
	d         *db.DB
	seal      *seal.Sealer
	config    *configure.Configuration
	companies *cache.Cache[*carillon.Company]
	keys      *configure.Names[*AccessKey] // by digest, and by id
}

// New returns the store of a database.
func New(d *db.DB, s *seal.Sealer, c *configure.Configuration) *Store {
	return &Store{
		d: d, seal: s, config: c,
		companies: configure.Cache[*carillon.Company](c), keys: configure.NewNames[*AccessKey](c),
	}
}

// Tx writes inside a transaction.
type Tx struct {
	tx *configure.Tx
	s  *Store
}

// On returns a Tx for a transaction.
func (s *Store) On(tx *configure.Tx) *Tx { return &Tx{tx, s} }

// Configure runs fn in a transaction that changes configuration.
func (s *Store) Configure(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error { return fn(ctx, s.On(tx)) })
}
