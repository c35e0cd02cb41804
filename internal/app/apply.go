package app

import (
	"context"
	"errors"
	"log/slog"

	"carillon/internal/auth"
	"carillon/internal/config"
	"carillon/internal/limit"
	"carillon/internal/store"
)

// Apply applies the set-up files that the settings name; it neither listens nor delivers. On SQLite it fails while the
// program runs on the data folder.
func Apply(ctx context.Context, cfg config.Config, log *slog.Logger) (summary store.Summary, err error) {
	// Read the files first, to report mistakes in them without a database.
	p, err := config.ReadProvision(cfg.Provision, ProvisionOptions())
	if err != nil {
		return nil, err
	}
	key, err := cfg.MasterKey()
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, store.Options{Dir: cfg.Data, DatabaseURL: cfg.DatabaseURL.Reveal(), MasterKey: key, Logger: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	passwords := auth.New(st.Accounts(), limit.New(st.Rates(), log), authOptions(cfg, 0, log))
	if summary, err = st.Apply(ctx, p, passwords.KeepPassword); err != nil {
		return nil, err
	}
	warnUnbuilt(ctx, log, p)
	return summary, nil
}
