package main

import (
	"context"
	"sync"
	"time"

	"carillon/internal/load"
)

// request makes the bytes of a request.
func request(method, path, body string, headers ...string) []byte {
	return load.Request(method, path, body, headers...)
}

// each runs work on its own connection n times at once and gives the first error.
func each(ctx context.Context, addr string, n int, work func(i int, c *load.Conn) error) error {
	errs := make([]error, n)
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			c, err := load.Dial(ctx, addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.Close()
			errs[i] = work(i, c)
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// looks are how often a round looks at either side where a share of requests is the figure.
const looks = 3

// inTurns looks at two sides in turns, the named one first, and gives what requests took on each. A p99 is what a few bad
// moments make of it, and those of the machine are to fall on both sides: so each is looked at several times.
func inTurns(first int, look func(side int) (*load.Hist, error)) ([2]*load.Hist, error) {
	waits := [2]*load.Hist{{}, {}}
	for range looks {
		for _, side := range []int{first, 1 - first} {
			took, err := look(side)
			if err != nil {
				return waits, err
			}
			waits[side].Merge(took)
		}
	}
	return waits, nil
}

// ok sends one request that must be answered with 200.
func ok(c *load.Conn, req []byte) ([]byte, error) { return load.OK(c.Do(req)) }

// closedLoop keeps n connections busy for a time and gives the answers a second.
func closedLoop(ctx context.Context, addr string, req []byte, n int, d time.Duration) (float64, error) {
	l := load.Load{Addr: addr, Conns: n, For: d, Request: load.Always(req)}
	r, err := l.Run(ctx)
	return r.Rate(), err
}

// openLoop sends at a rate, whatever the answers take, and gives the latencies, which count from when each request was
// due to leave.
func openLoop(ctx context.Context, addr string, req []byte, n int, rate float64, d time.Duration) (*load.Hist, error) {
	l := load.Load{Addr: addr, Conns: n, For: d, Rate: rate, Request: load.Always(req)}
	r, err := l.Run(ctx)
	return &r.OK, err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
