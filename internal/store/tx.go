package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"carillon"
)

// Tx is one transaction on one connection. On SQLite statements are prepared once a connection; pgx does so by itself.
type Tx struct {
	s     *Store
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	plain map[string]driver.Stmt // the driver's own, for inserts

	slot    int // of the committer, among those of all nodes (pipeline.go)
	careful int // batches that a committer still runs statement by statement (pipeline.go)
}

// watcher hears every query before it is run: tests explain what the store really asks.
type watcher func(query string, args []any)

func (s *Store) watched(query string, args []any) {
	if w := s.watch.Load(); w != nil {
		(*w)(query, args)
	}
}

func (t *Tx) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := t.stmts[query]; st != nil {
		return st, nil
	}
	st, err := t.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = st
	return st, nil
}

// exec runs a statement and gives the number of rows it changed.
func (t *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	t.s.watched(query, args)
	var res sql.Result
	var err error
	if t.stmts != nil {
		st, perr := t.prepared(ctx, query)
		if perr != nil {
			return 0, perr
		}
		res, err = st.ExecContext(ctx, args...)
	} else {
		res, err = t.conn.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// insert runs a statement of SQLite's through the driver itself: what database/sql does beside it for each value costs a
// third of a long insert.
func (t *Tx) insert(ctx context.Context, query string, args []driver.NamedValue) error {
	if w := t.s.watch.Load(); w != nil {
		told := make([]any, len(args))
		for i := range args {
			told[i] = args[i].Value
		}
		(*w)(query, told)
	}
	return t.conn.Raw(func(conn any) error {
		st := t.plain[query]
		if st == nil {
			var err error
			if st, err = conn.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
				return err
			}
			t.plain[query] = st
		}
		_, err := st.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	})
}

func (t *Tx) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	t.s.watched(query, args)
	if t.stmts != nil {
		st, err := t.prepared(ctx, query)
		if err != nil {
			return nil, err
		}
		return st.QueryContext(ctx, args...)
	}
	return t.conn.QueryContext(ctx, query, args...)
}

// one scans the only row of a query; sql.ErrNoRows when there is none.
func (t *Tx) one(ctx context.Context, dest []any, query string, args ...any) error {
	t.s.watched(query, args)
	if t.stmts != nil {
		st, err := t.prepared(ctx, query)
		if err != nil {
			return err
		}
		return st.QueryRowContext(ctx, args...).Scan(dest...)
	}
	return t.conn.QueryRowContext(ctx, query, args...).Scan(dest...)
}

// Update runs fn in a transaction of its own. It must be repeatable: a deadlock or a serialization failure runs it
// again. On SQLite the caller's context bounds the wait, not the commit; on PostgreSQL it bounds all of it, and what it
// ends in the COMMIT may be stored or not.
func (s *Store) Update(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	if s.d.sqlite {
		return s.accepts.do(ctx, &work{kind: workAlone, run: fn})
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return unavailable(fmt.Errorf("take a connection: %w", err))
	}
	defer func() { _ = conn.Close() }()
	return unavailable(runTx(ctx, &Tx{s: s, conn: conn}, func(ctx context.Context, tx *Tx) error {
		// Its rows are not those that every request waits for, and what stands between its statements may take a while.
		if _, err := tx.exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 2000"); err != nil {
			return fmt.Errorf("allow pauses: %w", err)
		}
		return fn(ctx, tx)
	}))
}

// Configure is Update for what the caches hold: companies, keys, senders, templates, suppressions. Once it has
// returned this node reads the new state; other nodes follow within a second. It is not given up with its caller: a
// key revoked by a commit that nobody waited for must not stay in the caches.
func (s *Store) Configure(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	err := s.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *Tx) error {
		if _, err := tx.exec(ctx, "UPDATE meta SET value = value + 1 WHERE name = 'generation'"); err != nil {
			return fmt.Errorf("raise the generation: %w", err)
		}
		return fn(ctx, tx)
	})
	s.dir.drop()
	return err
}

const txAttempts = 5

// runTx runs fn between BEGIN and COMMIT on the transaction's connection, again after a deadlock.
func runTx(ctx context.Context, tx *Tx, fn func(ctx context.Context, tx *Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := tryTx(ctx, tx, fn)
		if err == nil || !retryable(err) || attempt == txAttempts {
			return err
		}
	}
}

func tryTx(ctx context.Context, tx *Tx, fn func(ctx context.Context, tx *Tx) error) error {
	if err := tx.begin(ctx); err != nil {
		return err
	}
	if err := fn(ctx, tx); err != nil {
		return errors.Join(err, tx.rollback(ctx))
	}
	if err := tx.commit(ctx); err != nil {
		_ = tx.rollback(ctx)
		return err
	}
	return nil
}

func (t *Tx) begin(ctx context.Context) error {
	text := "BEGIN"
	if t.s.d.sqlite {
		text = "BEGIN IMMEDIATE"
	}
	if _, err := t.exec(ctx, text); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

func (t *Tx) commit(ctx context.Context) error {
	if _, err := t.exec(ctx, "COMMIT"); err != nil {
		return &commitError{err}
	}
	t.s.committed()
	return nil
}

// commitError is the failure of a COMMIT: without the database's answer nobody knows whether it was done.
type commitError struct{ err error }

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// rollback must also run for a caller that left.
func (t *Tx) rollback(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := t.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// stmtCache prepares the hot reads once.
type stmtCache struct {
	m sync.Map // query → *sql.Stmt
}

func (c *stmtCache) on(ctx context.Context, db *sql.DB, query string) (*sql.Stmt, error) {
	if st, ok := c.m.Load(query); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if old, raced := c.m.LoadOrStore(query, st); raced {
		_ = st.Close()
		return old.(*sql.Stmt), nil
	}
	return st, nil
}

func (c *stmtCache) close() {
	c.m.Range(func(_, st any) bool {
		_ = st.(*sql.Stmt).Close()
		return true
	})
}

// rows runs a read on the read pool.
func (s *Store) rows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s.watched(query, args)
	if !s.d.sqlite {
		rows, err := s.read.QueryContext(ctx, query, args...)
		return rows, unavailable(err)
	}
	st, err := s.stmts.on(ctx, s.read, query)
	if err != nil {
		return nil, unavailable(err)
	}
	rows, err := st.QueryContext(ctx, args...)
	return rows, unavailable(err)
}

// row scans the only row of a read; sql.ErrNoRows when there is none.
func (s *Store) row(ctx context.Context, dest []any, query string, args ...any) error {
	s.watched(query, args)
	if !s.d.sqlite {
		return unavailable(s.read.QueryRowContext(ctx, query, args...).Scan(dest...))
	}
	st, err := s.stmts.on(ctx, s.read, query)
	if err != nil {
		return unavailable(err)
	}
	return unavailable(st.QueryRowContext(ctx, args...).Scan(dest...))
}

// absent turns sql.ErrNoRows into the caller's 404.
func absent(err error, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return carillon.Absent(what)
	}
	return err
}
