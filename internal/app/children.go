package app

import (
	"maps"
	"sync"
	"sync/atomic"
)

// children are the series of a metric by their labels, made when first asked for. Asking again costs one look into a map
// that never changes: the labels come from closed lists, so that soon there is nothing to add.
type children[K comparable, V any] struct {
	make func(K) V
	all  atomic.Pointer[map[K]V]
	mu   sync.Mutex // held while adding
}

func (c *children[K, V]) of(k K) V {
	if all := c.all.Load(); all != nil {
		if v, ok := (*all)[k]; ok {
			return v
		}
	}
	return c.add(k)
}

func (c *children[K, V]) add(k K) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := map[K]V{}
	if all := c.all.Load(); all != nil {
		if v, ok := (*all)[k]; ok {
			return v
		}
		next = maps.Clone(*all)
	}
	v := c.make(k)
	next[k] = v
	c.all.Store(&next)
	return v
}
