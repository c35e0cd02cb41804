// Package configure changes configuration: transactions that publish the companies they affect, and caches that
// follow. A change invalidates the cache entries of its companies: immediately on the node that wrote it, within half
// a second on others, which poll the table invalidation.
package configure

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/base/cache"
	"carillon/internal/store/db"
)

const (
	maxEntries  = 250_000 // per kind: a hundred thousand senders with their templates, and some
	maxUnknown  = 8192
	longestName = 64 // bytes of a name remembered as unknown

	// allCompanies means every company in the table invalidation.
	allCompanies = "*"
)

// Configuration invalidates the caches of one store. Its methods are safe for concurrent use.
type Configuration struct {
	db         *db.DB
	seal       *Sealer
	caches     []invalidator
	generation atomic.Uint64
	own        sync.Map               // generations written and already invalidated by this node
	keys       *Names[*key]           // of companies
	links      *cache.Cache[[][]byte] // under ""
}

type invalidator interface {
	Invalidate(group string)
	Clear()
}

// New returns a configuration whose only caches are those of the companies' keys.
func New(d *db.DB, s *Sealer) *Configuration {
	c := &Configuration{db: d, seal: s}
	if s != nil {
		c.caches = append(c.caches, s.keys)
	}
	c.keys, c.links = NewNames[*key](c), Cache[[][]byte](c)
	return c
}

// Cache adds a cache that changes invalidate; its groups are companies. All are added before the first change.
func Cache[V any](c *Configuration) *cache.Cache[V] { return SlowCache[V](c, c.db.Timeout()) }

// SlowCache is Cache with a longer timeout for loading.
func SlowCache[V any](c *Configuration, load time.Duration) *cache.Cache[V] {
	x := cache.New[V](maxEntries, load)
	c.caches = append(c.caches, x)
	return x
}

// Sized is Cache with a bound on the total size of the values.
func Sized[V any](c *Configuration, most int, size func(V) int) *cache.Cache[V] {
	x := cache.Sized(most, size, c.db.Timeout())
	c.caches = append(c.caches, x)
	return x
}

// Names is a cache by name, where callers may make up names. Unknown names have a small separate cache, so that they
// do not evict configuration.
type Names[V any] struct {
	known   *cache.Cache[V]
	unknown *cache.Cache[struct{}]
}

// NewNames adds a Names that changes invalidate.
func NewNames[V any](c *Configuration) *Names[V] {
	n := &Names[V]{Cache[V](c), cache.New[struct{}](maxUnknown, c.db.Timeout())}
	c.caches = append(c.caches, n.unknown)
	return n
}

// Get returns the value of a name; the zero value if there is none. load returns it with its company, or
// sql.ErrNoRows.
func (n *Names[V]) Get(ctx context.Context, name string, load func(ctx context.Context) (V, string, error)) (v V, err error) {
	if v, known := n.known.Peek(name); known {
		return v, nil
	}
	if _, unknown := n.unknown.Peek(name); unknown {
		return v, nil
	}
	clock := n.unknown.Clock()
	v, err = n.known.Get(ctx, name, load)
	if errors.Is(err, sql.ErrNoRows) && len(name) <= longestName {
		n.unknown.Put(name, struct{}{}, "", clock)
	}
	return v, db.Ignore(err)
}

// Generation changes with every invalidation: copies of configuration kept elsewhere are stale then.
func (c *Configuration) Generation() uint64 { return c.generation.Load() }

// invalidate drops the entries of companies; none or allCompanies means all.
func (c *Configuration) invalidate(companies ...string) {
	c.generation.Add(1)
	for _, x := range c.caches {
		if len(companies) == 0 || slices.Contains(companies, allCompanies) {
			x.Clear()
			continue
		}
		for _, id := range companies {
			x.Invalidate(id)
		}
	}
}

// Tx is a transaction that may change configuration.
type Tx struct {
	*db.Tx
	Seal    *Sealer         // for the values that it writes
	changed map[string]bool // companies with changed configuration; nil outside Change
}

// Changes records that the transaction changes a company's configuration; "" means configuration of no company.
func (tx *Tx) Changes(companyID string) {
	if tx.changed != nil {
		tx.changed[companyID] = true
	}
}

// Everything records that the transaction changes configuration of any kind, also the absence of names.
func (tx *Tx) Everything() { tx.Changes(allCompanies) }

// Effect is the result of declaring one object of a set-up.
type Effect int

// The effects.
const (
	Unchanged Effect = iota
	Created
	Updated
)

// errUnchanged rolls back a change without effect.
var errUnchanged = errors.New("nothing changed")

// Update runs fn in its own transaction, which must not change cached data. fn must be repeatable: a deadlock or a
// serialization failure runs it again. On SQLite the caller's context bounds the wait, not the commit; on PostgreSQL
// it bounds both, and a COMMIT that it interrupts may or may not be stored.
func (c *Configuration) Update(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return c.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return fn(ctx, &Tx{Tx: tx, Seal: c.seal}) })
}

// Change runs fn in its own transaction. When it returns, this node reads the new state; other nodes follow within a
// second. It ignores cancellation by its caller: a key whose revocation was committed after the caller gave up must
// not stay in the caches. Changes are serialized by the row of the generation, so that counts stay valid. A change
// that names no company invalidates everything.
func (c *Configuration) Change(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	_, err := c.ChangeIf(ctx, func(ctx context.Context, tx *Tx) (bool, error) { return true, fn(ctx, tx) })
	return err
}

// ChangeIf is Change for a change that may have no effect: then the caches stay valid.
func (c *Configuration) ChangeIf(ctx context.Context, fn func(ctx context.Context, tx *Tx) (changed bool, err error)) (bool, error) {
	var companies []string
	var generation int64
	err := c.db.Update(context.WithoutCancel(ctx), func(ctx context.Context, dbtx *db.Tx) error {
		tx := &Tx{Tx: dbtx, Seal: c.seal, changed: map[string]bool{}}
		if err := tx.Row(ctx, []any{&generation},
			"UPDATE meta SET value = value + 1 WHERE name = 'generation' RETURNING value"); err != nil {
			return fmt.Errorf("raise the generation: %w", err)
		}
		changed, err := fn(ctx, tx)
		if err == nil && !changed {
			err = errUnchanged
		}
		if err != nil {
			return err
		}
		if companies = slices.Sorted(maps.Keys(tx.changed)); len(companies) == 0 {
			companies = []string{allCompanies}
		}
		b := db.NewBulk("invalidation", "ON CONFLICT (company_id) DO UPDATE SET generation = excluded.generation",
			"company_id:text", "generation:bigint")
		for _, id := range companies {
			b.Add(id, generation)
		}
		return b.Write(ctx, dbtx)
	})
	if errors.Is(err, errUnchanged) {
		return false, nil
	}
	if !c.db.SQLite() {
		c.own.Store(generation, true)
	}
	c.invalidate(companies...) // also after an error: possibly only the response to COMMIT was lost
	return err == nil, err
}

const followEvery = 500 * time.Millisecond

// Spread bounds the time until other nodes have learned of a change, while they reach the database.
const Spread = followEvery + 200*time.Millisecond

// Follow applies the invalidations of other nodes until ctx ends. After an error it invalidates everything, because it
// may have missed some.
func (c *Configuration) Follow(ctx context.Context) {
	seen := int64(0)
	for {
		companies, newest, err := c.invalidatedAfter(ctx, seen)
		switch {
		case err != nil:
			c.invalidate()
		case len(companies) > 0:
			c.invalidate(companies...)
		}
		seen = max(seen, newest)
		select {
		case <-ctx.Done():
			return
		case <-time.After(followEvery):
		}
	}
}

func (c *Configuration) invalidatedAfter(ctx context.Context, seen int64) (companies []string, newest int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	type invalidation struct {
		company    string
		generation int64
	}
	all, err := db.Collect(ctx, c.db, "invalidations", func(scan db.Scan) (x invalidation, err error) {
		err = scan(&x.company, &x.generation)
		return x, err
	},
		"SELECT company_id, generation FROM invalidation WHERE generation > $1 ORDER BY generation LIMIT 1000", seen)
	newest = seen
	for _, x := range all {
		newest = x.generation
		if _, own := c.own.LoadAndDelete(newest); !own {
			companies = append(companies, x.company)
		}
	}
	return companies, newest, err
}

// OwnedKey is the key of a cache for values of a company.
func OwnedKey(companyID, name string) string {
	return strconv.Itoa(len(companyID)) + ":" + companyID + name
}

// UIDKey is a sender's key in a cache.
func UIDKey(uid int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(uid))
	return string(b[:])
}
