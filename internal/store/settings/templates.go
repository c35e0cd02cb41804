package settings

import (
	"context"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Templates is the SQL of templates. A sender's templates are read through a cache. Its methods are safe for concurrent
// use.
type Templates struct {
	d          *db.DB
	subscribed func(ctx context.Context, companyID, topic string) bool
	config     *configure.Configuration
	bySender   *cache.Cache[[]*carillon.Template]
}

// NewTemplates returns the store of a database.
func NewTemplates(d *db.DB, c *configure.Configuration, subscribed func(ctx context.Context, companyID, topic string) bool) *Templates {
	return &Templates{d: d, config: c, subscribed: subscribed, bySender: configure.Cache[[]*carillon.Template](c)}
}
