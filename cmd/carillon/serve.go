package main

import (
	"context"
	"io"
	"log/slog"

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
	keepHeapRoom()
	lines := app.NewLogWriter(env.Stderr)
	defer lines.Flush() //nolint:errcheck // there is nowhere to say that the log cannot be written
	a, err := app.New(cfg, app.Options{Logger: logger(cfg, lines), Stdout: env.Stdout, HashWorker: hashWorkerArgs})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

func logger(cfg config.Config, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
