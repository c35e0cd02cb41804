package app

import (
	"context"
	"errors"
	"log/slog"

	"carillon/internal/base/config"
	"carillon/internal/edge/control"
	"carillon/internal/store"
	"carillon/internal/store/company"
)

// Company runs a command about companies. On SQLite, a program that runs on the data folder runs it, if there is one. On
// PostgreSQL the nodes follow the changes in the database.
func Company(ctx context.Context, cfg config.Config, log *slog.Logger, asked company.Request, report func(company.Progress)) (
	reply company.Reply, err error,
) {
	if cfg.DatabaseURL == "" {
		reply, running, err := control.Company(ctx, cfg.Data, asked, report)
		if running {
			return reply, err
		}
	}
	if err := cfg.CheckFolder(); err != nil {
		return reply, err
	}
	key, err := cfg.MasterKey()
	if err != nil {
		return reply, err
	}
	s, err := store.Open(ctx, store.Options{Dir: cfg.Data, DatabaseURL: cfg.DatabaseURL.Reveal(), MasterKey: key, Logger: log})
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return company.New(s, Version()).Do(ctx, asked, report)
}
