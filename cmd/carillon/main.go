// Command carillon runs the notification service and talks to a running one. `carillon serve` is the service; the other
// commands are its clients over HTTP, but for apply, which opens the database.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // schedules are in named zones, whatever the machine has installed
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks to stop; from then on signals end the program as usual, at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], environment{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv,
		Terminal: isTerminal(os.Stderr), Asks: isTerminal(os.Stdin),
	}))
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0
}
