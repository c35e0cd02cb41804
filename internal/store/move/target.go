package move

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/db"
)

// moveLock is the advisory lock of the command that moves a database.
const moveLock = 0x6361_726d

// nodeLocks is the class of advisory locks that show which nodes' processes are running (work.Nodes).
const nodeLocks = 0x6361_726c

// lockDatabase locks a PostgreSQL database for this command, as long as the connection lives. The server may release the
// lock of a command that has just ended a moment later.
func lockDatabase(ctx context.Context, c *pgx.Conn) error {
	err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '3s'"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "SELECT pg_advisory_lock($1)", moveLock) // of the session, not of the transaction
		return err
	})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "55P03" {
		return errors.New("another `carillon migrate` is using the PostgreSQL database")
	}
	return db.Wrap(err, "lock the database")
}

// errInUse means that a node runs on the PostgreSQL database.
var errInUse = errors.New("a node runs on the PostgreSQL database: stop all of them first")

// noNode returns an error if the process of a node is connected.
func noNode(ctx context.Context, c *pgx.Conn) error {
	var n int
	err := c.QueryRow(ctx, `SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, int64(nodeLocks)).Scan(&n)
	if err == nil && n > 0 {
		err = errInUse
	}
	return db.Wrap(err, "look for nodes")
}

// newTarget prepares an empty PostgreSQL database for the rows: it migrates it, empties all tables, marks it as
// incomplete and removes the foreign keys, which would delete rows of other tables with the ranges that are copied again.
func newTarget(ctx context.Context, c *pgx.Conn, url string, log *slog.Logger) (m store.MoveMark, tables []*table, err error) {
	former, err := targetMark(ctx, c)
	if err != nil {
		return m, nil, err
	}
	d, err := db.Open(ctx, db.Options{URL: url, Migrations: store.Migrations(), Logger: log})
	if err != nil {
		return m, nil, fmt.Errorf("prepare the target: %w", err)
	}
	if err := d.Close(); err != nil {
		return m, nil, fmt.Errorf("prepare the target: %w", err)
	}
	if tables, err = tablesOf(ctx, c); err != nil {
		return m, nil, err
	}
	m = store.MoveMark{ID: carillon.NewID(time.Now()), State: store.MoveCopying, At: time.Now().UTC(), Keys: former.Keys}
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return empty(ctx, tx, tables, &m) })
	return m, tables, db.Wrap(err, "prepare the target")
}

// targetMark returns the mark of a database that may become a target: one without tables, one without companies, or one
// that an earlier move left incomplete.
func targetMark(ctx context.Context, c *pgx.Conn) (m store.MoveMark, err error) {
	var encoding string
	if err := c.QueryRow(ctx, "SELECT current_setting('server_encoding')").Scan(&encoding); err != nil {
		return m, fmt.Errorf("read the target: %w", err)
	}
	if encoding != "UTF8" {
		return m, fmt.Errorf("the target's encoding is %s: create the database with UTF8", encoding)
	}
	var tables, ours int
	if err := c.QueryRow(ctx, `SELECT COUNT(*), COUNT(*) FILTER (WHERE relname IN ('goose_db_version', 'meta', 'company')) FROM pg_class
		WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`).Scan(&tables, &ours); err != nil {
		return m, fmt.Errorf("read the target: %w", err)
	}
	switch {
	case tables == 0:
		return m, nil
	case ours < 3:
		return m, errors.New("the target has tables of another program: name an empty database")
	}
	if err := noNode(ctx, c); err != nil {
		return m, err
	}
	if m, err = markIn(metaOf(ctx, c, store.MoveMarkName)); err != nil {
		return m, err
	}
	if m.State == store.MoveCopying || m.State == store.MoveCopied {
		return m, nil
	}
	var companies int
	if err := c.QueryRow(ctx, "SELECT COUNT(*) FROM company").Scan(&companies); err != nil {
		return m, fmt.Errorf("read the target: %w", err)
	}
	if companies > 0 {
		return m, fmt.Errorf("the target is not empty: it has an installation with %d companies. Name an empty database", companies)
	}
	return store.MoveMark{}, nil
}

// empty empties the tables, marks the database and removes the foreign keys, which the mark keeps.
func empty(ctx context.Context, tx pgx.Tx, tables []*table, m *store.MoveMark) error {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = quoted(t.name)
	}
	if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")+", node"); err != nil {
		return err
	}
	present, err := foreignKeys(ctx, tx)
	if err != nil {
		return err
	}
	for _, k := range present {
		if _, err := tx.Exec(ctx, "ALTER TABLE "+quoted(k.Table)+" DROP CONSTRAINT "+quoted(k.Name)); err != nil {
			return err
		}
		m.Keys = slices.DeleteFunc(m.Keys, func(x store.ForeignKey) bool { return x.Table == k.Table && x.Name == k.Name })
	}
	m.Keys = append(m.Keys, present...)
	return markPostgres(ctx, tx, *m)
}

func foreignKeys(ctx context.Context, tx pgx.Tx) ([]store.ForeignKey, error) {
	rows, err := tx.Query(ctx, `SELECT t.relname, k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint AS k
		JOIN pg_class AS t ON t.oid = k.conrelid WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace
		ORDER BY t.relname, k.conname`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k store.ForeignKey, err error) {
		err = row.Scan(&k.Table, &k.Name, &k.Definition)
		k.Definition = strings.TrimSuffix(k.Definition, " NOT VALID")
		return k, err
	})
}

// complete adds the foreign keys, unchecked, and marks the target as complete. The source has checked them, and checkKeys
// does so again when the program runs.
func complete(ctx context.Context, c *pgx.Conn, m *store.MoveMark) error {
	err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		for _, k := range m.Keys {
			add := "ALTER TABLE " + quoted(k.Table) + " ADD CONSTRAINT " + quoted(k.Name) + " " + k.Definition + " NOT VALID"
			if _, err := tx.Exec(ctx, add); err != nil {
				return err
			}
		}
		m.Keys, m.State = nil, store.MoveCopied
		return markPostgres(ctx, tx, *m)
	})
	return db.Wrap(err, "complete the target")
}

// checkKeys checks the foreign keys of all rows and gathers statistics for the planner. Programs may write meanwhile.
func checkKeys(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, `SELECT t.relname, k.conname FROM pg_constraint AS k JOIN pg_class AS t ON t.oid = k.conrelid
		WHERE k.contype = 'f' AND NOT k.convalidated AND k.connamespace = current_schema()::regnamespace`)
	if err != nil {
		return fmt.Errorf("check the foreign keys: %w", err)
	}
	keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k store.ForeignKey, err error) {
		err = row.Scan(&k.Table, &k.Name)
		return k, err
	})
	for _, k := range keys {
		if err == nil {
			_, err = c.Exec(ctx, "ALTER TABLE "+quoted(k.Table)+" VALIDATE CONSTRAINT "+quoted(k.Name))
		}
	}
	if err == nil {
		_, err = c.Exec(ctx, "ANALYZE")
	}
	return db.Wrap(clean(err), "check the foreign keys")
}

// arrive frees a complete target for programs.
func arrive(ctx context.Context, c *pgx.Conn, m store.MoveMark) error {
	m.State = store.MoveArrived
	return markPostgres(ctx, c, m)
}
