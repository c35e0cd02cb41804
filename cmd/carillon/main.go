// Command carillon runs the notification service. `carillon serve` is the service. The other commands are HTTP clients
// of it, except those that open the database: apply, backup, company, migrate, restore and restored mark.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"carillon/internal/base/schedule"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal shuts the program down gracefully; the second kills it.
	context.AfterFunc(ctx, stop)
	useLocalZone(os.Getenv("TZ"))
	os.Exit(run(ctx, os.Args[1:], environment{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())), Asks: term.IsTerminal(int(os.Stdin.Fd())), Secret: readSecretLine,
	}))
}

// useLocalZone sets the local time zone from TZ. Go alone searches only the machine's zone files, which may be
// missing.
func useLocalZone(name string) {
	if zone, err := schedule.Zone(strings.TrimPrefix(name, ":")); err == nil {
		time.Local = zone
	}
}

// readSecretLine reads a line from the terminal without echoing it. After an interrupt it restores the terminal's
// state.
func readSecretLine(ctx context.Context) (string, error) {
	in := int(os.Stdin.Fd())
	before, err := term.GetState(in)
	if err != nil {
		return "", err
	}
	type read struct {
		line []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := term.ReadPassword(in)
		done <- read{line, err}
	}()
	select {
	case r := <-done:
		return string(r.line), r.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(in, before))
	}
}
