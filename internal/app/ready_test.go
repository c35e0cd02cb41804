package app

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
)

func TestReadinessChecksRunOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		r := newReadiness(func(context.Context) []check {
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
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		r := newReadiness(func(context.Context) []check {
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
	r := newReadiness(func(context.Context) []check {
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
