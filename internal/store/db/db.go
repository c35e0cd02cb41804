package db

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
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
	// CommitTimeout bounds a group commit with PostgreSQL, and the operations that run alone after it failed; past it they are refused with
	// service_unavailable. 0: 5 s.
	CommitTimeout time.Duration
	// Committed is called after every group commit, however it ended, with the rows that shared it and how long it took.
	Committed  func(rows int, took time.Duration)
	Processors int // by which SQLite's readers are counted; default GOMAXPROCS
	// Wait is how long Open waits for a PostgreSQL that does not answer; 0: it fails at once.
	Wait time.Duration
}

// DB is a database of either engine. Its methods are safe for concurrent use.
type DB struct {
	pools
	dialect
	Commits  Commits
	Health   Health
	schema   schema
	dir      string
	procs    int
	log      *slog.Logger
	timeout  time.Duration // of a commit with PostgreSQL
	stmts    stmtCache
	watch    atomic.Pointer[Watcher] // nil but in tests
	wal      wal
	server   server
	room     room
	files    files
	report   func(rows int, took time.Duration)
	recorder Recorder
	stop     context.CancelFunc
	done     sync.WaitGroup
}

// Health reports on a database.
type Health struct{ d *DB }

// ErrFolderInUse says that another process has the data folder.
var ErrFolderInUse = errors.New("is in use")

// Open opens and, where needed, creates or migrates the database. On SQLite a second process on the same folder is
// refused: the lock is held until Close.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CommitTimeout == 0 {
		o.CommitTimeout = 5 * time.Second
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 4096
	}
	if o.Processors <= 0 {
		o.Processors = runtime.GOMAXPROCS(0)
	}
	d := &DB{log: o.Logger, report: o.Committed, dir: o.Dir, procs: o.Processors, timeout: o.CommitTimeout}
	d.Health.d = d
	d.wal.dirty = make(chan struct{}, 1)
	var err error
	if o.URL == "" {
		d.dialect = sqliteDialect()
		err = d.openSQLite(ctx, o.Dir, max(4, 2*o.Processors))
	} else {
		d.dialect = postgresDialect()
		err = d.openPostgres(o.URL, &d.server)
		if err == nil {
			err = awaitServer(ctx, o.Logger, o.Wait, d.write.PingContext)
		}
	}
	if err == nil {
		d.schema, err = readSchema(o.Migrations, d.dialect)
	}
	if err == nil {
		err = d.schema.migrate(ctx, d.write, d.dialect, d.log)
	}
	if err == nil && d.SQLite() {
		d.files, err = readFiles(o.Dir)
	}
	if err != nil {
		_ = d.pools.close() // the first failure says what is wrong
		return nil, err
	}
	d.start(ctx, o.MaxWaiting)
	return d, nil
}

func (d *DB) start(ctx context.Context, waiting int) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until Close
	d.stop = cancel
	d.Commits.start(d, waiting)
	if d.SQLite() {
		d.done.Go(func() { d.wal.checkpoints(ctx, d) })
	} else {
		d.done.Go(func() { d.server.endStalledSessions(ctx, d) })
	}
}

// Close finishes the operations that wait, then closes the database and releases the folder.
func (d *DB) Close() error {
	d.Commits.close()
	d.stop()
	d.done.Wait()
	d.stmts.close()
	return d.pools.close()
}

// Engine is "sqlite" or "postgres".
func (d *DB) Engine() string { return d.dialect.name }

// SQLite reports whether the engine is SQLite.
func (d *DB) SQLite() bool { return d.dialect.sqlite }

// Processors is the number of processors by which SQLite's readers are counted.
func (d *DB) Processors() int { return d.procs }

// Dir is SQLite's data folder.
func (d *DB) Dir() string { return d.dir }

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
