package share

import (
	"context"
	"sync"
)

// Crew works in the background at what is due of all companies, at so many things at once, of which one company has its part: a
// company whose server is slow holds up nobody else. All fields are required.
type Crew[T any] struct {
	Places *Share
	Page   int // of what Due returns at most
	// Due returns what is due, in order, but of the companies without.
	Due func(ctx context.Context, without []string) ([]T, error)
	// Key names a thing, and Company the company that it is of.
	Key, Company func(x T) string
	// Work works at a thing, which is due no longer when it returns; it reports whether another one may be due now.
	Work func(ctx context.Context, x T) bool
	// Wake has Begin called again.
	Wake func()

	mu       sync.Mutex
	underWay map[string]bool
	left     bool // something that is due has found no place
	all      sync.WaitGroup
}

// Begin begins to work at what is due, as far as there are places, and returns before that ends. Errors: those of Due.
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
	place, err := c.Places.Take(Holder{Company: c.Company(x)})
	if err != nil {
		c.left = true
		return false
	}
	if c.underWay == nil {
		c.underWay = map[string]bool{}
	}
	c.underWay[key] = true
	c.all.Go(func() {
		more := false
		defer func() {
			c.mu.Lock()
			delete(c.underWay, key)
			more = more || c.left
			c.left = false
			c.mu.Unlock()
			place.Release()
			if more {
				c.Wake()
			}
		}()
		more = c.Work(ctx, x)
	})
	return true
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
