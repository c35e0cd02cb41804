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

	"carillon/internal/app"
	"carillon/internal/edge/control"
	"carillon/internal/store"
)

// backupSettings are the settings that locate the data.
//
//nolint:gochecknoglobals // read only
var backupSettings = []string{"data", "database-url"}

type backupCommand struct {
	To       string       `required:"" placeholder:"FILE" help:"${backup_to_help}"`
	Settings kong.Plugins `embed:""`
	jsonFlag
}

const keyWarning = `The master key is not in the backup. Without it the backup cannot be used: keep a copy of it (key %s)
somewhere else. It is the file that --master-key-file names, else %s.
`

// Run writes the copy, verifies it, and only then renames it to its final name.
func (c *backupCommand) Run(ctx context.Context, env *environment) error {
	cfg, err := onSQLite(c.Settings, env)
	if err != nil {
		return err
	}
	to, err := filepath.Abs(c.To)
	if err != nil {
		return err
	}
	for _, name := range []string{to, store.ManifestFile(to)} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists already: a backup never replaces another", name)
		}
	}
	part := to + ".part"
	taken, err := c.copy(ctx, env, cfg.Data, part)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(env.Stderr, "verifying …")
	m, err := store.Inspect(ctx, part)
	if err == nil {
		m.Program, m.TakenAt = app.Version(), taken
		err = m.Publish(part, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	_, _ = fmt.Fprintf(env.Stderr, keyWarning, m.MasterKey, filepath.Join(cfg.Data, "master.key"))
	line := fmt.Sprintf("%s: %d notifications, %d messages, %d bytes, verified", to, m.Counts.Notifications, m.Counts.Messages, m.Bytes)
	return c.done(env, m, line)
}

// copy makes the copy itself if no program has the data folder open; otherwise it asks the running program to. The
// copy contains everything accepted before the returned time.
func (c *backupCommand) copy(ctx context.Context, env *environment, dir, part string) (time.Time, error) {
	bar := progress{out: raw(env.Stderr), terminal: env.Terminal, what: "pages"}
	progress := func(done, total int) {
		bar.total = total
		bar.at(done, 0)
	}
	begin := time.Now().UTC()
	err := store.BackupFolder(ctx, dir, part, progress)
	if !errors.Is(err, store.ErrFolderInUse) {
		return begin, err
	}
	if err := control.Backup(ctx, dir, part, progress); err != nil {
		bar.clear()
		return begin, err
	}
	if _, err := os.Stat(part); err != nil {
		return begin, fmt.Errorf("the running program wrote %s where this command does not see it: "+
			"choose a folder that is the same for both (a systemd unit may hide folders from its service): %w", part, err)
	}
	return begin, nil
}
