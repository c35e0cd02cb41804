package store

import (
	"context"
	"io/fs"
	"log/slog"
	"testing/fstest"
)

// Migration is one more file next to the program's own.
type Migration struct{ Name, Text string }

// MigrateAs does what a program with these further migrations does at its start; Served is what it asks while it runs.
func (s *Store) MigrateAs(ctx context.Context, log *slog.Logger, more ...Migration) error {
	files := fstest.MapFS{}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	for _, m := range more {
		files["migrations/"+m.Name] = &fstest.MapFile{Data: []byte(m.Text)}
	}
	return s.DB.MigrateAs(ctx, log, files)
}
