package faults

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/config"
)

var (
	rounds = flag.Int("faults.rounds", 0, "kill rounds an engine; 0: a short run")
	seed   = flag.Uint64("faults.seed", 0, "repeat the choices of an earlier run; 0: new ones")
)

const short = 2 // rounds an engine as part of `go test ./...`

// programEnv makes this test binary the program: so that a race build tests itself.
const programEnv = "CARILLON_FAULTS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		os.Exit(program(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program is what `carillon serve` does with flags of the form --name=value.
func program(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	flags := map[string][]string{}
	for _, a := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		flags[name] = append(flags[name], value)
	}
	cfg, err := config.Load(flags, func(string) (string, bool) { return "", false })
	if err == nil {
		var a *app.App
		a, err = app.New(cfg, app.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
		if err == nil {
			err = a.Run(ctx)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "carillon:", err)
		return 1
	}
	return 0
}

// dice are a run's choices.
type dice struct{ *rand.Rand }

func newDice(t *testing.T, salt uint64) dice {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat the choices with -faults.seed=%d", s)
	return dice{rand.New(rand.NewPCG(s, salt))}
}

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func (d dice) between(from, to time.Duration) time.Duration {
	return from + time.Duration(d.Int64N(int64(to-from)))
}

// child is a generator of its own for a goroutine.
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

// await asks until the condition holds; false: not in time.
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
