package notify_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/store"
)

// rounds returns the number of repetitions of a randomized test: few by default, or CARILLON_TEST_ROUNDS.
func rounds(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("CARILLON_TEST_ROUNDS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The next message is accepted at a random instant while the lane takes its last turn, goes to sleep and is removed.
// If a wake-up were lost, only the scan after 30 s would find the message.
func TestAcceptAsTheLaneGoesToSleepIsDeliveredAtOnce(t *testing.T) {
	dir, n := t.TempDir(), rounds(t, 300)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		defer r.start()()
		seed := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			gap := time.Duration(seed.IntN(3)) * time.Duration(seed.IntN(int(1100*time.Millisecond)))
			if seed.IntN(2) == 0 {
				time.Sleep(gap)
			}
			before := time.Now()
			r.accept(body("", strconv.Itoa(34600000000+i)))
			for r.provider.count() <= i && time.Since(before) < 2*time.Second {
				time.Sleep(time.Microsecond) // time does not advance while a goroutine runs
			}
			if late := time.Since(before); late >= time.Second {
				t.Fatalf("message %d was sent %s late", i, late)
			}
		}
	})
}
