// Package resources is the SQL of agents, knowledge, flows, widgets and webhooks: documents in one table, whose types belong
// to their areas.
package resources

import (
	"carillon/internal/cache"
	"carillon/internal/db"
	"carillon/internal/resource"
	"carillon/internal/store/configure"
	"carillon/internal/store/seal"
)

// Store reads and writes the table. Its methods are safe for concurrent use.
type Store struct {
	d      *db.DB
	seal   *seal.Sealer
	config *configure.Configuration
	agents *cache.Cache[*Agent]
	flows  *cache.Cache[bool]
	listed *cache.Cache[[]resource.Resource]
	found  *cache.Cache[found]
}

// New returns the store of a database.
func New(d *db.DB, s *seal.Sealer, c *configure.Configuration) *Store {
	return &Store{d: d, seal: s, config: c, agents: configure.Cache[*Agent](c), flows: configure.Cache[bool](c), listed: configure.Cache[[]resource.Resource](c), found: configure.Cache[found](c)}
}

// Tx writes inside a transaction.
type Tx struct {
	tx *configure.Tx
	s  *Store
}

// On returns a Tx for a transaction.
func (s *Store) On(tx *configure.Tx) *Tx { return &Tx{tx, s} }
