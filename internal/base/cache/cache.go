// Package cache is a bounded cache whose entries are loaded once, however many ask for one at a time, and are
// invalidated by group. A group is a company: a change of one company's configuration leaves the others' entries alone.
//
// Entries of the group "" say that something does not exist, or belong to no company; any invalidation removes them.
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
	most    int
	size    func(V) int
	timeout time.Duration
	flights singleflight.Group

	mu      sync.RWMutex
	entries map[string]entry[V]
	used    int               // the size of all entries
	clock   uint64            // counts invalidations
	groups  map[string]uint64 // when each group was last invalidated
	all     uint64            // when everything last was
}

type entry[V any] struct {
	value V
	group string
	size  int
}

// New returns an empty cache of at most so many entries. A load may take as long as timeout.
func New[V any](most int, timeout time.Duration) *Cache[V] {
	return Sized(most, func(V) int { return 1 }, timeout)
}

// Sized is New with a bound on the total size of the entries. A value larger than the bound is not kept.
func Sized[V any](most int, size func(V) int, timeout time.Duration) *Cache[V] {
	return &Cache[V]{most: most, size: size, timeout: timeout, entries: map[string]entry[V]{}, groups: map[string]uint64{}}
}

// Get returns the entry of a key, loading it where it is missing. load returns the value and its group. Errors are not
// kept. A caller that leaves does not end the load, which others may wait for.
func (c *Cache[V]) Get(ctx context.Context, key string, load func(ctx context.Context) (V, string, error)) (V, error) {
	if v, ok := c.Peek(key); ok {
		return v, nil
	}
	began := c.Clock()
	// A load that began before an invalidation must not serve those who ask after it: the clock is part of its name.
	result := c.flights.DoChan(key+"\x00"+strconv.FormatUint(began, 36), func() (any, error) {
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

// Peek returns the entry of a key where it is cached.
func (c *Cache[V]) Peek(key string) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.entries[key]
	return e.value, ok
}

// Remove drops one entry.
func (c *Cache[V]) Remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

func (c *Cache[V]) remove(key string) {
	c.used -= c.entries[key].size
	delete(c.entries, key)
}

// Clock counts invalidations, for Put.
func (c *Cache[V]) Clock() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.clock
}

// Put stores what was read when the clock was began, unless its group has been invalidated since. A full cache drops an eighth of
// itself, whichever entries come first: were it all, a working set slightly too large would be loaded again and again.
func (c *Cache[V]) Put(key string, v V, group string, began uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all > began || c.groups[group] > began || group == "" && c.clock > began {
		return
	}
	e := entry[V]{v, group, c.size(v)}
	c.remove(key)
	if e.size > c.most {
		return
	}
	if c.used+e.size > c.most {
		room := c.most - max(e.size, c.most/8)
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

// maxGroups bounds the groups whose last invalidation is remembered; past it everything is invalidated.
const maxGroups = 4096

// Invalidate drops the entries of a group, and those that say that something does not exist.
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

// Clear drops everything.
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

// Size returns the size of all entries.
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
