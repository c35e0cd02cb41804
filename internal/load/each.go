package load

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each sends n requests over so many connections, as fast as they are answered. All must be answered with 200.
func Each(ctx context.Context, addr string, conns, n int, req func(i int) []byte) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range conns {
		workers.Go(func() {
			if err := each(ctx, addr, n, &next, req); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

func each(ctx context.Context, addr string, n int, next *atomic.Int64, req func(i int) []byte) error {
	c, err := Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // all is answered
	for ctx.Err() == nil {
		i := int(next.Add(1)) - 1
		if i >= n {
			return nil
		}
		if _, err := OK(c.Do(req(i))); err != nil {
			return err
		}
	}
	return nil
}
