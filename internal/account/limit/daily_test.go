package limit

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func TestADayIsCountedOnAllNodesAndEndsAtMidnight(t *testing.T) {
	for name, nodes := range map[string]func(t *testing.T) (first, second *Limits){
		"sqlite": func(t *testing.T) (first, second *Limits) {
			first = onSQLite(t)
			return first, first
		},
		"postgres": func(t *testing.T) (first, second *Limits) {
			o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
			return over(t, o), over(t, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := nodes(t)
			now := time.Date(2026, 11, 27, 23, 59, 0, 0, time.UTC)
			for _, l := range []*Limits{first, second} {
				l.Now = func() time.Time { return now }
			}
			allow := func(l *Limits, name string) error { return l.AllowDaily(t.Context(), name, 3, 1) }
			for i, l := range []*Limits{first, second, first} {
				if err := allow(l, "engine/a"); err != nil {
					t.Fatalf("%d: %v", i, err)
				}
			}
			for _, l := range []*Limits{first, second} {
				if err := allow(l, "engine/a"); !carillon.IsCode(err, carillon.RateLimitExceeded) {
					t.Errorf("the fourth of the day: %v", err)
				}
			}
			if err := allow(first, "engine/b"); err != nil {
				t.Errorf("another company: %v", err)
			}
			now = now.Add(2 * time.Minute)
			if err := allow(second, "engine/a"); err != nil {
				t.Errorf("on the next day: %v", err)
			}
		})
	}
}

func TestTheCountsOfEarlierDaysAreAllDeleted(t *testing.T) {
	l := onSQLite(t)
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	l.Now = func() time.Time { return now }
	const conversations = 2*sweepMax + 10
	var all sync.WaitGroup
	for worker := range 10 {
		all.Go(func() {
			for i := worker; i < conversations; i += 10 {
				if err := l.AllowDaily(t.Context(), "conversation "+strconv.Itoa(i), 3, 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	now = now.Add(day)
	for range conversations/sweepMax + 1 {
		if err := l.AllowDaily(t.Context(), "conversation", 10, 1); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := l.store.DropRates(t.Context(), now, conversations); left != 0 || err != nil {
		t.Errorf("%d counts of the day before are left, %v", left, err)
	}
}
