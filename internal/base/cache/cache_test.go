package cache_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/base/cache"
)

func load(v, group string) func(context.Context) (string, string, error) {
	return func(context.Context) (string, string, error) { return v, group, nil }
}

func get(t *testing.T, c *cache.Cache[string], key, value, group string) string {
	t.Helper()
	v, err := c.Get(t.Context(), key, load(value, group))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOneLoadServesAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cache.New[string](10, time.Second)
		var loads atomic.Int64
		var done sync.WaitGroup
		for range 50 {
			done.Go(func() {
				v, err := c.Get(t.Context(), "k", func(context.Context) (string, string, error) {
					loads.Add(1)
					time.Sleep(time.Millisecond)
					return "v", "acme", nil
				})
				if v != "v" || err != nil {
					t.Error(v, err)
				}
			})
		}
		done.Wait()
		if n := loads.Load(); n != 1 {
			t.Errorf("%d loads", n)
		}
	})
}

func TestInvalidatingOneCompanyLeavesTheOthers(t *testing.T) {
	c := cache.New[string](10, time.Second)
	get(t, c, "a", "1", "acme")
	get(t, c, "b", "1", "other")
	get(t, c, "nobody", "", "")
	c.Invalidate("acme")
	if got := get(t, c, "a", "2", "acme"); got != "2" {
		t.Error("a stale entry was served:", got)
	}
	if got := get(t, c, "b", "2", "other"); got != "1" {
		t.Error("another company's entry was dropped:", got)
	}
	if got := get(t, c, "nobody", "somebody", "acme"); got != "somebody" {
		t.Error("an absence outlived an invalidation:", got)
	}
}

func TestALoadThatBeganBeforeAnInvalidationIsNotKept(t *testing.T) {
	for _, group := range []string{"acme", ""} {
		synctest.Test(t, func(t *testing.T) {
			c := cache.New[string](10, time.Second)
			old := make(chan string)
			go func() {
				v, _ := c.Get(t.Context(), "k", func(context.Context) (string, string, error) {
					time.Sleep(time.Millisecond)
					return "old", group, nil
				})
				old <- v
			}()
			synctest.Wait()
			c.Invalidate("acme")
			if got := get(t, c, "k", "new", group); got != "new" {
				t.Error("who asked after the invalidation got", got)
			}
			if got := <-old; got != "old" {
				t.Error(got)
			}
			if v, ok := c.Peek("k"); !ok || v != "new" {
				t.Error("kept", v, ok)
			}
		})
	}
}

func TestACallerThatLeavesDoesNotEndTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cache.New[string](10, time.Second)
		slow := func(ctx context.Context) (string, string, error) {
			select {
			case <-time.After(time.Millisecond):
				return "v", "acme", nil
			case <-ctx.Done():
				return "", "", ctx.Err()
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() {
			_, err := c.Get(ctx, "k", slow)
			first <- err
		}()
		synctest.Wait()
		second := make(chan string, 1)
		go func() {
			v, _ := c.Get(t.Context(), "k", slow)
			second <- v
		}()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if v := <-second; v != "v" {
			t.Error(v)
		}
	})
}

func TestALoadIsBoundedAndErrorsAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cache.New[string](10, time.Second)
		_, err := c.Get(t.Context(), "k", func(ctx context.Context) (string, string, error) {
			<-ctx.Done()
			return "", "", ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if got := get(t, c, "k", "v", "acme"); got != "v" {
			t.Error(got)
		}
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	c := cache.New[string](64, time.Second)
	for i := range 10_000 {
		get(t, c, strconv.Itoa(i), "v", "company "+strconv.Itoa(i))
		if c.Len() > 64 {
			t.Fatal(c.Len(), "entries")
		}
	}
	get(t, c, "kept", "1", "acme")
	for i := range 5_000 { // more groups than are remembered
		c.Invalidate("company " + strconv.Itoa(i))
	}
	c.Invalidate("acme")
	if got := get(t, c, "kept", "2", "acme"); got != "2" {
		t.Error(got)
	}
}

func TestACacheOfSizesStaysWithinThem(t *testing.T) {
	c := cache.Sized(1000, func(s string) int { return len(s) }, time.Second)
	text := func(n int) string { return strings.Repeat("x", n) }
	for i := range 100 {
		get(t, c, strconv.Itoa(i), text(300), "acme")
		if c.Size() > 1000 || c.Len() > 3 {
			t.Fatalf("%d entries of %d bytes", c.Len(), c.Size())
		}
	}
	if get(t, c, "large", text(1001), "acme"); c.Size() > 1000 || c.Size() == 0 {
		t.Errorf("one that is too large leaves %d bytes", c.Size())
	}
	if _, kept := c.Peek("large"); kept {
		t.Error("it is kept")
	}
	get(t, c, "whole", text(1000), "other")
	if c.Len() != 1 || c.Size() != 1000 {
		t.Errorf("%d entries of %d bytes", c.Len(), c.Size())
	}
	c.Invalidate("acme")
	if c.Size() != 1000 {
		t.Error(c.Size())
	}
	c.Remove("whole")
	c.Remove("whole")
	if c.Size() != 0 {
		t.Error(c.Size())
	}
	get(t, c, "a", text(10), "acme")
	get(t, c, "b", text(10), "other")
	if c.Invalidate("acme"); c.Size() != 10 {
		t.Error(c.Size())
	}
	if c.Clear(); c.Size() != 0 || c.Len() != 0 {
		t.Error(c.Size(), c.Len())
	}
}
