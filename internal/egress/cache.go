package egress

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// key is a digest: addresses are long, carry credentials and need not lie about in memory.
type key [sha256.Size]byte

func keyOf(kind Kind, address string) key {
	return sha256.Sum256(append([]byte{byte(kind)}, address...))
}

// cache keeps answers for a while, the least lately used going first, and lets one caller at a time find a missing one.
type cache struct {
	mu      sync.Mutex
	max     int
	order   *list.List // of *answer, the latest used in front
	byKey   map[key]*list.Element
	flights map[key]chan struct{} // questions under way; closed when answered, or given up
}

type answer struct {
	key   key
	err   error
	until time.Time
}

func newCache(entries int) *cache {
	return &cache{max: entries, order: list.New(), byKey: map[key]*list.Element{}, flights: map[key]chan struct{}{}}
}

// do answers from what is kept, or waits for the question under way, or asks. A caller whose context ends takes nobody
// along: one of those who wait asks anew.
func (c *cache) do(ctx context.Context, k key, ask func() (time.Duration, error)) error {
	for {
		flight, lead, kept := c.join(k)
		switch {
		case flight == nil:
			return kept
		case lead:
			return c.fly(ctx, k, flight, ask)
		}
		select {
		case <-flight: // its answer is kept, or it was given up
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// join gives the kept answer and no flight, or the flight under way, or a new one for the caller to lead.
func (c *cache) join(k key) (flight chan struct{}, lead bool, kept error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		if a := e.Value.(*answer); time.Now().Before(a.until) {
			c.order.MoveToFront(e)
			return nil, false, a.err
		}
		c.drop(e)
	}
	if flight, ok := c.flights[k]; ok {
		return flight, false, nil
	}
	flight = make(chan struct{})
	c.flights[k] = flight
	return flight, true, nil
}

// fly asks and keeps the answer, but not when the caller was called off: that says nothing about the file.
func (c *cache) fly(ctx context.Context, k key, flight chan struct{}, ask func() (time.Duration, error)) error {
	defer func() { // also when ask panics: nobody waits for ever
		c.mu.Lock()
		delete(c.flights, k)
		c.mu.Unlock()
		close(flight)
	}()
	keep, err := ask()
	if ctx.Err() != nil && err != nil {
		return errors.Join(ctx.Err(), err)
	}
	c.put(k, err, keep)
	return err
}

func (c *cache) put(k key, err error, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byKey[k] = c.order.PushFront(&answer{key: k, err: err, until: time.Now().Add(keep)})
	for c.order.Len() > c.max {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	c.order.Remove(e)
	delete(c.byKey, e.Value.(*answer).key)
}
