package egress

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestCacheKeepsAnswersForTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rejected, fault := &MediaError{Reason: "x"}, errors.New("passing")
		for _, c := range []struct {
			err  error
			keep time.Duration
		}{{nil, 10 * time.Minute}, {rejected, time.Minute}, {fault, 2 * time.Second}} {
			k, asked := newCache(10), 0
			ask := func() (time.Duration, error) { asked++; return keepFor(c.err), c.err }
			try := func(want int) {
				t.Helper()
				if err := k.do(t.Context(), key{}, ask); !errors.Is(err, c.err) || asked != want {
					t.Errorf("%v: got %v, asked %d times, want %d", c.err, err, asked, want)
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

func TestCacheDropsTheLeastLatelyUsed(t *testing.T) {
	c, asked := newCache(2), map[byte]int{}
	use := func(b byte) {
		_ = c.do(t.Context(), key{b}, func() (time.Duration, error) { asked[b]++; return time.Hour, nil })
	}
	for _, b := range []byte{1, 2, 1, 3, 1, 2} {
		use(b)
	}
	if asked[1] != 1 || asked[2] != 2 || asked[3] != 1 || len(c.byKey) != 2 || c.order.Len() != 2 {
		t.Errorf("asked %v, holds %d", asked, len(c.byKey))
	}
}

func TestCacheOutlivesACallerWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(2)
		leaving, leave := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			first <- c.do(leaving, key{}, func() (time.Duration, error) {
				<-leaving.Done()
				return time.Hour, leaving.Err()
			})
		}()
		synctest.Wait()
		go func() {
			second <- c.do(t.Context(), key{}, func() (time.Duration, error) { return time.Hour, nil })
		}()
		synctest.Wait()
		leave()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("who left got %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("who stayed got %v", err)
		}
		if len(c.flights) != 0 {
			t.Errorf("%d flights are left", len(c.flights))
		}
	})
}
