package db

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// replicationEvery is the interval of checks of the replication.
const replicationEvery = time.Second

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

func (r *replication) watch(ctx context.Context, d *DB) {
	for {
		if now, err := askReplication(ctx, d); err == nil {
			r.observe(ctx, now)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(replicationEvery):
		}
	}
}

// begin checks the replication once, if standbys are required: their state must be visible.
func (r *replication) begin(ctx context.Context, d *DB) error {
	if !r.required {
		return nil
	}
	now, err := askReplication(ctx, d)
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

func askReplication(ctx context.Context, d *DB) (x Replication, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*replicationEvery)
	defer cancel()
	visible := 0
	err = d.Row(ctx, []any{&x.Names, &x.Commit, &x.Standbys, &visible, &x.Confirming}, `SELECT current_setting('synchronous_standby_names'),
		current_setting('synchronous_commit'), COUNT(*), COUNT(sync_state), COUNT(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))
		FROM pg_stat_replication`)
	x.Hidden = visible < x.Standbys
	confirmed := x.Confirming > 0 || x.Hidden && x.Names != "" && !d.server.replication.required
	x.Synchronous = confirmed && x.Commit != "off" && x.Commit != "local"
	return x, Wrap(err, "ask how the database is replicated")
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
