package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Options say where the data is. URL empty: SQLite in Dir.
type Options struct {
	Dir        string
	URL        string // of PostgreSQL
	Migrations fs.FS  // files migrations/NNNN_name.sql
	Logger     *slog.Logger
	// MaxWaiting bounds the operations that wait for a commit; past it one is refused with service_unavailable. Twice as many
	// requests may wait to be admitted.
	MaxWaiting int
	// Committed is called after every group commit, however it ended, with the rows that shared it and how long it took.
	Committed  func(rows int, took time.Duration)
	Processors int // by which SQLite's readers are counted; default GOMAXPROCS
}

// DB is a database of either engine. Its methods are safe for concurrent use.
type DB struct {
	dialect    dialect
	schema     schema
	write      *sql.DB // SQLite: one connection; PostgreSQL: the same pool as read
	read       *sql.DB
	url        string
	dir        string
	lock       *os.File
	log        *slog.Logger
	foreground *committer // operations that callers wait for
	background *committer // the program's own; the same as foreground on SQLite
	admission  admission
	stmts      stmtCache
	watch      atomic.Pointer[Watcher] // nil but in tests
	wal        wal
	server     server
	wroteAt    atomic.Int64 // when the last transaction was committed, in milliseconds
	report     func(rows int, took time.Duration)
	stop       context.CancelFunc
	done       sync.WaitGroup
}

// ErrFolderInUse says that another process has the data folder.
var ErrFolderInUse = errors.New("is in use")

// Open opens and, where needed, creates or migrates the database. On SQLite a second process on the same folder is
// refused: the lock is held until Close.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 4096
	}
	if o.Processors <= 0 {
		o.Processors = runtime.GOMAXPROCS(0)
	}
	d := &DB{log: o.Logger, report: o.Committed, url: o.URL, dir: o.Dir}
	d.wal.dirty = make(chan struct{}, 1)
	var err error
	if o.URL == "" {
		err = d.openSQLite(ctx, o.Dir, max(4, 2*o.Processors))
	} else {
		err = d.openPostgres(ctx, o.URL)
	}
	if err == nil {
		d.schema, err = readSchema(o.Migrations, d.dialect)
	}
	if err == nil {
		err = d.schema.migrate(ctx, d.write, d.dialect, d.log)
	}
	if err != nil {
		_ = d.closePools() // the first failure says what is wrong
		return nil, err
	}
	d.start(ctx, o.MaxWaiting)
	return d, nil
}

func (d *DB) start(ctx context.Context, waiting int) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until Close
	d.stop = cancel
	d.admission = admission{places: make(chan struct{}, batchMax), most: 2 * int64(waiting)}
	if d.SQLite() {
		d.foreground = newCommitter(d, 1, waiting)
		d.background = d.foreground
		d.done.Go(func() { d.checkpoints(ctx) })
	} else {
		d.foreground = newCommitter(d, 2, waiting)
		d.background = newCommitter(d, 1, waiting)
		d.done.Go(func() { d.endStalledSessions(ctx) })
	}
}

// Close finishes the operations that wait, then closes the database and releases the folder.
func (d *DB) Close() error {
	d.foreground.close()
	if d.background != d.foreground {
		d.background.close()
	}
	d.stop()
	d.done.Wait()
	d.stmts.close()
	return d.closePools()
}

func (d *DB) closePools() error {
	var errs []error
	if d.read != nil {
		errs = append(errs, closePool(d.read))
	}
	if d.write != nil && d.write != d.read {
		errs = append(errs, closePool(d.write))
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	return errors.Join(errs...)
}

// closeWait bounds how long a closed pool is waited for.
const closeWait = time.Second

// closePool closes a pool and waits until no connection of it is open. database/sql closes at once only idle ones: one
// that is in use by an abandoned read, or just being made, is closed when that ends. On SQLite it would write next to the
// database while the next process, or a restore, already has the folder.
func closePool(db *sql.DB) error {
	err := db.Close()
	for end := time.Now().Add(closeWait); db.Stats().OpenConnections > 0 && time.Now().Before(end); {
		<-time.After(time.Millisecond)
	}
	return err
}

// Engine is "sqlite" or "postgres".
func (d *DB) Engine() string { return d.dialect.name }

// SQLite reports whether the engine is SQLite.
func (d *DB) SQLite() bool { return d.dialect.sqlite }

// Dir is SQLite's data folder.
func (d *DB) Dir() string { return d.dir }

// Ping reports whether the database responds.
func (d *DB) Ping(ctx context.Context) error { return d.read.PingContext(ctx) }

// ClockOffset is the database's clock minus ours, as far as it is certain: half the round trip of asking is subtracted.
// Zero on SQLite. It is a check, never a source of time.
func (d *DB) ClockOffset(ctx context.Context) (time.Duration, error) {
	if d.SQLite() {
		return 0, nil
	}
	before := time.Now()
	var ms int64
	err := d.read.QueryRowContext(ctx, "SELECT (EXTRACT(EPOCH FROM clock_timestamp())*1000)::BIGINT").Scan(&ms)
	if err != nil {
		return 0, fmt.Errorf("read the database's clock: %w", err)
	}
	half := time.Since(before) / 2
	offset := time.UnixMilli(ms).Sub(before.Add(half))
	switch {
	case offset > half:
		return offset - half, nil
	case offset < -half:
		return offset + half, nil
	}
	return 0, nil
}

// Pools are the figures of the connection pools, by name: on SQLite its writer and its readers, on PostgreSQL the one.
func (d *DB) Pools() map[string]sql.DBStats {
	if d.read == d.write {
		return map[string]sql.DBStats{"postgres": d.write.Stats()}
	}
	return map[string]sql.DBStats{"read": d.read.Stats(), "write": d.write.Stats()}
}

// Waiting is how many operations wait for their group commit, and requests to be admitted to it.
func (d *DB) Waiting() int {
	n := d.foreground.length() + int(d.admission.waiting.Load())
	if d.background != d.foreground {
		n += d.background.length()
	}
	return n
}

// recentWrite is how long a commit vouches for the next one.
const recentWrite = 5 * time.Second

// Writable reports whether the database takes writes: something was committed recently, or a write that changes nothing
// else goes through. ctx bounds the wait.
func (d *DB) Writable(ctx context.Context) error {
	if time.Since(time.UnixMilli(d.wroteAt.Load())) < recentWrite {
		return nil
	}
	return d.Probe(ctx)
}

// Probe makes a small write of its own.
func (d *DB) Probe(ctx context.Context) error {
	return d.Update(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO meta (name, value) VALUES ('probe', 1) ON CONFLICT (name) DO UPDATE
			SET value = meta.value + 1 WHERE meta.name = 'probe'`)
		if err != nil {
			return fmt.Errorf("write a probe: %w", err)
		}
		return nil
	})
}

// Millis is an instant as it is stored: milliseconds UTC, 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Instant is the inverse of Millis.
func Instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
