package limit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func onSQLite(t *testing.T) *Limits {
	t.Helper()
	return over(t, store.Options{Dir: storetest.Folder(t)})
}

func over(t *testing.T, o store.Options) *Limits {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(s.Rates, slog.New(slog.DiscardHandler))
}

func TestTakeRefusesPastTheLimitUntilTheMinuteIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := onSQLite(t)
		time.Sleep(15*time.Second + 500*time.Millisecond) // fake time
		for i := range 3 {
			d, err := l.Allow(t.Context(), "sends/a", 3, 1)
			if err != nil || d.Remaining != 2-i || d.Limit != 3 {
				t.Fatalf("take %d: %+v, %v", i, d, err)
			}
		}
		_, err := l.Allow(t.Context(), "sends/a", 3, 1)
		var e *carillon.Error
		if !errors.As(err, &e) || e.Code != carillon.RateLimitExceeded {
			t.Fatalf("the fourth take: %v", err)
		}
		want := carillon.Details{
			{Key: "limit", Value: 3}, {Key: "window", Value: "60s"}, {Key: "reset_time", Value: "2000-01-01T00:01:00Z"},
		}
		if d := cmp.Diff(want, e.Details); d != "" || e.RetryAfter != 45 {
			t.Errorf("retry after %d, details (-want +got):\n%s", e.RetryAfter, d)
		}
		if _, err := l.Allow(t.Context(), "sends/b", 3, 1); err != nil {
			t.Errorf("another name: %v", err)
		}
		time.Sleep(44*time.Second + 499*time.Millisecond)
		if _, err := l.Allow(t.Context(), "sends/a", 3, 1); err == nil {
			t.Error("the last millisecond of the window is already the next one")
		}
		time.Sleep(time.Millisecond)
		if _, err := l.Allow(t.Context(), "sends/a", 3, 1); err != nil {
			t.Errorf("in the next window: %v", err)
		}
	})
}

func TestARefusedTakeTakesNothing(t *testing.T) {
	l := onSQLite(t)
	stopClock(l)
	if _, err := l.Allow(t.Context(), "x", 5, 6); err == nil {
		t.Fatal("six of five were granted")
	}
	if _, err := l.Allow(t.Context(), "x", 5, 5); err != nil {
		t.Errorf("five of five after a refusal: %v", err)
	}
}

func TestZeroIsNoLimit(t *testing.T) {
	l := onSQLite(t)
	for range 1000 {
		if d, err := l.Allow(t.Context(), "x", 0, 1); err != nil || d != (Decision{}) {
			t.Fatal(d, err)
		}
	}
}

func TestRoomTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := onSQLite(t)
		for range 5 {
			if _, err := l.Check(t.Context(), "x", 1); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.Allow(t.Context(), "x", 1, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Check(t.Context(), "x", 1); !carillon.IsCode(err, carillon.RateLimitExceeded) {
			t.Errorf("room in a full window: %v", err)
		}
	})
}

func TestMadeUpNamesNeitherFillMemoryNorPassTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := onSQLite(t)
		granted := 0
		for i := range maxNames + 50*sharedBuckets {
			if _, err := l.Allow(t.Context(), strconv.Itoa(i), 10, 1); err == nil {
				granted++
			}
		}
		if len(l.buckets) > maxNames {
			t.Errorf("%d names are kept", len(l.buckets))
		}
		if most := maxNames + 10*sharedBuckets; granted > most {
			t.Errorf("%d requests were granted, more than %d", granted, most)
		}
		if _, err := l.Allow(t.Context(), "0", 10, 1); err != nil {
			t.Errorf("a name from before the flood: %v", err)
		}
	})
}

func TestTakeAgreesWithACount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 200).Draw(rt, "limit")
		takes := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 60).Draw(rt, "takes")
		synctest.Test(t, func(t *testing.T) {
			l := &Limits{Now: time.Now, local: true}
			used := 0
			for _, n := range takes {
				_, err := l.Allow(t.Context(), "x", limit, n)
				if fits := used+n <= limit; fits != (err == nil) {
					rt.Fatalf("%d used of %d, take %d: %v", used, limit, n, err)
				}
				if err == nil {
					used += n
				}
			}
		})
	})
}

func TestNodesTogetherNeverPassTheLimit(t *testing.T) {
	url := storetest.PatientPostgres(t)
	nodes := []*Limits{over(t, store.Options{DatabaseURL: url}), over(t, store.Options{DatabaseURL: url})}
	stopClock(nodes...)
	for _, limit := range []int{1, 10, 63, 64, 300} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			// 512 tries use every request that a node borrowed, so the limit is reached exactly.
			if granted := allowAtOnce(t, nodes, fmt.Sprintf("sends/%d", limit), limit); granted != int64(limit) {
				t.Errorf("%d of %d were granted", granted, limit)
			}
		})
	}
}

// allowAtOnce counts from 64 goroutines across the nodes.
func allowAtOnce(t *testing.T, nodes []*Limits, name string, limit int) (granted int64) {
	t.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for range 8 {
				_, err := nodes[i%len(nodes)].Allow(t.Context(), name, limit, 1)
				switch {
				case err == nil:
					n.Add(1)
				case !carillon.IsCode(err, carillon.RateLimitExceeded):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, node := range nodes {
		if d, err := node.Check(t.Context(), name, limit); err == nil {
			t.Errorf("room in a full window: %+v", d)
		}
	}
	return n.Load()
}

// stopClock keeps limits in one window and returns its start.
func stopClock(all ...*Limits) (window time.Time) {
	now := time.Date(2026, 3, 1, 9, 0, 15, 0, time.UTC)
	for _, l := range all {
		l.Now = func() time.Time { return now }
	}
	return now.Truncate(Window)
}

func TestOldWindowsAreDeleted(t *testing.T) {
	url := storetest.PatientPostgres(t)
	l := over(t, store.Options{DatabaseURL: url})
	window := stopClock(l)
	old := window.Add(-2 * Window)
	if _, _, err := l.store.BorrowRate(t.Context(), "old", old, 1, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Allow(t.Context(), "new", 10, 1); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"old": 0, "new": 1} {
		at := window
		if name == "old" {
			at = old
		}
		if used, err := l.store.RateUsed(t.Context(), name, at); err != nil || used != want {
			t.Errorf("%s: %d used, want %d; %v", name, used, want, err)
		}
	}
}

func TestASilentDatabaseIsA503(t *testing.T) {
	url := storetest.PatientPostgres(t)
	l := over(t, store.Options{DatabaseURL: url})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Allow(ctx, "x", 10, 1); !carillon.IsCode(err, carillon.ServiceUnavailable) {
		t.Errorf("got %v", err)
	}
}

// If the clock is set back, names must not stay in their old window, which would only end an hour later.
func TestAWindowRestartsAfterTheClockWasSetBack(t *testing.T) {
	l := onSQLite(t)
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	full := l.bucket("sends/a", now)
	if l.bucket("sends/a", now.Add(-Window)) != full {
		t.Error("a late request restarted the window")
	}
	back := l.bucket("sends/a", now.Add(-time.Hour))
	if back == full || !back.start.Equal(now.Add(-time.Hour)) {
		t.Errorf("an hour back the window is that of %s", back.start)
	}
}

func TestADaysCountLastsUntilMidnightOnAllNodes(t *testing.T) {
	for name, o := range map[string]store.Options{
		"sqlite": {Dir: storetest.Folder(t)}, "postgres": {DatabaseURL: storetest.PatientPostgres(t)},
	} {
		t.Run(name, func(t *testing.T) {
			here := over(t, o)
			there := New(here.store, here.log) // another node, or this one after a restart
			now := time.Date(2027, 1, 2, 23, 59, 0, 0, time.UTC)
			here.Now, there.Now = func() time.Time { return now }, func() time.Time { return now }
			allow := func(when string, l *Limits, name string, want bool) {
				t.Helper()
				if err := l.AllowToday(t.Context(), name, 2); (err == nil) != want ||
					err != nil && !carillon.IsCode(err, carillon.RateLimitExceeded) {
					t.Errorf("%s: %v", when, err)
				}
			}
			allow("the first", here, "a", true)
			allow("the second", there, "a", true)
			now = now.Add(50 * time.Second)
			if _, err := here.store.DropRates(t.Context(), now.Truncate(Window), sweepMax); err != nil {
				t.Fatal(err)
			}
			allow("the third", here, "a", false)
			allow("the third elsewhere", there, "a", false)
			allow("of another name", here, "b", true)
			now = now.Add(10 * time.Second)
			allow("the next day", here, "a", true)
		})
	}
}
