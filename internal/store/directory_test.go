package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
)

type entry int

func TestManyWhoMissAnEntryReadItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		var reads atomic.Int32
		read := func(context.Context) (string, error) {
			reads.Add(1)
			time.Sleep(time.Second)
			return "read", nil
		}
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if v, err := cached(t.Context(), &d, entry(1), read); v != "read" || err != nil {
					t.Error(v, err)
				}
			})
		}
		callers.Wait()
		if n := reads.Load(); n != 1 {
			t.Errorf("100 callers read %d times, want once", n)
		}
	})
}

func TestWhoWaitsForAReadThatFailsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		broken := errors.New("broken")
		begin := time.Now()
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				_, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) {
					time.Sleep(readingMost)
					return "", broken
				})
				if !errors.Is(err, broken) {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if took := time.Since(begin); took > readingMost {
			t.Errorf("the last of 100 was told after %s", took)
		}
		if v, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) { return "read", nil }); v != "read" || err != nil {
			t.Error(v, err)
		}
	})
}

func TestWhoWaitsForACallerThatLeavesReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		ctx, leave := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() {
			_, err := cached(ctx, &d, entry(1), func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		time.AfterFunc(time.Second, leave)
		v, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) { return "read", nil })
		if v != "read" || err != nil {
			t.Error(v, err)
		}
		first.Wait()
	})
}

func TestNobodyWaitsLongForTheReadOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		hang := make(chan struct{})
		var first sync.WaitGroup
		first.Go(func() {
			_, _ = cached(t.Context(), &d, entry(1), func(context.Context) (string, error) { <-hang; return "late", nil })
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := cached(ctx, &d, entry(1), func(context.Context) (string, error) { return "", nil }); !carillon.IsCode(err, carillon.ServiceUnavailable) {
			t.Error("a caller's time is over:", err)
		}
		begin := time.Now()
		v, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) { return "read", nil })
		if took := time.Since(begin); v != "read" || err != nil || took != readingMost+time.Second {
			t.Error(v, err, took)
		}
		close(hang)
		first.Wait()
	})
}

func TestAReadThatTakesTooLongIsUnavailableToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		begin := time.Now()
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				_, err := cached(t.Context(), &d, entry(1), func(ctx context.Context) (string, error) {
					<-ctx.Done()
					return "", ctx.Err()
				})
				if !carillon.IsCode(err, carillon.ServiceUnavailable) {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if took := time.Since(begin); took > readingMost {
			t.Errorf("the last was told after %s", took)
		}
	})
}

func TestManyWhoWaitAreToldThroughAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		var reads atomic.Int32
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				v, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) {
					reads.Add(1)
					time.Sleep(time.Second)
					return "read", nil
				})
				if v != "read" || err != nil {
					t.Error(v, err)
				}
			})
		}
		synctest.Wait()
		d.drop()
		callers.Wait()
		if n := reads.Load(); n != 1 {
			t.Errorf("100 callers read %d times, want once", n)
		}
	})
}

func TestAReadThatBeganBeforeAChangeIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		var first sync.WaitGroup
		first.Go(func() {
			_, _ = cached(t.Context(), &d, entry(1), func(context.Context) (string, error) {
				time.Sleep(time.Second)
				return "old", nil
			})
		})
		synctest.Wait()
		d.drop()
		v, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) { return "new", nil })
		if v != "new" || err != nil {
			t.Error(v, err)
		}
		first.Wait()
		if v, _ := d.find(entry(1)); v != "new" {
			t.Error("kept", v)
		}
	})
}

func TestAFullDirectoryKeepsMostOfWhatItHas(t *testing.T) {
	var d directory
	for i := range directoryMax + 1 {
		d.keep(0, entry(i), i)
	}
	if n := len(d.entries); n > directoryMax || n < directoryMax*3/4 {
		t.Errorf("%d entries, want at most %d and most of them", n, directoryMax)
	}
	if _, ok := d.find(entry(directoryMax)); !ok {
		t.Error("the entry that came last is not there")
	}
}
