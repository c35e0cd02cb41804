package store

import (
	"context"
	"sync"
	"time"
)

// directory caches configuration: companies, keys, senders, templates. It is emptied whenever the generation number in
// `meta` rises: at once on the node that wrote, within half a second on others. Entries are shared and never changed.
type directory struct {
	mu      sync.RWMutex
	version uint64 // counts drops; a read that began before a drop is not kept
	entries map[any]any
}

// directoryMax bounds the entries; a full cache starts over.
const directoryMax = 100_000

func (d *directory) drop() {
	d.mu.Lock()
	d.version++
	d.entries = nil
	d.mu.Unlock()
}

// cached gives the entry under key, loaded once. Errors are not kept, except through a value that says absent.
func cached[K comparable, V any](ctx context.Context, d *directory, key K, load func(ctx context.Context) (V, error)) (V, error) {
	d.mu.RLock()
	e, ok := d.entries[key]
	version := d.version
	d.mu.RUnlock()
	if ok {
		return e.(V), nil
	}
	v, err := load(ctx)
	if err != nil {
		return v, err
	}
	d.mu.Lock()
	if d.version == version {
		if d.entries == nil || len(d.entries) >= directoryMax {
			d.entries = map[any]any{}
		}
		d.entries[key] = v
	}
	d.mu.Unlock()
	return v, nil
}

// Generation tells when a copy of configuration kept outside is stale: it changes with every drop.
func (s *Store) Generation() uint64 {
	s.dir.mu.RLock()
	defer s.dir.mu.RUnlock()
	return s.dir.version
}

const generationEvery = 500 * time.Millisecond

// followGeneration empties the caches when another node wrote configuration. On its way it ends sessions that stalled.
func (s *Store) followGeneration(ctx context.Context) {
	var seen int64
	for {
		var now int64
		rctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := s.row(rctx, []any{&now}, "SELECT value FROM meta WHERE name = 'generation'")
		if n, err := s.endStalled(rctx); err == nil && n > 0 {
			s.log.WarnContext(ctx, "ended sessions that held locks and waited for a node that had stopped", "sessions", n)
		}
		cancel()
		// A database that does not answer may have changed: what is cached is not to be trusted past it.
		if err != nil || now != seen {
			s.dir.drop()
			seen = now
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(generationEvery):
		}
	}
}
