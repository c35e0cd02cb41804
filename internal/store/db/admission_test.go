package db

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestsAreAdmittedInTurnAndWaitNoLongerThanTheirPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := admission{places: make(chan struct{}, 2), most: 3}
		for range 2 {
			if !a.admit(t.Context(), 1) {
				t.Fatal("a free place was refused")
			}
		}
		gone, leave := context.WithCancel(t.Context())
		type end struct {
			who      string
			admitted bool
			after    time.Duration
		}
		begin, ends := time.Now(), make(chan end, 4)
		come := func(ctx context.Context, who string) {
			go func() {
				ok := a.admit(ctx, 1)
				ends <- end{who, ok, time.Since(begin)}
			}()
			synctest.Wait()
		}
		come(t.Context(), "first")
		come(gone, "leaves")
		come(t.Context(), "waits too long")
		if !a.full() {
			t.Error("three wait of three, and one more would be welcome")
		}
		come(t.Context(), "too many")
		want := func(x end) {
			t.Helper()
			if got := <-ends; got != x {
				t.Errorf("%+v, want %+v", got, x)
			}
		}
		want(end{"too many", false, 0})
		time.Sleep(100 * time.Millisecond)
		<-a.places
		want(end{"first", true, 100 * time.Millisecond})
		leave()
		want(end{"leaves", false, 100 * time.Millisecond})
		want(end{"waits too long", false, patience})
		if a.full() || a.waiting.Load() != 0 || a.bytes.Load() != 0 {
			t.Errorf("nothing waits, but %d requests and %d bytes are counted", a.waiting.Load(), a.bytes.Load())
		}
	})
}

func TestWhatWaitsToBeAdmittedIsBoundedByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := admission{places: make(chan struct{}, 1), most: 1000}
		a.places <- struct{}{}
		done := make(chan bool, 64)
		for range 64 {
			go func() { done <- a.admit(t.Context(), 1<<20) }()
		}
		synctest.Wait()
		if a.full() {
			t.Error("64 MiB wait, and no more are let in")
		}
		begin := time.Now()
		if a.admit(t.Context(), 1<<20) || time.Since(begin) != 0 {
			t.Errorf("more than 64 MiB wait; refused after %s, want at once", time.Since(begin))
		}
		for range 64 {
			<-a.places
			if !<-done {
				t.Error("one that waited was refused")
			}
		}
	})
}
