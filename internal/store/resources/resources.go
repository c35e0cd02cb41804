// Package resources is the SQL of agents, knowledge, flows, widgets and webhooks: documents in one table, whose types belong
// to their areas.
package resources

import (
	"sync/atomic"

	"carillon/internal/base/cache"
	"carillon/internal/base/resource"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Store reads and writes the table. Its methods are safe for concurrent use.
type Store struct {
	d      *db.DB
	seal   *configure.Sealer
	config *configure.Configuration
	agents *cache.Cache[*Agent]
	events *cache.Cache[map[string]bool] // events that start flows, by company
	listed *cache.Cache[[]resource.Resource]
	heads  *cache.Cache[[]Head]
	found  *cache.Cache[found]

	analyzed atomic.Int64 // time of the last renewal of statistics, in milliseconds
}

// New returns the store of a database.
func New(d *db.DB, s *configure.Sealer, c *configure.Configuration) *Store {
	return &Store{
		d: d, seal: s, config: c, agents: configure.Cache[*Agent](c), events: configure.Cache[map[string]bool](c),
		listed: configure.Cache[[]resource.Resource](c),
		heads:  configure.Sized(c, maxHeads, sizeOfHeads), found: configure.Cache[found](c),
	}
}
