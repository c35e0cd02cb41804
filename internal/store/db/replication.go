package db

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Replication is the state of PostgreSQL's replication.
type Replication struct {
	Standbys    int    // connected
	Confirming  int    // of them, those that commits wait for
	Hidden      bool   // the role may not see which ones these are
	Names       string // synchronous_standby_names
	Commit      string // synchronous_commit
	Synchronous bool   // a standby confirms each commit
}

// replication watches whether commits are confirmed by a standby. A cluster manager may end this in an outage of the
// standbys, so that the primary goes on alone: a failover then loses accepted messages.
type replication struct {
	log      *slog.Logger
	required bool

	mu    sync.Mutex
	known bool
	last  Replication
	ever  bool // there was a standby since the start
}

const (
	replicationEvery = time.Second // between questions
	askTimeout       = 2 * time.Second
	askAgain         = 250 * time.Millisecond // after a failure
	// maxSilent is the number of questions in a row without an answer after which the server counts as frozen. Its kernel
	// may still acknowledge what is sent, so that no connection breaks, and statements would wait until it goes on.
	maxSilent = 3
)

// watch asks over a separate connection, so that it waits for no other statement.
func (r *replication) watch(ctx context.Context, d *DB) {
	var c *pgx.Conn
	defer func() { closeConn(ctx, c) }()
	silent := 0
	for wait := time.Duration(0); Pause(ctx, wait); {
		now, err := r.ask(ctx, d, &c)
		if err == nil {
			r.observe(ctx, now)
			d.server.origin.answered()
			silent, wait = 0, replicationEvery
			continue
		}
		closeConn(ctx, c)
		c, wait = nil, askAgain
		if silent++; d.server.hosts.answered(err) {
			silent = 0
		} else if silent%maxSilent == 0 && ctx.Err() == nil {
			if n := d.server.hosts.open.closeAll(nil); n > 0 {
				r.log.WarnContext(ctx, "the database does not answer; its connections are closed", "connections", n, "error", err)
			}
		}
	}
}

// ask asks over a connection, which it opens if there is none.
func (r *replication) ask(ctx context.Context, d *DB, c **pgx.Conn) (x Replication, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if *c == nil {
		if *c, err = d.Connect(ctx); err != nil {
			return x, err
		}
	}
	visible := 0
	err = (*c).QueryRow(ctx, `SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit'), COUNT(*),
		COUNT(sync_state), COUNT(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication`).Scan(
		&x.Names, &x.Commit, &x.Standbys, &visible, &x.Confirming)
	x.Hidden = visible < x.Standbys
	confirmed := x.Confirming > 0 || x.Hidden && x.Names != "" && !r.required
	x.Synchronous = confirmed && x.Commit != "off" && x.Commit != "local"
	return x, Wrap(err, "ask how the database is replicated")
}

// closeConn closes a connection, if there is one, without waiting for a frozen server.
func closeConn(ctx context.Context, c *pgx.Conn) {
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askAgain)
	defer cancel()
	_ = c.Close(ctx)
}

// Pause waits for a duration or the end of ctx, and reports whether to go on.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// begin checks the replication once, if standbys are required: their state must be visible.
func (r *replication) begin(ctx context.Context, d *DB) error {
	if !r.required {
		return nil
	}
	var c *pgx.Conn
	now, err := r.ask(ctx, d, &c)
	closeConn(ctx, c)
	if err != nil {
		return err
	}
	if now.Hidden {
		return errors.New("the role cannot see which standbys confirm commits, " +
			"which --require-synchronous needs: GRANT pg_read_all_stats to it")
	}
	r.observe(ctx, now)
	return nil
}

// observe logs each change.
func (r *replication) observe(ctx context.Context, now Replication) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := r.known && now.Synchronous != r.last.Synchronous
	first := !r.known && (r.required || now.Standbys > 0)
	switch {
	case !changed && !first:
	case now.Synchronous:
		r.log.InfoContext(ctx, "standbys confirm each commit", "confirming", now.Confirming, "standbys", now.Standbys)
	case r.required && now.Hidden:
		r.log.ErrorContext(ctx, "the role cannot see which standbys confirm commits; nothing is accepted or started: "+
			"GRANT pg_read_all_stats to it")
	case r.required:
		r.log.ErrorContext(ctx, "no standby confirms commits; nothing is accepted or started", "standbys", now.Standbys)
	default:
		r.log.WarnContext(ctx, "no standby confirms commits; a failover loses accepted messages", "standbys", now.Standbys)
	}
	r.known, r.last, r.ever = true, now, r.ever || now.Standbys > 0
}

// confirms returns the 503 of writes that only the primary would confirm although standbys are required.
func (r *replication) confirms() error {
	if !r.required {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.Synchronous {
		return nil
	}
	return Overloaded("No synchronous standby of the database confirms commits", nil)
}

// Replication returns the state of the last check; the zero value on SQLite.
func (h *Health) Replication() Replication {
	r := &h.d.server.replication
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Confirms returns a 503 while synchronous standbys are required and none confirms commits.
func (h *Health) Confirms() error { return h.d.server.replication.confirms() }

// FailoverWarnings returns a sentence for each setting that could make a failover lose accepted messages; none on SQLite
// or with a single server that has had no standby.
func (h *Health) FailoverWarnings() (all []string) {
	r := &h.d.server.replication
	r.mu.Lock()
	defer r.mu.Unlock()
	x, several := r.last, r.ever || len(h.d.server.hosts.all) > 1
	switch {
	case !r.known:
	case x.Commit == "off" || x.Commit == "local" && several:
		all = append(all, "synchronous_commit is "+x.Commit+": a crash or a failover loses messages that were accepted")
	case several && x.Names == "":
		all = append(all, "The database is not replicated synchronously: a failover loses the last messages that were accepted")
	case several && !x.Synchronous:
		all = append(all, "No standby confirms commits: accepting waits, or a failover loses the last messages that were accepted")
	}
	if r.known && several && x.Hidden {
		all = append(all, "The role cannot see which standbys confirm commits: GRANT pg_read_all_stats to it")
	}
	return all
}
