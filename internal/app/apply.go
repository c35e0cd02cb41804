package app

import (
	"context"
	"errors"
	"log/slog"

	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/base/config"
	"carillon/internal/call/telephone"
	"carillon/internal/edge/control"
	"carillon/internal/event/hook"
	"carillon/internal/store"
)

// Apply applies the set-up files named by the settings. It neither listens nor delivers. On SQLite, a program that
// runs on the data folder applies them, if there is one.
func Apply(ctx context.Context, cfg config.Config, log *slog.Logger) (store.Summary, error) {
	if err := useZones(cfg); err != nil {
		return nil, err
	}
	// Read the files first, to report mistakes in them without a database.
	bundle, p, err := config.ReadBundle(cfg.Provision, ProvisionOptions())
	if err != nil {
		return nil, err
	}
	var done control.Applied
	running := false
	if cfg.DatabaseURL == "" {
		done, running, err = control.Apply(ctx, cfg.Data, bundle)
	}
	if !running {
		done.Warnings = hook.Unreached(hook.NewClient(cfg.MediaAllowPrivate), p)
		done.Summary, err = applyAlone(ctx, cfg, p, log)
	}
	if err != nil {
		return nil, err
	}
	warnUnbuilt(ctx, log, p)
	warnOf(ctx, log, done.Warnings)
	return done.Summary, nil
}

// applyAlone applies the set-up to the database itself.
func applyAlone(ctx context.Context, cfg config.Config, p *config.Provision, log *slog.Logger) (summary store.Summary, err error) {
	if err := cfg.CheckFolder(); err != nil {
		return nil, err
	}
	key, err := cfg.MasterKey()
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, store.Options{
		Dir: cfg.Data, DatabaseURL: cfg.DatabaseURL.Reveal(), MasterKey: key, Logger: log, Cell: cfg.Cell,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	passwords := auth.New(st, limit.New(st.Rates, log), authOptions(cfg, 0, log, nil))
	if summary, err = st.Apply(ctx, p, passwords.KeepPassword); err == nil {
		telephone.WarnOfNumbers(ctx, st, log)
	}
	return summary, err
}
