package ops

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
)

func TestReadinessChecksRunOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		r := newReadiness(slog.New(slog.DiscardHandler), func(context.Context) []check {
			runs.Add(1)
			time.Sleep(100 * time.Millisecond)
			return []check{{name: "database"}}
		}, nil)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if checks, err := r.checks(t.Context()); err != nil || len(checks) != 1 {
					t.Error(checks, err)
				}
			})
		}
		all.Wait()
		if n := runs.Load(); n != 1 {
			t.Errorf("ran %d times", n)
		}
		time.Sleep(readyMaxAge)
		if _, err := r.checks(t.Context()); err != nil || runs.Load() != 2 {
			t.Errorf("after a second: %v, ran %d times", err, runs.Load())
		}
	})
}

func TestReadinessNeverHangsAndReportsFailedChecks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		r := newReadiness(slog.New(slog.DiscardHandler), func(context.Context) []check {
			<-stuck // a driver that ignores its context
			return []check{{name: "database"}, {name: "clock", fault: "The clock is wrong", err: errors.New("db.internal")}}
		}, nil)
		begin := time.Now()
		_, err := r.checks(t.Context())
		if !carillon.IsCode(err, carillon.ServiceUnavailable) || time.Since(begin) > readyWait {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		close(stuck)
		synctest.Wait()
		checks, err := r.checks(t.Context())
		var e *carillon.Error
		if !errors.As(err, &e) || e.Details[0].Value != "The clock is wrong" || len(checks) != 2 {
			t.Fatal(checks, err)
		}
		text, _ := json.Marshal(e.Details)
		if string(text) != `{"reason":"The clock is wrong","checks":{"database":"ok","clock":"The clock is wrong"}}` {
			t.Errorf("%s", text)
		}
	})
}

func TestReadinessWarnsAndServesAllTheSame(t *testing.T) {
	t.Parallel()
	r := newReadiness(slog.New(slog.DiscardHandler), func(context.Context) []check {
		return []check{{name: "database"}, {name: "failover", warning: "Replication is asynchronous"}}
	}, nil)
	checks, err := r.checks(t.Context())
	if err != nil {
		t.Errorf("a warning makes it unready: %v", err)
	}
	text, err := json.Marshal(detailsOf(checks))
	if string(text) != `{"database":"ok","failover":"warning: Replication is asynchronous"}` || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}

func TestChangesOfReadinessAreLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		var full atomic.Bool
		r := newReadiness(slog.New(slog.NewTextHandler(&out, nil)), func(context.Context) []check {
			if full.Load() {
				return []check{{name: "writes", fault: "The database takes no writes", err: errors.New("no space left")}}
			}
			return []check{{name: "writes"}}
		}, nil)
		for _, state := range []bool{false, true, true, false, false} {
			full.Store(state)
			_, _ = r.checks(t.Context())
			time.Sleep(readyMaxAge)
		}
		text := out.String()
		if strings.Count(text, "\n") != 2 || !strings.Contains(text, `msg="not ready" check=writes`) ||
			!strings.Contains(text, "no space left") ||
			!strings.Contains(text, `msg="ready again"`) {
			t.Errorf("the log:\n%s", text)
		}
	})
}

func TestReadinessWarnsOfAnOpenMasterKey(t *testing.T) {
	for _, open := range []bool{false, true} {
		if got := (Conditions{KeyOpen: func() bool { return open }}).masterKey().warning != ""; got != open {
			t.Errorf("open: %v, it warns: %v", open, got)
		}
	}
}
