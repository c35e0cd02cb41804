package main

import (
	"context"
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
	a, err := app.New(cfg, app.Options{Logger: logger(cfg, env), Stdout: env.Stdout})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

func logger(cfg config.Config, env *environment) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(env.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(env.Stderr, o))
}
