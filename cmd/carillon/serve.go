package main

import (
	"context"
	"io"
	"log/slog"
	"runtime"

	"github.com/alecthomas/kong"

	"carillon/internal/app"
	"carillon/internal/config"
)

type serveCommand struct {
	Settings kong.Plugins `embed:""`
}

// Run serves until the first signal, then stops in order.
func (c *serveCommand) Run(ctx context.Context, env *environment) error {
	cfg, err := config.Load(givenSettings(c.Settings), env.Lookup)
	if err != nil {
		return usageError{err}
	}
	processors := runtime.GOMAXPROCS(0)
	if cfg.DatabaseURL == "" {
		env.addThread()
	}
	keepHeapRoom()
	lines := app.NewLogWriter(env.Stderr)
	defer lines.Flush() //nolint:errcheck // there is nowhere to say that the log cannot be written
	a, err := app.New(cfg, app.Options{
		Logger: logger(cfg, lines), Stdout: env.Stdout, Processors: processors,
	})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// addThread lets one goroutine more run than there are processors. SQLite's writer waits for the disk in a system call of
// a fraction of a millisecond, many times a second, and Go keeps a processor for it until it notices. GOMAXPROCS in the
// environment, where an operator set it, stands.
func (e *environment) addThread() {
	if e.lookup("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

func logger(cfg config.Config, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
