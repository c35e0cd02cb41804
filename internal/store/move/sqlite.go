package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// sqlite is a SQLite database. Its reads are short, so that a program that runs on it can restart the write-ahead log.
type sqlite struct{ pool *sql.DB }

// openSource opens the database of a data folder, which a program may be using.
func openSource(ctx context.Context, dir string) (*sqlite, error) {
	return openFile(ctx, filepath.Join(dir, db.FileName), "_pragma=synchronous(FULL)&_pragma=cache_size(-4096)")
}

// openStage opens a database that no program uses and that gets its name only when it is complete and synced.
func openStage(ctx context.Context, name string) (*sqlite, error) {
	s, err := openFile(ctx, name,
		"_pragma=synchronous(OFF)&_pragma=journal_mode(MEMORY)&_pragma=cache_size(-65536)&_pragma=foreign_keys(0)")
	if err == nil {
		s.pool.SetMaxOpenConns(1)
	}
	return s, err
}

func openFile(ctx context.Context, name, options string) (*sqlite, error) {
	pool, err := sql.Open("sqlite", db.FileURI(name)+"?mode=rw&_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=wal_autocheckpoint(0)&"+
		options)
	if err == nil {
		err = pool.PingContext(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", name, err)
	}
	return &sqlite{pool}, nil
}

func (s *sqlite) close() error { return s.pool.Close() }

func (s *sqlite) read(ctx context.Context, t *table, x span, data []byte) (b batch, err error) {
	r := newReading(t, x, data)
	query, args := t.read(x, r.limit+1)
	rows, err := s.pool.QueryContext(ctx, query, args...)
	if err != nil {
		return b, fmt.Errorf("read %s: %w", t.name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row, into := make([]any, len(t.cols)), make([]any, len(t.cols))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return b, fmt.Errorf("read %s: %w", t.name, err)
		}
		key, err := keyIn(t, row)
		if err != nil {
			return b, err
		}
		if r.full(key) {
			break
		}
		if r.data, err = appendTuple(r.data, t, row); err != nil {
			return b, err
		}
		r.added(key)
	}
	return r.end(), db.Wrap(rows.Err(), "read "+t.name)
}

// keyIn returns the key of a row.
func keyIn(t *table, row []any) ([]any, error) {
	key := make([]any, len(t.key))
	for i, c := range t.key {
		switch v := row[c].(type) {
		case int64:
			key[i] = v
		case string:
			if db.Storable(v) != v {
				return nil, fmt.Errorf("a key of table %s has bytes that PostgreSQL does not store", t.name)
			}
			key[i] = v
		default:
			return nil, fmt.Errorf("a key of table %s: %w", t.name, tuple.ErrForm)
		}
	}
	return key, nil
}

func (s *sqlite) count(ctx context.Context, t *table) (n int64, err error) {
	err = s.pool.QueryRowContext(ctx, t.count()).Scan(&n)
	return n, db.Wrap(err, "count "+t.name)
}

func (s *sqlite) insert(ctx context.Context, t *table, b batch) error {
	places := strings.Join(slices.Repeat([]string{"?"}, len(t.cols)), ", ")
	statement := "INSERT INTO " + quoted(t.name) + " (" + t.columns() + ") VALUES (" + places + ")"
	return s.write(ctx, t, statement, func(exec func(args ...any) error) error {
		row := make([]any, len(t.cols))
		return tuple.Each(b.data, len(row), func(_ []byte, fields [][]byte) error {
			for i, f := range fields {
				row[i] = tuple.Value(t.cols[i].kind, f)
			}
			return exec(row...)
		})
	})
}

func (s *sqlite) remove(ctx context.Context, t *table, keys [][]any) error {
	return s.write(ctx, t, t.remove(), func(exec func(args ...any) error) error {
		for _, key := range keys {
			if err := exec(key...); err != nil {
				return err
			}
		}
		return nil
	})
}

// write executes a statement several times in a transaction.
func (s *sqlite) write(ctx context.Context, t *table, statement string, run func(exec func(args ...any) error) error) error {
	tx, err := s.pool.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	if err := prepared(ctx, tx, statement, run); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", t.name, err), tx.Rollback())
	}
	return db.Wrap(tx.Commit(), "write "+t.name)
}

func prepared(ctx context.Context, tx *sql.Tx, statement string, run func(exec func(args ...any) error) error) error {
	st, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return run(func(args ...any) error { _, err := st.ExecContext(ctx, args...); return err })
}

// columnsOf returns the columns of all tables, by table.
func (s *sqlite) columnsOf(ctx context.Context) (map[string][]string, error) {
	rows, err := s.pool.QueryContext(ctx, `SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.name`)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string][]string{}
	for rows.Next() {
		var name, col string
		if err := rows.Scan(&name, &col); err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		all[name] = append(all[name], col)
	}
	return all, rows.Err()
}

// schema returns the number of the newest migration.
func (s *sqlite) schema(ctx context.Context) (version int64, err error) {
	err = s.pool.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version").Scan(&version)
	return version, db.Wrap(err, "read the schema's version")
}
