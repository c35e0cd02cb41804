// Package store holds all SQL, one file a table, one text for SQLite and PostgreSQL. Writes of the hot path share
// transactions (commit.go); configuration is read through caches that a generation number empties (directory.go). It
// knows rows and transactions, not what they are for: rules live in notify, catalog, auth and queue.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"carillon"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Options say where the data is. DatabaseURL empty: SQLite in Dir.
type Options struct {
	Dir         string
	DatabaseURL string
	MasterKey   [32]byte
	Logger      *slog.Logger
	// MaxWaiting bounds the writes that wait for a commit; past it a write is refused with service_unavailable. Twice as many
	// requests may wait to be admitted.
	MaxWaiting int
	// Committed hears of every group commit, however it ended: how many writes shared it, of a delivery each of its rows, and how long it took.
	Committed  func(writes int, took time.Duration)
	Processors int // by which SQLite's readers are counted; default GOMAXPROCS
}

// Store is a database of either engine. Its methods are safe for concurrent use.
type Store struct {
	d         dialect
	schema    schema
	write     *sql.DB // SQLite: one connection; PostgreSQL: the same pool as read
	read      *sql.DB
	url       string
	lock      *os.File
	seal      *sealer
	log       *slog.Logger
	accepts   *committer // accepted requests and receipts
	starts    *committer // starts and results; the same as accepts on SQLite
	dir       directory
	ids       carillon.Sequence
	noKeys    unknown[keyByDigest]
	noSenders unknown[string] // ids and numbers
	loads     loads
	stmts     stmtCache
	watch     atomic.Pointer[watcher] // nil but in tests
	dirty     chan struct{}
	walSize   atomic.Int64
	timeline  atomic.Uint32
	pglz      atomic.Bool // the server knows no other compression
	servers   servers
	wroteAt   atomic.Int64 // when the last transaction was committed, in milliseconds
	heard     func(writes int, took time.Duration)
	stop      context.CancelFunc
	done      sync.WaitGroup
	copying   sync.Mutex  // held while a backup is made
	copyEnd   atomic.Bool // no more backups: the store closes
}

// ErrFolderInUse says that another process has the data folder.
var ErrFolderInUse = errors.New("is in use")

// Open opens and, where needed, makes or migrates the database. On SQLite a second process on the same folder is
// refused: the lock is held until Close.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 4096
	}
	if o.Processors <= 0 {
		o.Processors = runtime.GOMAXPROCS(0)
	}
	seal, err := newSealer(o.MasterKey)
	if err != nil {
		return nil, err
	}
	s := &Store{seal: seal, log: o.Logger, heard: o.Committed, url: o.DatabaseURL, dirty: make(chan struct{}, 1)}
	if o.DatabaseURL == "" {
		err = s.openSQLite(ctx, o.Dir, max(4, 2*o.Processors))
	} else {
		err = s.openPostgres(ctx, o.DatabaseURL)
	}
	if err == nil {
		s.schema, err = readSchema(migrations, s.d)
	}
	if err == nil {
		err = s.schema.migrate(ctx, s.write, s.d, s.log)
	}
	if err == nil {
		err = s.checkMasterKey(ctx)
	}
	if err != nil {
		_ = s.closePools() // the first failure says what is wrong
		return nil, err
	}
	if !s.d.sqlite {
		s.ids.SetSlot(mathrand.N(carillon.NodeSlots)) //nolint:gosec // no secret; until the node has joined the others
	}
	s.start(ctx, o.MaxWaiting)
	return s, nil
}

func (s *Store) start(ctx context.Context, waiting int) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until Close
	s.stop = cancel
	if s.d.sqlite {
		s.accepts = newCommitter(s, 1, waiting)
		s.starts = s.accepts
		s.done.Go(func() { s.checkpoints(ctx) })
	} else {
		s.accepts = newCommitter(s, 2, waiting)
		s.starts = newCommitter(s, 1, waiting)
		s.done.Go(func() { s.followGeneration(ctx) })
	}
}

// Close finishes the writes that wait, then closes the database and gives up the folder.
func (s *Store) Close() error {
	s.endBackup()
	s.accepts.close()
	if s.starts != s.accepts {
		s.starts.close()
	}
	s.stop()
	s.done.Wait()
	s.stmts.close()
	return s.closePools()
}

func (s *Store) closePools() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, closePool(s.read))
	}
	if s.write != nil && s.write != s.read {
		errs = append(errs, closePool(s.write))
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// lastOut bounds how long a closed pool is waited for.
const lastOut = time.Second

// closePool closes a pool and waits until no connection of it is open. database/sql closes at once only those at rest: one
// that is in use, by a read that was given up, or that is just being made, is closed when that ends. On SQLite it would
// write beside the database while the next process, or a restore, already has the folder.
func closePool(db *sql.DB) error {
	err := db.Close()
	for end := time.Now().Add(lastOut); db.Stats().OpenConnections > 0 && time.Now().Before(end); {
		<-time.After(time.Millisecond)
	}
	return err
}

// Engine is "sqlite" or "postgres".
func (s *Store) Engine() string { return s.d.name }

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.read.PingContext(ctx) }

// ClockOffset is the database's clock less ours, as far as it is certain: half the round trip of asking is taken off.
// Zero on SQLite. It is a check, never a source of time.
func (s *Store) ClockOffset(ctx context.Context) (time.Duration, error) {
	if s.d.sqlite {
		return 0, nil
	}
	before := time.Now()
	var ms int64
	err := s.read.QueryRowContext(ctx, "SELECT (EXTRACT(EPOCH FROM clock_timestamp())*1000)::BIGINT").Scan(&ms)
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

func (s *Store) openSQLite(ctx context.Context, dir string, readers int) error {
	s.d = sqliteDialect()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	s.lock = lock
	name := filepath.Join(dir, databaseFile)
	if err := makePrivate(name); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	dsn := "file:" + name +
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
		"&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)&_pragma=cache_size(-16384)&_pragma=temp_store(MEMORY)"
	if s.write, err = sql.Open("sqlite", dsn); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	s.write.SetMaxOpenConns(1)
	if err := s.write.PingContext(ctx); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	// A reader's cache is smaller than the writer's: there are many of them, and the system keeps the file's pages too.
	if s.read, err = sql.Open("sqlite", dsn+"&_pragma=query_only(1)&_pragma=cache_size(-4096)"); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	return nil
}

// makePrivate makes the database's file, when there is none, for its owner alone: numbers and texts stand in it, and the
// folder may be one that others read. SQLite gives the files beside it the same mode.
func makePrivate(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	return f.Close()
}

const (
	// connectTimeout bounds the making of a connection to PostgreSQL.
	connectTimeout = 5 * time.Second
	// silence is how long a server may leave unacknowledged what was sent to it. Its host may be gone without a word; the
	// kernel would go on for a quarter of an hour.
	silence = 5 * time.Second
)

// dialer makes connections that break when the server falls silent. The setting tcp_user_timeout does the same for the
// server's end.
func dialer() *net.Dialer {
	return &net.Dialer{
		Control:         breakWhenSilent,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence, Interval: silence / 2, Count: 3},
	}
}

func (s *Store) openPostgres(ctx context.Context, url string) error {
	s.d = postgresDialect()
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("the database URL cannot be read (not shown: it may hold a password)")
	}
	for name, value := range map[string]string{
		// A node that is stopped inside its transactions holds rows that others want. Its committers may stand one behind
		// the other at the same row, so that several sessions must end before another node's lock_timeout.
		"application_name": "carillon", "lock_timeout": "3000", "idle_in_transaction_session_timeout": "700",
		"synchronous_commit": "on", "tcp_user_timeout": "5000",
		// Every query walks along an index made for it, from one row to the next. The planner, which thinks of the average
		// company, would read and sort all of a large one's rows instead, or whole tables while they are small or their
		// statistics old; and on memory or a solid disk the next row costs little more than the one beside it. Compiling such
		// short queries costs more than it saves. So does planning them anew: a plan that knows the arguments is no other.
		"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
		"random_page_cost": "1.1", "jit": "off", "plan_cache_mode": "force_generic_plan",
	} {
		if _, set := c.RuntimeParams[name]; !set {
			c.RuntimeParams[name] = value
		}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	c.DialFunc = dialer().DialContext
	s.servers = serversOf(c)
	s.write = stdlib.OpenDB(*c, stdlib.OptionAfterConnect(s.greet))
	s.write.SetMaxOpenConns(24)
	s.write.SetMaxIdleConns(16)
	s.write.SetConnMaxIdleTime(5 * time.Minute)
	s.read = s.write
	if err := s.write.PingContext(ctx); err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	return nil
}

// checkMasterKey refuses to start with a master key that cannot open what the database holds.
func (s *Store) checkMasterKey(ctx context.Context) error {
	const row = "meta/master-key"
	nonce := make([]byte, 8)
	_, _ = rand.Read(nonce)
	if _, err := s.write.ExecContext(ctx, "INSERT INTO meta (name, text) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
		"master-key", s.seal.seal(row, nonce)); err != nil {
		return fmt.Errorf("check the master key: %w", err)
	}
	var sealed string
	if err := s.write.QueryRowContext(ctx, "SELECT text FROM meta WHERE name = $1", "master-key").Scan(&sealed); err != nil {
		return fmt.Errorf("check the master key: %w", err)
	}
	_, err := s.seal.open(row, sealed)
	return err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
