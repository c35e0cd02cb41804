package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// server is the PostgreSQL server, or the servers of which one at a time accepts writes.
type server struct {
	hosts       hosts
	settings    string // of each session, as a JSON object
	origin      origins
	replication replication
	pglz        atomic.Bool // it supports no other compression
}

// sessionSettings are the settings of each session. The URL can change them.
var sessionSettings = map[string]string{
	// A node that stops inside its transactions holds rows that others need. Its committers may wait for each
	// other at the same row, so several sessions must end before another node's lock_timeout.
	"lock_timeout": "3000", "idle_in_transaction_session_timeout": "700",
	"synchronous_commit": "on", "tcp_user_timeout": "5000",
	// Every query reads along an index made for it, row by row. The planner, which assumes the average company,
	// would read and sort all rows of a large one, or whole tables while they are small or have old statistics;
	// and on memory or solid disks the next row costs little more than its neighbor. JIT compilation of such short
	// queries costs more than it saves. So does planning them again: a plan that knows the arguments is the same.
	"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	"random_page_cost": "1.1", "jit": "off", "plan_cache_mode": "force_generic_plan",
}

// openPostgres prepares the pool. The first connection is made by its first use.
func (p *pools) openPostgres(o Options, s *server) error {
	settings, err := s.hosts.read(o.URL)
	if err != nil {
		return err
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("write the settings of sessions: %w", err)
	}
	s.settings = string(text)
	s.origin.log = o.Logger
	s.replication.log, s.replication.required = o.Logger, o.RequireSynchronous
	p.write = sql.OpenDB(newConnector(s))
	p.write.SetMaxOpenConns(24)
	p.write.SetMaxIdleConns(16)
	p.write.SetConnMaxIdleTime(5 * time.Minute)
	p.read = p.write
	return nil
}

// check prepares a new connection and verifies that its server may be used. It selects lz4 for long texts if the server
// has it: pglz takes several times as long for about the same size.
func (s *server) check(ctx context.Context, c *pgx.Conn) error {
	token := rand.Text()
	var n int
	err := c.QueryRow(ctx, `SELECT COUNT(set_config(key, value, false))
		FROM jsonb_each_text($1::jsonb || jsonb_build_object($2::text, $3::text))`,
		pgx.QueryExecModeExec, s.settings, sessionToken, token).Scan(&n)
	if err != nil {
		return fmt.Errorf("set up the session: %w", err)
	}
	at, err := s.origin.ask(ctx, c)
	if err != nil {
		return err
	}
	if at.token != token {
		return errPooled
	}
	if at.standby {
		return errStandby
	}
	era, failedOver, err := s.origin.accept(ctx, at)
	if err != nil {
		return err
	}
	if failedOver { // also those that listen, or show that this node lives
		s.hosts.open.closeAll(c.PgConn().Conn())
	}
	c.PgConn().CustomData()[sessionToken], c.PgConn().CustomData()[sessionEra] = token, era
	if s.pglz.Load() {
		return nil
	}
	_, err = c.Exec(ctx, "SET default_toast_compression = 'lz4'")
	if pe, refused := errors.AsType[*pgconn.PgError](err); refused && !fatal(pe) {
		s.pglz.Store(true) // not asked again: the server would log each refusal
		return nil
	}
	return Wrap(err, "choose the compression")
}

const (
	sessionToken = "carillon.session" // setting with the token of the connection's session
	sessionEra   = "era"
)

// checkSessions refuses a pooler that gives the session of one connection to another: of two connections, each must
// still find its own token.
func (s *server) checkSessions(ctx context.Context, d *DB) (err error) {
	var two [2]*pgx.Conn
	defer func() {
		for _, c := range two {
			if c != nil {
				_ = c.Close(context.WithoutCancel(ctx))
			}
		}
	}()
	for i := range two {
		if two[i], err = d.Connect(ctx); err != nil {
			return err
		}
	}
	for _, c := range two {
		at, err := s.origin.ask(ctx, c)
		if err != nil {
			return err
		}
		if at.token != c.PgConn().CustomData()[sessionToken] {
			return errPooled
		}
	}
	return nil
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
