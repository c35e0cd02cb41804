package share_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"carillon/internal/share"
)

// backlog is what is due, by company, of which a crew works at so many at once.
type backlog struct {
	mu      sync.Mutex
	due     []string // "company/n", the oldest first
	started []string
	end     map[string]chan struct{} // of those that work, by company
	crew    *share.Crew[string]
	woken   int
}

func newBacklog(page int, r share.Resource, due ...string) *backlog {
	b := &backlog{due: due, end: map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}}
	b.crew = &share.Crew[string]{
		Places: share.New(r), Page: page,
		Due: func(_ context.Context, without []string) (some []string, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, x := range b.due {
				if len(some) < page && !slices.Contains(without, x[:1]) {
					some = append(some, x)
				}
			}
			return some, nil
		},
		Key: func(x string) string { return x }, Company: func(x string) string { return x[:1] },
		Work: func(_ context.Context, x string) bool {
			b.mu.Lock()
			b.started = append(b.started, x)
			b.mu.Unlock()
			<-b.end[x[:1]]
			b.mu.Lock()
			defer b.mu.Unlock()
			b.due = slices.DeleteFunc(b.due, func(y string) bool { return y == x })
			return false
		},
		Wake: func() { b.mu.Lock(); b.woken++; b.mu.Unlock() },
	}
	return b
}

func TestACompanyWhoseWorkIsSlowHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var due []string
		for i := range 50 { // more than a page, and all before company B's
			due = append(due, fmt.Sprintf("a/%d", i))
		}
		b := newBacklog(10, share.Resource{Node: 4, Company: 3}, append(due, "b/0")...)
		begin := func() {
			if err := b.crew.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		begin()
		slices.Sort(b.started)
		if want := []string{"a/0", "a/1", "a/2", "b/0"}; !slices.Equal(b.started, want) {
			t.Fatalf("%v are worked at, want %v", b.started, want)
		}
		begin()
		if len(b.started) != 4 {
			t.Fatalf("%v are worked at, although there is no place", b.started)
		}
		b.end["a"] <- struct{}{}
		synctest.Wait()
		if b.woken == 0 {
			t.Error("nobody is woken, although more of A is due")
		}
		begin()
		if len(b.started) != 5 || b.started[4] != "a/3" {
			t.Errorf("%v are worked at, want a/3 next", b.started)
		}
		close(b.end["a"])
		close(b.end["b"])
		b.crew.Wait()
		if used := b.crew.Places.Counts().Used; used != 0 {
			t.Errorf("%d places are held after the end", used)
		}
	})
}
