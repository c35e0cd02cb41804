package share_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"carillon/internal/base/share"
)

// backlog holds due items by company, and a crew that works on them.
type backlog struct {
	mu      sync.Mutex
	due     []string // "company/n", oldest first
	started []string
	end     map[string]chan struct{} // closed to let the work of a company end
	crew    *share.Crew[string]
	woken   int
	free    int64 // free places at the last Wake
	fails   bool  // the work fails, and items stay due
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
			if b.fails {
				return false
			}
			b.due = slices.DeleteFunc(b.due, func(y string) bool { return y == x })
			return true
		},
	}
	b.crew.Wake = func() {
		c := b.crew.Places.Counts()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.woken++
		b.free = c.Resource.Node - c.Used
	}
	return b
}

// begin makes the crew start due items, and waits until the work blocks.
func (b *backlog) begin(t *testing.T) {
	t.Helper()
	if err := b.crew.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func TestACompanyWhoseWorkIsSlowHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var due []string
		for i := range 50 { // more than a page, and all ahead of company B's
			due = append(due, fmt.Sprintf("a/%d", i))
		}
		b := newBacklog(10, share.Resource{Node: 4, Company: 3}, append(due, "b/0")...)
		b.begin(t)
		slices.Sort(b.started)
		if want := []string{"a/0", "a/1", "a/2", "b/0"}; !slices.Equal(b.started, want) {
			t.Fatalf("%v are worked at, want %v", b.started, want)
		}
		if c := b.crew.Places.Counts(); c.Refused != (share.Counts{}).Refused {
			t.Errorf("what waits is counted as refused: %v", c.Refused)
		}
		b.begin(t)
		if len(b.started) != 4 {
			t.Fatalf("%v are worked at, although there is no place", b.started)
		}
		b.end["a"] <- struct{}{}
		synctest.Wait()
		if b.woken == 0 {
			t.Error("nobody is woken, although more of A is due")
		}
		b.begin(t)
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

func TestWhatBecomesDueWhileItsCompanyHoldsAllBeginsWithTheNextPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(10, share.Resource{Node: 4, Company: 2}, "a/0", "a/1")
		b.begin(t)
		b.due = append(b.due, "a/2") // not returned, because company A has reached its bound
		b.begin(t)
		b.end["a"] <- struct{}{}
		synctest.Wait()
		if b.woken != 1 || b.free != 3 {
			t.Fatalf("woken %d times, with %d free places", b.woken, b.free)
		}
		b.begin(t)
		if want := []string{"a/0", "a/1", "a/2"}; len(b.started) != 3 || b.started[2] != want[2] {
			t.Errorf("%v are worked at, want %v", b.started, want)
		}
		close(b.end["a"])
		b.crew.Wait()
	})
}

func TestWhatIsDueAgainWhileItIsWorkedAtIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(10, share.Resource{Node: 4, Company: 2}, "a/0")
		b.begin(t)
		b.begin(t)
		if len(b.started) != 1 {
			t.Fatalf("%v are worked at: one thing twice at once", b.started)
		}
		b.end["a"] <- struct{}{}
		synctest.Wait()
		b.due = append(b.due, "a/0") // its next step
		if b.woken != 1 {
			t.Fatalf("woken %d times", b.woken)
		}
		b.begin(t)
		if len(b.started) != 2 {
			t.Errorf("%v are worked at", b.started)
		}
		close(b.end["a"])
		b.crew.Wait()
	})
}

func TestWorkThatFailsIsNotTriedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var due []string
		for i := range 20 {
			due = append(due, fmt.Sprintf("a/%d", i))
		}
		b := newBacklog(10, share.Resource{Node: 4, Company: 3}, due...)
		b.fails = true
		b.begin(t)
		close(b.end["a"])
		synctest.Wait()
		if b.woken != 0 || len(b.started) != 3 {
			t.Errorf("woken %d times after %v failed", b.woken, b.started)
		}
		b.begin(t) // later
		if len(b.started) <= 3 {
			t.Error("what failed is never tried again")
		}
		b.crew.Wait()
	})
}
