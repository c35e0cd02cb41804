// Package templates is the SQL of templates. A sender's templates are read through a cache.
package templates

import (
	"context"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Store reads and writes the table. Its methods are safe for concurrent use.
type Store struct {
	d          *db.DB
	subscribed func(ctx context.Context, companyID, topic string) bool
	config     *configure.Configuration
	bySender   *cache.Cache[[]*carillon.Template]
}

// New returns the store of a database.
func New(d *db.DB, c *configure.Configuration, subscribed func(ctx context.Context, companyID, topic string) bool) *Store {
	return &Store{d: d, config: c, subscribed: subscribed, bySender: configure.Cache[[]*carillon.Template](c)}
}
