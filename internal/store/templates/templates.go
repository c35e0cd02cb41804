// Package templates is the SQL of templates. A sender's templates are read through a cache.
package templates

import (
	"carillon"
	"carillon/internal/cache"
	"carillon/internal/db"
	"carillon/internal/store/configure"
)

// Store reads and writes the table. Its methods are safe for concurrent use.
type Store struct {
	d        *db.DB
	config   *configure.Configuration
	bySender *cache.Cache[[]*carillon.Template]
}

// New returns the store of a database.
func New(d *db.DB, c *configure.Configuration) *Store {
	return &Store{d: d, config: c, bySender: configure.Cache[[]*carillon.Template](c)}
}

// Tx writes inside a transaction.
type Tx struct{ tx *configure.Tx }

// On returns a Tx for a transaction.
func (s *Store) On(tx *configure.Tx) *Tx { return &Tx{tx} }
