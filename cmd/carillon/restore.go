package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"carillon/internal/base/config"
	"carillon/internal/store"
)

// restoreSettings are the settings for the destination and the master key.
//
//nolint:gochecknoglobals // read only
var restoreSettings = []string{"data", "database-url", "master-key-file"}

type restoreCommand struct {
	From     string       `required:"" placeholder:"FILE" help:"Backup to restore, with its manifest FILE.json next to it."`
	Settings kong.Plugins `embed:""`
	jsonFlag
}

// restoredFolder is the result of a restore.
type restoredFolder struct {
	TakenAt time.Time `json:"taken_at"`
	At      time.Time `json:"restored_at"`
	Held    int       `json:"held"`
	Failed  int       `json:"failed"`
}

const afterRestore = `restored what was confirmed by %s
%d messages were due by now and are held: they may have been sent since. Start the program, then decide:
  carillon restored status | send | fail
%d messages were being sent when the backup was taken; they ended as failed, outcome_unknown.
What is scheduled for later goes on by itself.`

// Run restores into a new folder and puts messages that are due on hold.
func (c *restoreCommand) Run(ctx context.Context, env *environment) error {
	cfg, err := onSQLite(c.Settings, env)
	if err != nil {
		return err
	}
	key, err := restoreKey(&cfg)
	if err != nil {
		return err
	}
	bar := progress{out: raw(env.Stderr), terminal: env.Terminal, what: "MiB"}
	m, r, err := store.Restore(ctx, store.RestoreOptions{
		From: c.From, Dir: cfg.Data, MasterKey: key, Now: time.Now().UTC(),
		Copied: func(done, total int) {
			bar.total = total
			bar.at(done, 0)
		},
		Held: func(done, _ int) {
			if done%100_000 < 2000 {
				_, _ = fmt.Fprintf(env.Stderr, "%d messages held\n", done)
			}
		},
	})
	if err != nil {
		bar.clear()
		return err
	}
	report := restoredFolder{m.TakenAt, r.At, r.Total(), r.Failed}
	return c.done(env, report, fmt.Sprintf(afterRestore, m.TakenAt.Format(time.RFC3339), report.Held, report.Failed))
}

// restoreKey reads the master key of the backup. It never creates one, because a new key could not decrypt the backup.
func restoreKey(cfg *config.Config) ([32]byte, error) {
	name := filepath.Join(cfg.Data, "master.key")
	if _, err := os.Stat(name); cfg.MasterKeyFile == "" && cfg.DatabaseURL == "" && errors.Is(err, fs.ErrNotExist) {
		return [32]byte{}, usage("the installation's master key is needed: put it at %s or name it with --master-key-file", name)
	}
	return cfg.MasterKey()
}
