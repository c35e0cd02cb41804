package app

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/purge"
)

// programsAtOnce is the default number of parallel tests: they mostly wait.
const programsAtOnce = "12"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", programsAtOnce); err != nil {
		panic(err)
	}
	// The collector of the tests reads this format. Only programs with a collector address send traces.
	if err := os.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Hung is the time after which a wait of a test counts as failed.
const Hung = 2 * time.Minute

// Purging returns a function that runs a round of the purge, which otherwise waits for its time.
func Purging(t *testing.T, a *App) func() {
	p := purge.New(a.store.Purges, a.store.Accounts, purge.Options{})
	return func() {
		if err := p.Round(t.Context(), time.Now()); err != nil {
			t.Error(err)
		}
	}
}

// Within waits until a condition holds.
func Within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	hung := time.NewTimer(Hung)
	defer hung.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-hung.C:
			t.Fatalf("it hangs: %s", what)
		}
	}
}

// Listening returns the address at which the program listens, regardless of its base URL.
func (a *App) Listening() string { return a.server.Addr().String() }

// Exposed returns the page of metrics.
func (a *App) Exposed(t *testing.T) string { return exposed(t, a) }

// Ready reports the program's readiness.
func (a *App) Ready(ctx context.Context) (carillon.Details, error) { return a.readiness.Ready(ctx) }
