package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Tx is one transaction on one connection. On SQLite, statements are prepared once per connection; pgx does so
// automatically.
type Tx struct {
	db    *DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	plain map[string]driver.Stmt // the driver's own statements, for inserts
	era   int64                  // of the connection; see origins

	slot     int   // slot of the committer, see Slot
	careful  int   // number of batches still to run statement by statement
	refused  int   // consecutive failed flushes
	recorded []any // recorded since BEGIN
}

// Record passes x to the Recorder, which writes it in this transaction right before its COMMIT, together with
// everything else that was recorded.
func (t *Tx) Record(x any) { t.recorded = append(t.recorded, x) }

// Recorder writes the recorded values once per transaction, after all of its operations, regardless of their places.
// Rows that many transactions need are locked there, in a fixed order, for little longer than the commit.
type Recorder struct {
	Write      func(ctx context.Context, tx *Tx, recorded []any) error
	Statements func(recorded []any) []Statement // the same on PostgreSQL, for a flush
	Committed  func(recorded []any)             // called after the commit; on PostgreSQL not if the COMMIT got no response
}

// OnRecorded sets the Recorder, before the first transaction that records.
func (d *DB) OnRecorded(r Recorder) { d.recorder = r }

// Watcher is called with every statement before it runs: tests explain the actual queries.
type Watcher func(query string, args []any)

// Watch reports every statement to w; nil stops that.
func (d *DB) Watch(w Watcher) {
	if w == nil {
		d.watch.Store(nil)
		return
	}
	d.watch.Store(&w)
}

func (d *DB) watched(query string, args []any) {
	if w := d.watch.Load(); w != nil {
		(*w)(query, args)
	}
}

// DB returns the transaction's database.
func (t *Tx) DB() *DB { return t.db }

// SQLite reports whether the engine is SQLite.
func (t *Tx) SQLite() bool { return t.db.SQLite() }

// Slots is the number of slots, shared by the committers of all nodes.
const Slots = 64

// Slot returns the number of the committer that runs the transaction, in [0, Slots): counters split by it are rarely
// contended.
func (t *Tx) Slot() int { return t.slot }

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

// Exec runs a statement and returns the number of rows it changed.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	args = storable(args)
	t.db.watched(query, args)
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

// Insert runs a statement through SQLite's driver itself: the work of database/sql for each value takes a third of a
// long insert.
func (t *Tx) Insert(ctx context.Context, query string, args []driver.NamedValue) error {
	args = storableNamed(args)
	if w := t.db.watch.Load(); w != nil {
		values := make([]any, len(args))
		for i := range args {
			values[i] = args[i].Value
		}
		(*w)(query, values)
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

// Query runs a statement that returns rows.
func (t *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	args = storable(args)
	t.db.watched(query, args)
	if t.stmts != nil {
		st, err := t.prepared(ctx, query)
		if err != nil {
			return nil, err
		}
		return st.QueryContext(ctx, args...)
	}
	return t.conn.QueryContext(ctx, query, args...)
}

// Row scans the only row of a query; sql.ErrNoRows if there is none.
func (t *Tx) Row(ctx context.Context, dest []any, query string, args ...any) error {
	args = storable(args)
	t.db.watched(query, args)
	if t.stmts != nil {
		st, err := t.prepared(ctx, query)
		if err != nil {
			return err
		}
		return st.QueryRowContext(ctx, args...).Scan(dest...)
	}
	return t.conn.QueryRowContext(ctx, query, args...).Scan(dest...)
}

// Statement is one statement of a flush or a transaction. Scan reads a returned row; nil if there is none.
type Statement struct {
	SQL  string
	Args []any
	Scan func(scan Scan) error
}

// Run runs statements one by one.
func (t *Tx) Run(ctx context.Context, statements ...Statement) error {
	for i := range statements {
		st := &statements[i]
		var err error
		if st.Scan == nil {
			_, err = t.Exec(ctx, st.SQL, st.Args...)
		} else {
			err = Each(ctx, t, st.Scan, st.SQL, st.Args...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flush runs statements on PostgreSQL as one transaction and one round trip: without BEGIN, all statements of a round
// trip are committed together.
func (t *Tx) flush(ctx context.Context, statements []Statement) error {
	if len(t.recorded) > 0 {
		statements = append(statements, t.db.recorder.Statements(t.recorded)...)
	}
	if err := t.send(ctx, statements); err != nil {
		return &commitError{err}
	}
	t.ended()
	return nil
}

// send runs statements on PostgreSQL in one round trip.
func (t *Tx) send(ctx context.Context, statements []Statement) error {
	var b pgx.Batch
	for i := range statements {
		st := &statements[i]
		args := storable(st.Args)
		t.db.watched(st.SQL, args)
		queued := b.Queue(st.SQL, args...)
		if st.Scan != nil {
			queued.Query(func(rows pgx.Rows) error {
				for rows.Next() {
					if err := st.Scan(rows.Scan); err != nil {
						return err
					}
				}
				return rows.Err()
			})
		}
	}
	var err error
	raw := t.conn.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("not a connection of pgx: %T", driver)
		}
		err = conn.Conn().SendBatch(ctx, &b).Close()
		return nil
	})
	return errors.Join(err, raw)
}

// Conn returns the transaction's connection.
func (t *Tx) Conn() *sql.Conn { return t.conn }

// Update runs fn in its own transaction. fn must be repeatable: a deadlock or a serialization failure runs it again.
// On SQLite the caller's context bounds the wait, not the commit; on PostgreSQL it bounds both, and a COMMIT that it
// interrupts may or may not be stored. fn sees the values of the caller's context.
func (d *DB) Update(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	if d.SQLite() {
		return d.Commits.foreground.do(ctx, &write{exclusive: func(writer context.Context, tx *Tx) error {
			return fn(withValues{writer, ctx}, tx)
		}})
	}
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return Unavailable(fmt.Errorf("take a connection: %w", err))
	}
	defer func() { _ = conn.Close() }()
	return Unavailable(runTx(ctx, &Tx{db: d, conn: conn}, func(ctx context.Context, tx *Tx) error {
		// Unlike a request's, its rows are not contended, and there may be pauses between its statements.
		if _, err := tx.Exec(ctx, `SELECT set_config('idle_in_transaction_session_timeout',
			1000 * EXTRACT(EPOCH FROM GREATEST('2s', current_setting('idle_in_transaction_session_timeout')::interval))::int
			|| 'ms', true)`); err != nil {
			return fmt.Errorf("allow pauses: %w", err)
		}
		return fn(ctx, tx)
	}))
}

// withValues is the writer's context with the values of a caller's context.
type withValues struct {
	context.Context //nolint:containedctx // a context itself
	caller          context.Context
}

// Value implements context.Context.
func (c withValues) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.caller.Value(key)
}

// Exec runs one statement in its own transaction (Update), and returns the number of changed rows.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return Returning(ctx, d, func(ctx context.Context, tx *Tx) (int64, error) { return tx.Exec(ctx, query, args...) })
}

// OnWriter runs fn on SQLite's writing connection, between two transactions. It waits for a full queue.
func (d *DB) OnWriter(ctx context.Context, fn func(ctx context.Context, conn *sql.Conn) error) error {
	for {
		err := d.Commits.foreground.do(context.WithoutCancel(ctx), &write{
			raw: true, exclusive: func(ctx context.Context, tx *Tx) error { return fn(ctx, tx.conn) },
		})
		if !isOverloaded(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
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
	err := fn(ctx, tx)
	if err == nil && len(tx.recorded) > 0 {
		err = tx.db.recorder.Write(ctx, tx, tx.recorded)
	}
	if err != nil {
		return errors.Join(err, tx.rollback(ctx))
	}
	if err := tx.commit(ctx); err != nil {
		_ = tx.rollback(ctx)
		return err
	}
	tx.ended()
	return nil
}

// ended reports the recorded values after the commit.
func (t *Tx) ended() {
	if len(t.recorded) > 0 {
		t.db.recorder.Committed(t.recorded)
	}
	t.recorded = nil
}

func (t *Tx) begin(ctx context.Context) error {
	t.recorded = nil
	text := "BEGIN"
	if t.SQLite() {
		text = "BEGIN IMMEDIATE"
	}
	_, err := t.Exec(ctx, text)
	return Wrap(err, "begin")
}

func (t *Tx) commit(ctx context.Context) error {
	if _, err := t.Exec(ctx, "COMMIT"); err != nil {
		return &commitError{err}
	}
	t.db.committed()
	return nil
}

// commitError is the failure of a COMMIT; without a response of the database the outcome is unknown.
type commitError struct{ err error }

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// rollback runs even if the caller has left.
func (t *Tx) rollback(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := t.conn.ExecContext(ctx, "ROLLBACK")
	return Wrap(err, "roll back")
}

// acquire takes the committer's dedicated connection, replacing a broken one.
func (t *Tx) acquire(ctx context.Context) error {
	era := t.db.server.origin.era.Load()
	if t.conn != nil && t.era == era {
		return nil
	}
	t.release()
	conn, err := t.db.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take a connection: %w", err)
	}
	t.conn, t.era = conn, era
	if t.SQLite() {
		t.stmts, t.plain = map[string]*sql.Stmt{}, map[string]driver.Stmt{}
	}
	return nil
}

func (t *Tx) release() {
	for _, st := range t.stmts {
		_ = st.Close()
	}
	if len(t.plain) > 0 {
		_ = t.conn.Raw(func(any) error {
			for _, st := range t.plain {
				_ = st.Close()
			}
			return nil
		})
	}
	t.stmts, t.plain = nil, nil
	if t.conn != nil {
		_ = t.conn.Close()
		t.conn = nil
	}
}
