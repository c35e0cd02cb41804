package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/cache"
	"carillon/internal/db"
)

// Configuration is read through caches, whose entries belong to companies. A change invalidates those of the companies it
// concerns: at once on the node that wrote it, within half a second on others, which follow the table invalidation.

const (
	entriesMost = 250_000 // of a kind: a hundred thousand senders with their templates, and some
	unknownMost = 8192    // names that nobody has; separate, so that made-up ones do not evict configuration
	loadMost    = 5 * time.Second
	rosterMost  = 30 * time.Second // to read all of a company's senders

	// allCompanies stands for every company in the table invalidation.
	allCompanies = "*"
)

// caches hold configuration by kind.
type caches struct {
	companies *cache.Cache[*carillon.Company]
	keys      *cache.Cache[*AccessKey] // by digest, and by id
	rosters   *cache.Cache[*roster]    // by company
	senders   *cache.Cache[*carillon.Sender]
	named     *cache.Cache[[]*carillon.Sender] // by id, and by id or number
	templates *cache.Cache[[]*carillon.Template]
	agents    *cache.Cache[*carillon.Agent]
	flows     *cache.Cache[bool]
	window    *cache.Cache[Maintenance]
	unknown   *cache.Cache[struct{}] // keys, ids and numbers that nobody has

	all        []invalidator
	generation atomic.Uint64
	own        sync.Map // generations that this node wrote, and has invalidated by itself
}

type invalidator interface {
	Invalidate(group string)
	Clear()
}

func newCaches() *caches {
	c := &caches{
		companies: cache.New[*carillon.Company](entriesMost, loadMost), keys: cache.New[*AccessKey](entriesMost, loadMost),
		rosters: cache.New[*roster](entriesMost, rosterMost), senders: cache.New[*carillon.Sender](entriesMost, loadMost),
		named: cache.New[[]*carillon.Sender](entriesMost, loadMost), templates: cache.New[[]*carillon.Template](entriesMost, loadMost),
		agents: cache.New[*carillon.Agent](entriesMost, loadMost), flows: cache.New[bool](entriesMost, loadMost),
		window: cache.New[Maintenance](1, loadMost), unknown: cache.New[struct{}](unknownMost, loadMost),
	}
	c.all = []invalidator{c.companies, c.keys, c.rosters, c.senders, c.named, c.templates, c.agents, c.flows, c.window, c.unknown}
	return c
}

// invalidate drops the entries of companies; none, or allCompanies, means all.
func (c *caches) invalidate(companies ...string) {
	c.generation.Add(1)
	for _, x := range c.all {
		if len(companies) == 0 || slices.Contains(companies, allCompanies) {
			x.Clear()
			continue
		}
		for _, id := range companies {
			x.Invalidate(id)
		}
	}
}

// uidKey is a sender's key in a cache.
func uidKey(uid int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(uid)) //nolint:gosec // the same bits
	return string(b[:])
}

// Generation changes with every invalidation: a copy of configuration kept elsewhere is stale then.
func (s *Store) Generation() uint64 { return s.caches.generation.Load() }

// changes records that the transaction changes a company's configuration.
func (tx *Tx) changes(companyID string) {
	if tx.changed != nil {
		tx.changed[companyID] = true
	}
}

// errUnchanged rolls back a configuration that turned out to change nothing.
var errUnchanged = errors.New("nothing changed")

// Configure is Update for what the caches hold: companies, keys, senders, templates, suppressions. Once it has
// returned this node reads the new state; other nodes follow within a second. It is not given up with its caller: a
// key revoked by a commit that nobody waited for must not stay in the caches. Configurations follow each other, because each
// begins with the row of the generation: what one counts, another does not change. One that changes no company's
// configuration, as far as it says, invalidates everything.
func (s *Store) Configure(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	_, err := s.configureIf(ctx, func(ctx context.Context, tx *Tx) (bool, error) { return true, fn(ctx, tx) })
	return err
}

// configureIf is Configure for a change that may find nothing to change: then the caches stay.
func (s *Store) configureIf(ctx context.Context, fn func(ctx context.Context, tx *Tx) (changed bool, err error)) (bool, error) {
	var companies []string
	var generation int64
	err := s.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *Tx) error {
		tx.changed = map[string]bool{}
		if err := tx.Row(ctx, []any{&generation}, "UPDATE meta SET value = value + 1 WHERE name = 'generation' RETURNING value"); err != nil {
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
		b := db.NewBulk("invalidation", "ON CONFLICT (company_id) DO UPDATE SET generation = excluded.generation", "company_id:text", "generation:bigint")
		for _, id := range companies {
			b.Add(id, generation)
		}
		return b.Write(ctx, tx.Tx)
	})
	if errors.Is(err, errUnchanged) {
		return false, nil
	}
	if !s.SQLite() {
		s.caches.own.Store(generation, true)
	}
	s.caches.invalidate(companies...) // also after an error: the COMMIT's response may be all that was lost
	return err == nil, err
}

const followEvery = 500 * time.Millisecond

// followInvalidations invalidates what other nodes changed, until ctx ends. A database that does not respond may have
// changed: what is cached is not to be trusted past it.
func (s *Store) followInvalidations(ctx context.Context) {
	seen := int64(0)
	for {
		companies, newest, err := s.invalidatedAfter(ctx, seen)
		switch {
		case err != nil:
			s.caches.invalidate()
		case len(companies) > 0:
			s.caches.invalidate(companies...)
		}
		seen = max(seen, newest)
		select {
		case <-ctx.Done():
			return
		case <-time.After(followEvery):
		}
	}
}

func (s *Store) invalidatedAfter(ctx context.Context, seen int64) (companies []string, newest int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	rows, err := s.Query(ctx, "SELECT company_id, generation FROM invalidation WHERE generation > $1 ORDER BY generation LIMIT 1000", seen)
	if err != nil {
		return nil, 0, fmt.Errorf("follow invalidations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	newest = seen
	for rows.Next() {
		var id string
		if err := rows.Scan(&id, &newest); err != nil {
			return nil, 0, fmt.Errorf("follow invalidations: %w", err)
		}
		if _, own := s.caches.own.LoadAndDelete(newest); !own {
			companies = append(companies, id)
		}
	}
	return companies, newest, rows.Err()
}

// ownedKey is the key of what belongs to a company.
func ownedKey(companyID, name string) string {
	return strconv.Itoa(len(companyID)) + ":" + companyID + name
}
