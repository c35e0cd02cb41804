package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// connectTimeout bounds the connection set-up to PostgreSQL.
	connectTimeout = 5 * time.Second
	// silence bounds the time for which a server may leave data unacknowledged. Its host may have vanished; the kernel
	// alone would keep trying for a quarter of an hour.
	silence = 5 * time.Second
)

// server is the information about the PostgreSQL server.
type server struct {
	url     string
	connect time.Duration // bounds a connection set-up
	several bool          // the URL lists several servers
	chooses bool          // and requires one that accepts writes
	pglz    atomic.Bool   // it supports no other compression
}

// dialer makes connections that break when the server stops responding. The setting tcp_user_timeout does the same on
// the server's side.
func dialer() *net.Dialer {
	return &net.Dialer{
		Control:         breakWhenSilent,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence, Interval: silence / 2, Count: 3},
	}
}

func (p *pools) openPostgres(url string, s *server) error {
	s.url = url
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("the database URL cannot be read (not shown: it may hold a password)")
	}
	for name, value := range map[string]string{
		// A node that stops inside its transactions holds rows that others need. Its committers may wait for each
		// other at the same row, so several sessions must end before another node's lock_timeout.
		"application_name": "carillon", "lock_timeout": "3000", "idle_in_transaction_session_timeout": "700",
		"synchronous_commit": "on", "tcp_user_timeout": "5000",
		// Every query reads along an index made for it, row by row. The planner, which assumes the average company,
		// would read and sort all rows of a large one, or whole tables while they are small or have old statistics;
		// and on memory or solid disks the next row costs little more than its neighbor. JIT compilation of such short
		// queries costs more than it saves. So does planning them again: a plan that knows the arguments is the same.
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
	s.connect = c.ConnectTimeout
	s.chooses = c.ValidateConnect != nil
	for _, f := range c.Fallbacks { // besides other servers, these contain the same one with and without TLS
		s.several = s.several || f.Host != c.Host || f.Port != c.Port
	}
	p.write = stdlib.OpenDB(*c, stdlib.OptionAfterConnect(s.check))
	p.write.SetMaxOpenConns(24)
	p.write.SetMaxIdleConns(16)
	p.write.SetConnMaxIdleTime(5 * time.Minute)
	p.read = p.write
	return nil
}

// errStandby refuses a connection to a read-only server.
var errStandby = errors.New("the server is a standby and takes no writes: name target_session_attrs=read-write in the database URL")

// check refuses a new connection to a standby, and selects lz4 for long texts if the server has it: pglz takes several
// times as long for about the same size.
func (s *server) check(ctx context.Context, c *pgx.Conn) error {
	var standby bool
	if err := c.QueryRow(ctx, "SELECT pg_is_in_recovery()", pgx.QueryExecModeExec).Scan(&standby); err != nil {
		return fmt.Errorf("ask the server what it is: %w", err)
	}
	if standby {
		return errStandby
	}
	if s.pglz.Load() {
		return nil
	}
	_, err := c.Exec(ctx, "SET default_toast_compression = 'lz4'")
	if pe, refused := errors.AsType[*pgconn.PgError](err); refused && !fatal(pe) {
		s.pglz.Store(true) // not asked again: the server would log each refusal
		return nil
	}
	if err != nil {
		return fmt.Errorf("choose the compression: %w", err)
	}
	return nil
}

// FailoverWarnings returns a sentence for each setting that could make a failover lose accepted messages or fail; none
// on SQLite or with a single server.
func (h *Health) FailoverWarnings(ctx context.Context) ([]string, error) {
	if h.d.SQLite() {
		return nil, nil
	}
	var synchronous, commit string
	var standbys int
	err := h.d.Row(ctx, []any{&synchronous, &commit, &standbys}, `SELECT current_setting('synchronous_standby_names'),
		current_setting('synchronous_commit'), (SELECT COUNT(*) FROM pg_stat_replication)`)
	if err != nil {
		return nil, fmt.Errorf("ask how the database is replicated: %w", err)
	}
	var all []string
	if commit == "off" || commit == "local" && standbys > 0 {
		all = append(all, "synchronous_commit is "+commit+": a crash or a failover loses messages that were accepted")
	}
	if (standbys > 0 || h.d.server.several) && synchronous == "" {
		all = append(all, "The database is not replicated synchronously: a failover loses the last messages that were accepted")
	}
	if h.d.server.several && !h.d.server.chooses {
		all = append(all, "The database URL names several servers without target_session_attrs=read-write")
	}
	return all, nil
}

// ClockOffset returns the certain part of the difference between the database's clock and ours: half the round trip of
// the query is subtracted. Zero on SQLite. It is a check, never a source of time.
func (h *Health) ClockOffset(ctx context.Context) (time.Duration, error) {
	if h.d.SQLite() {
		return 0, nil
	}
	before := time.Now()
	var ms int64
	err := h.d.read.QueryRowContext(ctx, "SELECT (EXTRACT(EPOCH FROM clock_timestamp())*1000)::BIGINT").Scan(&ms)
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

// Connect opens a PostgreSQL connection outside the pool.
func (d *DB) Connect(ctx context.Context) (*pgx.Conn, error) {
	to, err := pgx.ParseConfig(d.server.url)
	if err != nil {
		return nil, errors.New("connect: the database URL cannot be read")
	}
	to.ConnectTimeout = d.server.connect
	to.DialFunc = dialer().DialContext
	c, err := pgx.ConnectConfig(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return c, nil
}

// stalledEvery is the interval of searches for stalled sessions.
const stalledEvery = 500 * time.Millisecond

// endStalledSessions ends, until ctx does, the sessions of this program that have waited for the rest of a flush as long
// as idle_in_transaction_session_timeout allows between statements. A node that stops, or loses its network, in
// the middle of a flush leaves a session that holds its locks; PostgreSQL does not consider it idle in a transaction
// before the flush ends, and none of its timeouts applies: the rows would stay locked as long as the connection seems
// alive, which is hours. A node that was only slow finds its connection broken, and checks whether it had committed.
func (s *server) endStalledSessions(ctx context.Context, d *DB) {
	for {
		if n, err := s.endStalled(ctx, d); err == nil && n > 0 {
			d.log.WarnContext(ctx, "ended sessions that held locks and waited for a node that had stopped", "sessions", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(stalledEvery):
		}
	}
}

func (*server) endStalled(ctx context.Context, d *DB) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = d.Row(ctx, []any{&n}, `SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND usename = current_user AND application_name = current_setting('application_name')
		AND pid <> pg_backend_pid() AND state = 'active' AND wait_event = 'ClientRead' AND xact_start IS NOT NULL
		AND state_change < pg_catalog.clock_timestamp()
		- GREATEST('700ms', current_setting('idle_in_transaction_session_timeout')::interval)`)
	return n, err
}
