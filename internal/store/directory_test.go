package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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

func TestWhoeverWaitsForAReadThatFailsReadsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		broken := errors.New("broken")
		var first sync.WaitGroup
		first.Go(func() {
			_, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) {
				time.Sleep(time.Second)
				return "", broken
			})
			if !errors.Is(err, broken) {
				t.Error(err)
			}
		})
		synctest.Wait()
		v, err := cached(t.Context(), &d, entry(1), func(context.Context) (string, error) { return "read", nil })
		if v != "read" || err != nil {
			t.Error(v, err)
		}
		first.Wait()
	})
}

func TestWhoeverWaitsForAReadWaitsNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		var first sync.WaitGroup
		first.Go(func() {
			_, _ = cached(t.Context(), &d, entry(1), func(context.Context) (string, error) {
				time.Sleep(time.Minute)
				return "", nil
			})
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := cached(ctx, &d, entry(1), func(context.Context) (string, error) { return "", nil }); err == nil {
			t.Error("it did not end with its time")
		}
		first.Wait()
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
		if v, _, _ := d.find(entry(1)); v != "new" {
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
	if _, _, ok := d.find(entry(directoryMax)); !ok {
		t.Error("the entry that came last is not there")
	}
}
