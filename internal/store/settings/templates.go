package settings

import (
	"context"
	"sync/atomic"

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
	links      atomic.Pointer[string] // prefix of counted links
}

// NewTemplates returns the store of a database.
func NewTemplates(d *db.DB, c *configure.Configuration, subscribed func(ctx context.Context, companyID, topic string) bool) *Templates {
	return &Templates{d: d, config: c, subscribed: subscribed, bySender: configure.Cache[[]*carillon.Template](c)}
}

// CountClicks sets the prefix of counted links: templates are read with their counted buttons marked.
func (s *Templates) CountClicks(prefix string) {
	s.links.Store(&prefix)
	s.bySender.Clear()
}

// Links returns the prefix of counted links, "" before CountClicks.
func (s *Templates) Links() string {
	if p := s.links.Load(); p != nil {
		return *p
	}
	return ""
}
