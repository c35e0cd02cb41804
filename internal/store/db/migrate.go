package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// ErrNewerSchema means that a newer program migrated the database to an incompatible schema.
var ErrNewerSchema = errors.New("the database needs a newer carillon")

// serves marks a migration that removes something with the oldest compatible schema of programs. Without the mark all
// older programs stay compatible, as they must during an upgrade of several nodes.
var serves = regexp.MustCompile(`(?m)^-- serves: (\d+)$`)

// schema is a program's migrations.
type schema struct {
	steps  []*goose.Migration
	newest int64 // number of the last one
}

// readSchema reads the migrations of a folder. Each file is one transaction; a released file never changes.
func readSchema(files fs.FS, d dialect) (schema, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return schema{}, fmt.Errorf("list migrations: %w", err)
	}
	var c schema
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return schema{}, fmt.Errorf("read migration: %w", err)
		}
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return schema{}, fmt.Errorf("migration %s has no number: %w", name, err)
		}
		from := int64(0)
		if m := serves.FindSubmatch(text); m != nil {
			if from, err = strconv.ParseInt(string(m[1]), 10, 64); err != nil {
				return schema{}, fmt.Errorf("migration %s: %w", name, err)
			}
		}
		query := d.schema.Replace(string(text))
		if !d.sqlite { // no other node waits, and a busy machine may pause for long between two statements
			query = "SET LOCAL idle_in_transaction_session_timeout = 0;\n" + query
		}
		c.steps = append(c.steps, goose.NewGoMigration(version, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error {
				if err := runScript(ctx, tx, query); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('schema', $1) ON CONFLICT (name) DO UPDATE
					SET value = excluded.value WHERE meta.value < excluded.value`, from)
				return err
			},
		}, nil))
		c.newest = max(c.newest, version)
	}
	return c, nil
}

// migrate brings the database to the program's schema. On PostgreSQL, nodes that start together wait for each other on
// an advisory lock. A database migrated by a newer program is used unchanged if it is compatible, and refused
// otherwise.
func (c schema) migrate(ctx context.Context, db *sql.DB, d dialect, log *slog.Logger) error {
	unlock, err := lockMigrations(ctx, db, d)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := goose.NewProvider(d.goose, db, nil, goose.WithGoMigrations(c.steps...), goose.WithDisableGlobalRegistry(true),
		goose.WithAllowOutofOrder(true)) // a step may have been released after a later one
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	version, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if version > c.newest {
		if err := c.served(ctx, db); err != nil {
			return err
		}
		log.WarnContext(ctx, "the database was migrated by a newer program; going on with it", "schema", version, "own", c.newest)
		return nil
	}
	_, err = p.Up(ctx)
	return Wrap(err, "migrate")
}

// served checks whether the program is compatible with a database that a newer one migrated: ErrNewerSchema if not.
func (c schema) served(ctx context.Context, db *sql.DB) error {
	var from int64 // oldest compatible schema
	if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(value), 0) FROM meta WHERE name = 'schema'").Scan(&from); err != nil {
		return fmt.Errorf("read what the schema serves: %w", err)
	}
	if from > c.newest {
		return fmt.Errorf("%w: its schema serves programs from schema %d on, this one has %d", ErrNewerSchema, from, c.newest)
	}
	return nil
}

// Served checks whether this program is still compatible with the database, which a newer one may have migrated
// meanwhile: ErrNewerSchema if not.
func (h *Health) Served(ctx context.Context) error {
	return Unavailable(h.d.schema.served(ctx, h.d.read))
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

// migrationLock is the key of the advisory lock held by the node that migrates.
const migrationLock = 0x6361_7269

// Alone runs fn while no other node migrates the database or runs its own.
func Alone(ctx context.Context, d *DB, fn func(ctx context.Context) error) error {
	unlock, err := lockMigrations(ctx, d.write, d.dialect)
	if err != nil {
		return err
	}
	defer unlock()
	return fn(ctx)
}

func lockMigrations(ctx context.Context, db *sql.DB, d dialect) (unlock func(), err error) {
	if d.sqlite {
		return func() {}, nil
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	// The lock outlives the transaction, in which alone no time-out applies.
	wait := []string{"BEGIN", "SET LOCAL lock_timeout = 0", fmt.Sprintf("SELECT pg_advisory_lock(%d)", migrationLock), "COMMIT"}
	for _, text := range wait {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the connection is dropped
			_ = conn.Close()
			return nil, fmt.Errorf("lock migrations: %w", err)
		}
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
		_ = conn.Close()
	}, nil
}

// NewestSchema returns the schema version of a program with these migrations.
func NewestSchema(migrations fs.FS) (int64, error) {
	c, err := readSchema(migrations, sqliteDialect())
	return c.newest, err
}
