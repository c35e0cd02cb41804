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

func TestReadinessIsLookedAtOnceASecondHoweverManyAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		r := readiness{look: func(context.Context) []check {
			looks.Add(1)
			time.Sleep(100 * time.Millisecond)
			return []check{{name: "database"}}
		}}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if checks, err := r.ask(t.Context()); err != nil || len(checks) != 1 {
					t.Error(checks, err)
				}
			})
		}
		all.Wait()
		if n := looks.Load(); n != 1 {
			t.Errorf("looked %d times", n)
		}
		time.Sleep(readyKeep)
		if _, err := r.ask(t.Context()); err != nil || looks.Load() != 2 {
			t.Errorf("after a second: %v, looked %d times", err, looks.Load())
		}
	})
}

func TestReadinessNeverHangsAndTellsWhatDoesNotHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		r := readiness{look: func(context.Context) []check {
			<-stuck // a driver that does not heed its context
			return []check{{name: "database"}, {name: "clock", fault: "The clock is wrong", err: errors.New("db.internal")}}
		}}
		begin := time.Now()
		_, err := r.ask(t.Context())
		if !carillon.IsCode(err, carillon.ServiceUnavailable) || time.Since(begin) > readyWait {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		close(stuck)
		synctest.Wait()
		checks, err := r.ask(t.Context())
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
	r := readiness{look: func(context.Context) []check {
		return []check{{name: "database"}, {name: "failover", warning: "Replication is asynchronous"}}
	}}
	checks, err := r.ask(t.Context())
	if err != nil {
		t.Errorf("a warning makes it unready: %v", err)
	}
	text, err := json.Marshal(detailsOf(checks))
	if string(text) != `{"database":"ok","failover":"warning: Replication is asynchronous"}` || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}
