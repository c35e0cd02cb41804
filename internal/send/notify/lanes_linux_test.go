package notify_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

// processor returns the CPU time of this process. Unlike wall time, it hardly depends on other load on the machine.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestManySendersCostLittleMoreThanOne gives five messages to each of many senders, and the same number of messages to
// a single sender. With CARILLON_TEST_ROUNDS=100000 it has the size and the engines that the design demands. Each of
// the many senders needs its own read for five messages, whereas a read for the single sender returns hundreds.
func TestManySendersCostLittleMoreThanOne(t *testing.T) {
	const few, bound = 1000, 3.0
	senders := rounds(t, few)
	compare := func(t *testing.T, o func(t *testing.T) store.Options) {
		one := drained(t, o(t), senders, 1)
		many := drained(t, o(t), senders, senders)
		t.Logf("%d messages: of one sender %s of processor time, of %d senders %s", 5*senders, one, senders, many)
		if many.Seconds() > bound*one.Seconds() {
			t.Errorf("%d messages of %d senders took %s of processor time, of one sender %s", 5*senders, senders, many, one)
		}
	}
	t.Run("sqlite", func(t *testing.T) { compare(t, sqlite) })
	if senders > few {
		t.Run("postgres", func(t *testing.T) { compare(t, postgres) })
	}
}

// drained accepts notifications to five numbers each, spread over the senders, and returns the duration of their
// delivery.
func drained(t *testing.T, o store.Options, notifications, senders int) time.Duration {
	t.Helper()
	r := newRig(t, o, nil)
	r.provider.quiet = true
	ids := r.senders(senders)
	work := make(chan int)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for i := range work {
				numbers := make([]string, 5)
				for k := range numbers {
					numbers[k] = fmt.Sprintf("346%07d%d", i, k)
				}
				accept := func() error {
					_, err := r.submit(t.Context(), from(ids[i%senders], body("", numbers...)))
					return err
				}
				err := accept()
				for carillon.IsCode(err, carillon.ServiceUnavailable) { // not stored; the caller repeats it
					err = accept()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range notifications {
		work <- i
	}
	close(work)
	callers.Wait()
	if t.Failed() {
		t.FailNow()
	}
	begin := processor(t)
	stop := r.start()
	for want, n := 5*notifications, 0; n < want; n = r.provider.count() {
		await(t, "it goes on", func() bool { return r.provider.count() >= min(n+1000, want) })
	}
	stop() // flushes pending results
	if n := r.provider.count(); n != 5*notifications {
		t.Errorf("%d messages were sent, want %d", n, 5*notifications)
	}
	return processor(t) - begin
}
