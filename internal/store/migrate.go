package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema to the newest version. Each file is one transaction; a released file never changes. On
// PostgreSQL nodes that start together wait for each other on an advisory lock.
func migrate(ctx context.Context, db *sql.DB, d dialect) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	var steps []*goose.Migration
	for _, name := range files {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read migration: %w", err)
		}
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return fmt.Errorf("migration %s has no number: %w", name, err)
		}
		query := d.schema.Replace(string(text))
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error { return runScript(ctx, tx, query) },
		}, nil))
	}
	unlock, err := lockMigrations(ctx, db, d)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := goose.NewProvider(d.goose, db, nil, goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// runScript runs the statements of a file one by one, which both drivers allow inside a transaction.
func runScript(ctx context.Context, tx *sql.Tx, text string) error {
	for statement := range strings.SplitSeq(text, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("run %.60q: %w", strings.TrimSpace(statement), err)
		}
	}
	return nil
}

// migrationLock is the key of the advisory lock under which one node migrates.
const migrationLock = 0x6361_7269

func lockMigrations(ctx context.Context, db *sql.DB, d dialect) (unlock func(), err error) {
	if d.sqlite {
		return func() {}, nil
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
		_ = conn.Close()
	}, nil
}

// newestSchema is the version that migrate brings a database to.
func newestSchema() (newest int64, err error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	for _, name := range files {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, perr := strconv.ParseInt(number, 10, 64)
		if perr != nil {
			return 0, fmt.Errorf("migration %s has no number: %w", name, perr)
		}
		newest = max(newest, version)
	}
	return newest, err
}
