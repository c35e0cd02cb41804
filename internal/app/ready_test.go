package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/config"
)

func TestReadinessChecksRunOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		r := newReadiness(slog.New(slog.DiscardHandler), func(context.Context) []check {
			runs.Add(1)
			time.Sleep(100 * time.Millisecond)
			return []check{{name: "database"}}
		})
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
		})
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
	})
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
		})
		for _, state := range []bool{false, true, true, false, false} {
			full.Store(state)
			_, _ = r.checks(t.Context())
			time.Sleep(readyMaxAge)
		}
		text := out.String()
		if strings.Count(text, "\n") != 2 || !strings.Contains(text, `msg="not ready" check=writes`) || !strings.Contains(text, "no space left") ||
			!strings.Contains(text, `msg="ready again"`) {
			t.Errorf("the log:\n%s", text)
		}
	})
}

func TestReadinessSeesADeletedDataFolderAndAFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	a := started(t, config.Config{Addr: "127.0.0.1:0", Data: dir, Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: Hung})
	awaitStatus := func(want int) {
		t.Helper()
		Within(t, fmt.Sprint("/readyz comes to ", want), func() bool {
			resp, err := http.Get(a.BaseURL() + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode == want
		})
	}
	awaitStatus(http.StatusOK)
	if err := os.Mkdir(filepath.Join(dir, "carillon.probe"), 0o700); err != nil { // nothing can be written there
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "carillon.probe", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusServiceUnavailable)
	if err := os.RemoveAll(filepath.Join(dir, "carillon.probe")); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusOK)
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusServiceUnavailable)
	if err := os.Rename(dir+"2", dir); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusOK)
}
