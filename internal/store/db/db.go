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

// Options describe the database. If URL is empty, it is SQLite in Dir.
type Options struct {
	Dir        string
	URL        string // of PostgreSQL
	Migrations fs.FS  // files migrations/NNNN_name.sql
	Logger     *slog.Logger
	// MaxWaiting bounds the operations that wait for a commit; more are refused with service_unavailable. Twice as
	// many requests may wait for admission.
	MaxWaiting int
	// CommitTimeout bounds a group commit with PostgreSQL, and the operations that run alone after it failed; later
	// ones are refused with service_unavailable. Default 5 s.
	CommitTimeout time.Duration
	// Committed is called after every group commit, successful or not, with its number of rows and its duration.
	Committed  func(rows int, took time.Duration)
	Processors int // determines the number of SQLite readers; default GOMAXPROCS
	// Wait is the time for which Open waits for an unresponsive PostgreSQL; 0 fails immediately.
	Wait time.Duration
	// RequireSynchronous refuses writes of callers while no synchronous standby of PostgreSQL confirms commits.
	RequireSynchronous bool
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
	timeout  time.Duration // of a PostgreSQL commit
	stmts    stmtCache
	watch    atomic.Pointer[Watcher] // nil except in tests
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

// ErrFolderInUse means that another process uses the data folder.
var ErrFolderInUse = errors.New("is in use")

// Open opens the database and, if needed, creates or migrates it. On SQLite a second process on the same folder is
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
		err = d.openPostgres(o, &d.server)
		d.timeout = max(d.timeout, d.server.hosts.connect)
		if err == nil {
			err = awaitServer(ctx, o.Logger, o.Wait, 2*d.server.hosts.connect, d.write.PingContext)
		}
		if err == nil {
			err = d.server.checkSessions(ctx, d)
		}
		if err == nil {
			err = d.server.replication.begin(ctx, d)
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
		_ = d.pools.close() // the first error is reported
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
		d.done.Go(func() { d.server.replication.watch(ctx, d) })
	}
}

// Close finishes the waiting operations, then closes the database and releases the folder.
func (d *DB) Close() error {
	d.Commits.close()
	d.stop()
	d.done.Wait()
	d.stmts.close()
	err := d.pools.close()
	d.server.hosts.open.closeAll(nil) // those that a statement held
	return err
}

// localTimeout bounds reads of SQLite, which only a busy machine delays.
const localTimeout = 30 * time.Second

// Timeout bounds reads for callers who wait: at least the time that the URL allows for a connection, which they may need.
func (d *DB) Timeout() time.Duration {
	if d.SQLite() {
		return localTimeout
	}
	return d.timeout
}

// Engine returns "sqlite" or "postgres".
func (d *DB) Engine() string { return d.dialect.name }

// SQLite reports whether the engine is SQLite.
func (d *DB) SQLite() bool { return d.dialect.sqlite }

// Processors returns the number of processors that determines the number of SQLite readers.
func (d *DB) Processors() int { return d.procs }

// Dir returns SQLite's data folder.
func (d *DB) Dir() string { return d.dir }

// Millis returns the stored form of an instant: milliseconds UTC, 0 for the zero time.
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
