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
	reading map[any]*reading // under way since the last drop
}

// reading is the read of an entry, whose end others wait for.
type reading struct {
	version uint64
	done    chan struct{}
	value   any
	err     error
	own     bool // it ended for reasons of its caller's, who left: that says nothing to the others
}

const (
	// directoryMax bounds the entries: a hundred thousand senders with their templates, and some.
	directoryMax = 250_000
	// readingMost is how long a read may take, rosterMost that of all of a company's senders.
	readingMost, rosterMost = 5 * time.Second, 30 * time.Second
)

// drop forgets everything. Whoever asks from now on is not told what a read finds that began before.
func (d *directory) drop() {
	d.mu.Lock()
	d.version++
	d.entries, d.reading = nil, nil
	d.mu.Unlock()
}

func (d *directory) find(key any) (any, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	v, ok := d.entries[key]
	return v, ok
}

// keep stores an entry that was read at a version. A full directory loses an eighth: were it all, whoever needs a little
// more than fits would read everything anew each time.
func (d *directory) keep(version uint64, key, v any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.version != version {
		return
	}
	if d.entries == nil {
		d.entries = map[any]any{}
	}
	if _, there := d.entries[key]; !there && len(d.entries) >= directoryMax {
		n := directoryMax / 8
		for k := range d.entries {
			if n--; n < 0 {
				break
			}
			delete(d.entries, k)
		}
	}
	d.entries[key] = v
}

// join gives the read of a key that is under way, or a new one, which is the caller's to make.
func (d *directory) join(key any) (r *reading, mine bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.reading[key]; r != nil {
		return r, false
	}
	r = &reading{version: d.version, done: make(chan struct{}), own: true}
	if v, ok := d.entries[key]; ok { // kept since the caller looked
		r.value, r.own = v, false
		close(r.done)
		return r, false
	}
	if d.reading == nil {
		d.reading = map[any]*reading{}
	}
	d.reading[key] = r
	return r, true
}

func (d *directory) end(key any, r *reading) {
	d.mu.Lock()
	if d.reading[key] == r {
		delete(d.reading, key)
	}
	d.mu.Unlock()
	close(r.done)
}

// cached gives the entry under key, loaded once, however many ask for it at a time. Errors are not kept, except through
// a value that says absent.
func cached[K comparable, V any](ctx context.Context, d *directory, key K, load func(ctx context.Context) (V, error)) (V, error) {
	return cachedWithin(ctx, d, key, readingMost, load)
}

// cachedWithin is cached for a read that may take longer.
func cachedWithin[K comparable, V any](ctx context.Context, d *directory, key K, most time.Duration, load func(ctx context.Context) (V, error)) (V, error) {
	if v, ok := d.find(key); ok {
		return v.(V), nil
	}
	limit := time.NewTimer(most + time.Second) // the reader is bounded: it should end before
	defer limit.Stop()
	for {
		r, mine := d.join(key)
		if mine {
			return readFor(ctx, d, key, r, most, load)
		}
		select {
		case <-r.done:
		case <-limit.C:
			return bounded(ctx, most, load)
		case <-ctx.Done():
			var none V
			return none, unavailable(ctx.Err())
		}
		if !r.own {
			v, _ := r.value.(V)
			return v, r.err
		}
	}
}

// bounded ends a read that takes too long.
func bounded[V any](ctx context.Context, most time.Duration, load func(ctx context.Context) (V, error)) (V, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	v, err := load(ctx)
	return v, unavailable(err)
}

// readFor reads an entry for the caller and for those who wait for it.
func readFor[K comparable, V any](ctx context.Context, d *directory, key K, r *reading, most time.Duration, load func(ctx context.Context) (V, error)) (V, error) {
	defer d.end(key, r)
	v, err := bounded(ctx, most, load)
	if err == nil {
		d.keep(r.version, key, v)
	}
	r.value, r.err, r.own = v, err, err != nil && ctx.Err() != nil
	return v, err
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
