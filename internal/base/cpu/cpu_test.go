package cpu_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/cpu"
)

func TestAProcessIsBusyWhileItsWorkWaits(t *testing.T) {
	var w cpu.Watch
	if w.Busy() {
		t.Error("busy before anything is known")
	}
	work := func(goroutines int) {
		var all sync.WaitGroup
		for end := time.Now().Add(300 * time.Millisecond); goroutines > 0; goroutines-- {
			all.Go(func() {
				for time.Now().Before(end) {
					for began := time.Now(); time.Since(began) < 100*time.Microsecond; {
						continue
					}
					runtime.Gosched()
				}
			})
		}
		all.Wait()
	}
	busy := false
	for range 20 { // as few context switches as possible
		var all sync.WaitGroup
		for end, n := time.Now().Add(300*time.Millisecond), 4*runtime.GOMAXPROCS(0); n > 0; n-- {
			all.Go(func() {
				for time.Now().Before(end) {
					continue
				}
			})
		}
		if all.Wait(); w.Busy() {
			busy = true
			break
		}
	}
	if !busy {
		t.Error("not busy with four computations a processor")
	}
	busy = false
	for range 20 { // other processes may leave too little time to record enough waits
		if work(50 * runtime.GOMAXPROCS(0)); w.Busy() {
			busy = true
			break
		}
	}
	if !busy {
		t.Error("not busy with fifty goroutines a processor")
	}
	for hung := time.After(2 * time.Minute); ; {
		select {
		case <-hung:
			t.Fatal("busy with nothing to do")
		case <-time.After(100 * time.Millisecond):
		}
		if !w.Busy() { // other processes may delay it for a while
			return
		}
	}
}
