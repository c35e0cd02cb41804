package limit

import (
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
			o := store.Options{DatabaseURL: storetest.Postgres(t)}
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
