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

// rounds is how often a test of chance is repeated: few as a rule, CARILLON_TEST_ROUNDS where that is set.
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

// The lane's last turn, its falling asleep and being forgotten go on while the next message is accepted, at every instant
// that chance gives. Were a wake-up lost, only the scan after 30 s would find the message.
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
				time.Sleep(time.Microsecond) // no time passes while anything runs
			}
			if late := time.Since(before); late >= time.Second {
				t.Fatalf("message %d was sent %s late", i, late)
			}
		}
	})
}
