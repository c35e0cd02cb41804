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
	reading map[any]chan struct{} // keys that are being read; closed at the end
}

// directoryMax bounds the entries: a hundred thousand senders with their templates, and some.
const directoryMax = 250_000

func (d *directory) drop() {
	d.mu.Lock()
	d.version++
	d.entries = nil
	d.mu.Unlock()
}

func (d *directory) find(key any) (v any, version uint64, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	v, ok = d.entries[key]
	return v, d.version, ok
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
	if len(d.entries) >= directoryMax {
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

// claim makes the caller the one who reads a key, or gives what closes when another has read it.
func (d *directory) claim(key any) (others chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.reading[key]; c != nil {
		return c
	}
	if d.reading == nil {
		d.reading = map[any]chan struct{}{}
	}
	d.reading[key] = make(chan struct{})
	return nil
}

func (d *directory) release(key any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.reading[key])
	delete(d.reading, key)
}

// cached gives the entry under key, loaded once, however many ask for it at a time. Errors are not kept, except through
// a value that says absent.
func cached[K comparable, V any](ctx context.Context, d *directory, key K, load func(ctx context.Context) (V, error)) (V, error) {
	var none V
	for {
		e, _, ok := d.find(key)
		if ok {
			return e.(V), nil
		}
		others := d.claim(key)
		if others == nil {
			break
		}
		select {
		case <-others: // it may have failed, by its own deadline perhaps
		case <-ctx.Done():
			return none, unavailable(ctx.Err())
		}
	}
	defer d.release(key)
	e, version, ok := d.find(key) // one who read it may have ended between the look and the claim
	if ok {
		return e.(V), nil
	}
	v, err := load(ctx)
	if err == nil {
		d.keep(version, key, v)
	}
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
