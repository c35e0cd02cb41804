package app

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"carillon"
)

// programsAtOnce is how many tests run at once, unless -parallel says it: most of what they do is wait.
const programsAtOnce = "12"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", programsAtOnce); err != nil {
		panic(err)
	}
	// The collector of the tests reads this form. Only programs with an address of a collector send any.
	if err := os.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Hung is after how long what a test waits for will not come any more.
const Hung = 2 * time.Minute

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

// Listening is the address at which the program listens, whatever its base URL is.
func (a *App) Listening() string { return a.server.Addr().String() }

// Ready reports the program's readiness.
func (a *App) Ready(ctx context.Context) (carillon.Details, error) { return a.readiness.Ready(ctx) }
