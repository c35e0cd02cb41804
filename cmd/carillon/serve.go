package main

import (
	"context"
	"io"
	"log/slog"
	"runtime"

	"github.com/alecthomas/kong"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/base/logline"
)

type serveCommand struct {
	Settings kong.Plugins `embed:""`
}

// Run serves until the first signal, then shuts down gracefully.
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
	lines := logline.New(raw(env.Stderr))
	defer lines.Flush() //nolint:errcheck // an error of the log cannot be logged
	a, err := app.New(cfg, app.Options{
		Logger: logger(cfg, lines), Stdout: env.Stdout, Processors: processors,
	})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// addThread sets GOMAXPROCS to one more than the number of processors, unless the environment sets it: SQLite's writer
// is often in a system call, which occupies a Go processor (docs/adr/0019).
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
