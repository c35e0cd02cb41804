package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"testing/fstest"

	"carillon/internal/store/db"
)

// Migration is one more file next to the program's own.
type Migration struct{ Name, Text string }

// StoreAs has a program with the migrations up to one store something in a database.
func StoreAs(ctx context.Context, o Options, newest string, statements ...string) error {
	d, err := openWith(ctx, o, func(name string) bool { return name <= newest+"~" })
	if err != nil {
		return err
	}
	err = d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
	return errors.Join(err, d.Close())
}

// StartAs does the same as the start of a program with these additional migrations.
func StartAs(ctx context.Context, o Options, more ...Migration) error {
	d, err := openWith(ctx, o, func(string) bool { return true }, more...)
	if err != nil {
		return err
	}
	return d.Close()
}

// openWith opens a database with some of the migrations, and with others.
func openWith(ctx context.Context, o Options, has func(name string) bool, more ...Migration) (*db.DB, error) {
	files := fstest.MapFS{}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if has(path.Base(name)) {
			files[name] = &fstest.MapFile{Data: text}
		}
	}
	for _, m := range more {
		files["migrations/"+m.Name] = &fstest.MapFile{Data: []byte(m.Text)}
	}
	return db.Open(ctx, db.Options{Dir: o.Dir, URL: o.DatabaseURL, Migrations: files, Logger: o.Logger})
}
