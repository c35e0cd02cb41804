package faults

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"carillon/internal/base/need"
)

var (
	rounds     = flag.Int("faults.rounds", 0, "rounds of each scenario on each engine; 0: one round of the shortest scenarios")
	seed       = flag.Uint64("faults.seed", 1, "the choices of a run")
	ledgerFile = flag.String("faults.ledger", "", "file to write the summary to")
)

// minParallel is the minimum number of parallel tests, which mostly wait for dead nodes and deliveries.
const minParallel = 6

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "carillon-faults-")
	if err != nil {
		panic(err)
	}
	programDir = dir
	flag.Parse()
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err == nil && n < minParallel {
		_ = flag.Set("test.parallel", strconv.Itoa(minParallel))
	}
	code := m.Run()
	if text := results.table(); text != "" {
		fmt.Println(text + "\n" + results.outages())
		if *ledgerFile != "" {
			if err := os.WriteFile(*ledgerFile, []byte(results.page(text)), 0o644); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = max(code, 1)
			}
		}
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// long skips a scenario unless `make faults` sets its number of rounds.
func long(t *testing.T) {
	t.Helper()
	need.Faults(t, *rounds)
}

// dice makes a run's random choices.
type dice struct{ *rand.Rand }

// newDice returns dice seeded with the scenario's name: its choices do not depend on which others run.
func newDice(t *testing.T, name string) dice {
	t.Helper()
	t.Logf("repeat the choices with -faults.seed=%d", *seed)
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return dice{rand.New(rand.NewPCG(*seed, h.Sum64()))}
}

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func (d dice) between(from, to time.Duration) time.Duration {
	return from + time.Duration(d.Int64N(int64(to-from)))
}

// child returns a separate generator for a goroutine.
func (d dice) child() dice { return dice{rand.New(rand.NewPCG(d.Uint64(), d.Uint64()))} }

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// hung is the time after which a wait counts as hung, even on a busy machine.
const hung = 2 * time.Minute

// await polls until the condition holds. It returns false if it does not hold in time.
func await(ctx context.Context, within time.Duration, cond func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !cond() {
		if ctx.Err() != nil {
			return false
		}
		pause(ctx, 20*time.Millisecond)
	}
	return true
}
