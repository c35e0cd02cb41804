package store

import (
	"context"
	"database/sql"
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing/fstest"
)

// Migration is one more file beside the program's own.
type Migration struct{ Name, Text string }

// MigrateAs does what a program with these further migrations does at its start; Served is what it asks while it runs.
func (s *Store) MigrateAs(ctx context.Context, log *slog.Logger, more ...Migration) error {
	c, err := s.with(more)
	if err != nil {
		return err
	}
	db := s.write
	if s.d.sqlite { // its one connection is the committer's
		if db, err = sql.Open("sqlite", "file:"+filepath.Join(filepath.Dir(s.lock.Name()), "carillon.db")+"?_pragma=busy_timeout(5000)"); err != nil {
			return err
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
	}
	return c.migrate(ctx, db, s.d, log)
}

func (s *Store) with(more []Migration) (schema, error) {
	files := fstest.MapFS{}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return schema{}, err
	}
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return schema{}, err
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	for _, m := range more {
		files["migrations/"+m.Name] = &fstest.MapFile{Data: []byte(m.Text)}
	}
	return readSchema(files, s.d)
}
