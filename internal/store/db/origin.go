package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Origin identifies the data of a PostgreSQL server. A dump that is restored has another Data, even on the same server;
// a physical copy has the same one.
type Origin struct {
	// Data is the system identifier of the server and the number of the table meta; empty before its creation, and if the
	// server hides them.
	Data     string
	Timeline int64 // rises with each failover
}

// answer is the state of a server for a new connection.
type answer struct {
	Origin
	standby bool
	token   string // of the session
}

// refusal is the reason for which a server is not used.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

var (
	errStandby = &refusal{"the server is a standby and takes no writes"}
	errPooled  = &refusal{"the database is behind a pooler in transaction mode, which loses settings, locks and LISTEN of a session: " +
		"use session mode"}
)

// origins compares the servers of new connections with those seen before. A server on an older timeline has lost every
// commit since the failover: it must not be used, although it accepts writes.
type origins struct {
	log    *slog.Logger
	hidden atomic.Bool  // the server does not show its identity; not asked again
	era    atomic.Int64 // counts the failovers seen; connections of earlier eras are dropped

	mu      sync.Mutex
	seen    Origin // the newest
	refused string // reason of the last refusal; empty after a connection was accepted
	lost    string // evidence of lost commits; final
}

const (
	askState  = "SELECT pg_is_in_recovery(), COALESCE(current_setting('" + sessionToken + "', true), '')"
	askOrigin = `, CASE WHEN pg_is_in_recovery() THEN 0
		ELSE ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::bigint END,
		COALESCE((SELECT system_identifier FROM pg_control_system()) || '/' || to_regclass('meta')::oid::text, '')`
)

func (o *origins) ask(ctx context.Context, c *pgx.Conn) (a answer, err error) {
	if !o.hidden.Load() {
		err = c.QueryRow(ctx, askState+askOrigin, pgx.QueryExecModeExec).Scan(&a.standby, &a.token, &a.Timeline, &a.Data)
		pe, refused := errors.AsType[*pgconn.PgError](err)
		if !refused || !slices.Contains([]string{"42501", "42883", "0A000"}, pe.Code) { // no right, or no such function
			return a, Wrap(err, "ask the server for its state")
		}
		o.hidden.Store(true)
		o.log.WarnContext(ctx, "the database does not show its identity; a return to an older state would not be noticed", "error", err)
	}
	err = c.QueryRow(ctx, askState, pgx.QueryExecModeExec).Scan(&a.standby, &a.token)
	return a, Wrap(err, "ask the server for its state")
}

// accept compares a server with those seen before. It returns the era of its connection, and whether it is the first of
// a new era.
func (o *origins) accept(ctx context.Context, a answer) (era int64, failedOver bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch reason := o.against(a.Origin); {
	case reason == "" && a.Timeline > o.seen.Timeline && o.seen.Timeline > 0:
		o.log.WarnContext(ctx, "the database failed over", "timeline", a.Timeline, "before", o.seen.Timeline)
		o.era.Add(1)
		failedOver = true
	case reason != "":
		if reason != o.refused {
			o.log.ErrorContext(ctx, "refused the database", "reason", reason)
		}
		o.refused = reason
		return 0, false, &refusal{reason}
	}
	if a.Data != "" {
		o.seen = a.Origin
	}
	o.refused = ""
	return o.era.Load(), failedOver, nil
}

// against returns the reason for which a server must not be used; empty if it may.
func (o *origins) against(x Origin) string {
	switch {
	case o.lost != "":
		return o.lost
	case x.Data == "" || o.seen.Data == "":
		return ""
	case x.Data != o.seen.Data:
		return "Another database is at this address than before"
	case x.Timeline < o.seen.Timeline:
		return fmt.Sprintf("The database went back: its timeline is %d after %d, and commits since the failover are missing",
			x.Timeline, o.seen.Timeline)
	}
	return ""
}

// current drops an idle connection to a server that was replaced since.
func (s *server) current(_ context.Context, c *pgx.Conn) error {
	if c.PgConn().CustomData()[sessionEra] != s.origin.era.Load() {
		return driver.ErrBadConn
	}
	return nil
}

// answered forgets an earlier refusal: the database is used.
func (o *origins) answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost == "" {
		o.refused = ""
	}
}

// Origin returns the identity of the database; the zero value on SQLite, and if the server hides it.
func (h *Health) Origin() Origin {
	o := &h.d.server.origin
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}

// Refused returns the reason for which the database is not used; empty if it is used.
func (h *Health) Refused() string {
	o := &h.d.server.origin
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refused
}

// Distrust ends all use of the database after evidence that it lost commits that it had confirmed.
func (h *Health) Distrust(ctx context.Context, evidence string) {
	o := &h.d.server.origin
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != "" {
		return
	}
	o.log.ErrorContext(ctx, "the database lost commits that it had confirmed; it is not used any more", "evidence", evidence)
	o.lost = "The database lost commits that it had confirmed: " + evidence
	o.refused = o.lost
	o.era.Add(1)
	h.d.server.hosts.open.closeAll(nil)
}
