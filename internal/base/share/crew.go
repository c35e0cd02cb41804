package share

import (
	"context"
	"sync"
)

// Crew works on due items of all companies in the background. The number of concurrent items is bounded in total and
// per company, so a company with a slow server delays nobody else. All fields are required.
type Crew[T any] struct {
	Places *Share
	Page   int // maximum number of items that Due returns; must exceed the number of places
	// Due returns due items, oldest first, except those of the companies in without.
	Due func(ctx context.Context, without []string) ([]T, error)
	// Key identifies an item, Company its company.
	Key, Company func(x T) string
	// Work processes an item. It returns false if the item may still be due, for example after a fault. The crew then
	// waits for the next call of Begin instead of trying again immediately.
	Work func(ctx context.Context, x T) bool
	// Wake requests a call of Begin: a place is free, and another item may be due.
	Wake func()

	mu       sync.Mutex
	underWay map[string]bool
	all      sync.WaitGroup
}

// Begin starts work on due items, as far as places are free, and returns without waiting for it. Call it on Wake and
// periodically. It returns the errors of Due.
func (c *Crew[T]) Begin(ctx context.Context) error {
	for {
		due, err := c.Due(ctx, c.Places.Full())
		if err != nil {
			return err
		}
		begun := 0
		for _, x := range due {
			if c.begin(ctx, x) {
				begun++
			}
		}
		if begun == 0 || len(due) < c.Page || ctx.Err() != nil {
			return nil //nolint:nilerr // the next round begins the rest
		}
	}
}

// Wait waits until all started work has ended.
func (c *Crew[T]) Wait() { c.all.Wait() }

// begin starts work on an item unless it is already in progress or no place is free.
func (c *Crew[T]) begin(ctx context.Context, x T) bool {
	key := c.Key(x)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underWay[key] {
		return false
	}
	place, ok := c.Places.Try(Holder{Company: c.Company(x)})
	if !ok {
		return false
	}
	if c.underWay == nil {
		c.underWay = map[string]bool{}
	}
	c.underWay[key] = true
	c.all.Go(func() {
		if c.work(ctx, x, key, place) {
			c.Wake()
		}
	})
	return true
}

// work processes an item. It releases the place before Wake is called.
func (c *Crew[T]) work(ctx context.Context, x T, key string, place *Place) bool {
	defer func() {
		c.mu.Lock()
		delete(c.underWay, key)
		c.mu.Unlock()
		place.Release()
	}()
	return c.Work(ctx, x)
}

// Full returns the companies that have reached their bound.
func (s *Share) Full() (companies []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range s.held[Company] {
		if s.resource.Company > 0 && n >= s.resource.Company {
			companies = append(companies, id)
		}
	}
	return companies
}
