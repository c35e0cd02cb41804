package egress

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestVerdictsAreKeptForTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rejected, fault := &MediaError{Reason: "x"}, errors.New("passing")
		for _, c := range []struct {
			err  error
			keep time.Duration
		}{{nil, 10 * time.Minute}, {rejected, time.Minute}, {fault, 2 * time.Second}} {
			p, probed := NewProber(Options{}, nil), 0
			try := func(want int) {
				t.Helper()
				err := p.cached(t.Context(), "key", func(context.Context) error { probed++; return c.err })
				if !errors.Is(err, c.err) || probed != want {
					t.Errorf("%v: got %v, probed %d times, want %d", c.err, err, probed, want)
				}
			}
			try(1)
			<-time.After(c.keep - 1)
			try(1)
			<-time.After(1)
			try(2)
		}
	})
}

func TestProbeOutlivesACanceledCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, probed, canceled := NewProber(Options{}, nil), 0, make(chan error, 1)
		probe := func(ctx context.Context) error {
			probed++
			<-time.After(time.Second)
			return ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { canceled <- p.cached(ctx, "key", probe) }()
		synctest.Wait()
		cancel()
		if err := <-canceled; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled caller got %v", err)
		}
		if err := p.cached(t.Context(), "key", probe); err != nil || probed != 1 {
			t.Errorf("another caller got %v after %d probes", err, probed)
		}
	})
}
