package share

import (
	"context"
	"sync"
)

// Crew works in the background at what is due, of all companies. It works at a bounded number of things at once, of which a company
// has its part: a company whose server is slow holds up nobody else. All fields are required.
type Crew[T any] struct {
	Places *Share
	Page   int // the most that Due returns; more than there are places
	// Due returns what is due, the oldest first, except for the companies in without.
	Due func(ctx context.Context, without []string) ([]T, error)
	// Key identifies a thing, and Company its company.
	Key, Company func(x T) string
	// Work works at a thing. It returns false where the thing may still be due, after a fault for example: then the crew waits for the
	// next call of Begin instead of trying again at once.
	Work func(ctx context.Context, x T) bool
	// Wake has Begin called again, for there is a place, and another thing may be due.
	Wake func()

	mu       sync.Mutex
	underWay map[string]bool
	all      sync.WaitGroup
}

// Begin begins to work at what is due, as far as there are places, and returns before that ends. Call it when Wake asks for it and
// now and then. Errors: those of Due.
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
			return nil
		}
	}
}

// Wait returns when what was begun has ended.
func (c *Crew[T]) Wait() { c.all.Wait() }

// begin begins to work at a thing, unless that is under way, or there is no place.
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

// work works at a thing, and leaves its place before anybody is woken.
func (c *Crew[T]) work(ctx context.Context, x T, key string, place *Place) bool {
	defer func() {
		c.mu.Lock()
		delete(c.underWay, key)
		c.mu.Unlock()
		place.Release()
	}()
	return c.Work(ctx, x)
}

// Full returns the companies that hold all that they may.
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
