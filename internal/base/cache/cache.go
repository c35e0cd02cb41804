// Package cache is a bounded cache whose entries are loaded once, however many callers ask at the same time, and are
// invalidated by group. A group is a company: a change of one company's configuration leaves the entries of other
// companies in place.
//
// The group "" holds entries that record that something does not exist, or that belong to no company. Any invalidation
// removes them.
package cache

import (
	"context"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Cache holds values by key. Make it with New. Values are shared and must not be changed.
type Cache[V any] struct {
	limit   int
	size    func(V) int
	timeout time.Duration
	flights singleflight.Group

	mu      sync.RWMutex
	entries map[string]entry[V]
	used    int               // total size of all entries
	clock   uint64            // counts invalidations
	groups  map[string]uint64 // value of clock when each group was last invalidated
	all     uint64            // value of clock when everything was last invalidated
}

type entry[V any] struct {
	value V
	group string
	size  int
}

// New returns an empty cache of at most that many entries. timeout bounds each load.
func New[V any](limit int, timeout time.Duration) *Cache[V] {
	return Sized(limit, func(V) int { return 1 }, timeout)
}

// Sized is New with a bound on the total size of the entries. A value larger than the bound is not kept.
func Sized[V any](limit int, size func(V) int, timeout time.Duration) *Cache[V] {
	return &Cache[V]{limit: limit, size: size, timeout: timeout, entries: map[string]entry[V]{}, groups: map[string]uint64{}}
}

// Get returns the entry of a key and loads it if it is missing. load returns the value and its group. Errors are not
// cached. A canceled caller does not end the load, because other callers may wait for it.
func (c *Cache[V]) Get(ctx context.Context, key string, load func(ctx context.Context) (V, string, error)) (V, error) {
	if v, ok := c.Peek(key); ok {
		return v, nil
	}
	began := c.Clock()
	// A load that began before an invalidation must not serve callers that ask after it, so the clock is part of the
	// key.
	result := c.flights.DoChan(key+"\x00"+strconv.FormatUint(began, 36), func() (any, error) {
		if v, ok := c.Peek(key); ok { // loaded since the caller looked
			return v, nil
		}
		loading, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
		defer cancel()
		v, group, err := load(loading)
		if err == nil {
			c.Put(key, v, group, began)
		}
		return v, err
	})
	select {
	case r := <-result:
		v, _ := r.Val.(V)
		return v, r.Err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Peek returns the entry of a key if it is cached.
func (c *Cache[V]) Peek(key string) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.entries[key]
	return e.value, ok
}

// Remove removes one entry.
func (c *Cache[V]) Remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

func (c *Cache[V]) remove(key string) {
	c.used -= c.entries[key].size
	delete(c.entries, key)
}

// Clock returns the number of invalidations so far, for Put.
func (c *Cache[V]) Clock() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.clock
}

// Put stores a value that was read when the clock was began, unless its group has been invalidated since. A full cache
// evicts an eighth of its size, in map order. Evicting everything would reload a slightly too large working set again
// and again.
func (c *Cache[V]) Put(key string, v V, group string, began uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all > began || c.groups[group] > began || group == "" && c.clock > began {
		return
	}
	e := entry[V]{v, group, c.size(v)}
	c.remove(key)
	if e.size > c.limit {
		return
	}
	if c.used+e.size > c.limit {
		room := c.limit - max(e.size, c.limit/8)
		for k := range c.entries {
			if c.used <= room {
				break
			}
			c.remove(k)
		}
	}
	c.entries[key] = e
	c.used += e.size
}

// maxGroups bounds the groups whose last invalidation is remembered. Beyond it, everything is invalidated.
const maxGroups = 4096

// Invalidate removes the entries of a group, and the entries of the group "".
func (c *Cache[V]) Invalidate(group string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	if len(c.groups) >= maxGroups {
		c.clear()
		return
	}
	c.groups[group] = c.clock
	for k, e := range c.entries {
		if e.group == group || e.group == "" {
			c.remove(k)
		}
	}
}

// Clear removes all entries.
func (c *Cache[V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	c.clear()
}

func (c *Cache[V]) clear() {
	c.all, c.used = c.clock, 0
	clear(c.entries)
	clear(c.groups)
}

// Size returns the total size of all entries.
func (c *Cache[V]) Size() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.used
}

// Len returns the number of entries.
func (c *Cache[V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.entries)
}
