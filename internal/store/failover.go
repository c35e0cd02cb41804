package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"carillon"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A failover of PostgreSQL puts another server in the place of the one that was lost. One that was replicated to
// asynchronously has lost the last commits: messages that were sent are queued again there. PostgreSQL counts its
// failovers, as timelines; every new connection reads the number, and a failover leaves no connection standing.

// ErrFailover says that the database is on another timeline than the starts and results were made for. What this node
// remembers must be replayed first.
//
//nolint:errname // an answer like any other of the store's
var ErrFailover error = &carillon.Error{
	Code: carillon.ServiceUnavailable, Message: "The service cannot take this request now", RetryAfter: 1,
	Details: carillon.Details{{Key: "reason", Value: "The database is being taken over by another server"}},
}

// errStandby refuses a connection to a server that takes no writes.
var errStandby = errors.New("the server is a standby and takes no writes: name target_session_attrs=read-write in the database URL")

// Timeline is the timeline that the newest connection found; 0 on SQLite, and where the server does not tell.
func (s *Store) Timeline() uint32 { return s.timeline.Load() }

// readTimeline looks at a new connection's server.
func (s *Store) readTimeline(ctx context.Context, c *pgx.Conn) error {
	var standby bool
	if err := c.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby); err != nil {
		return fmt.Errorf("ask the server what it is: %w", err)
	}
	if standby {
		return errStandby
	}
	var name string
	err := c.QueryRow(ctx, "SELECT pg_walfile_name(pg_current_wal_lsn())").Scan(&name)
	if _, refused := errors.AsType[*pgconn.PgError](err); refused {
		return nil // some hosted servers tell nobody
	}
	if err != nil {
		return fmt.Errorf("read the server's timeline: %w", err)
	}
	if len(name) < 8 {
		return nil
	}
	if n, err := strconv.ParseUint(name[:8], 16, 32); err == nil {
		s.timeline.Store(uint32(n))
	}
	return nil
}

// Replay tells the database again what this node knows of attempts, after a failover that may have lost it: which were
// being sent, and what became of others. All may be repeated: what is there already stays.
func (s *Store) Replay(ctx context.Context, flying []Flight, results []Result) error {
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		var ids, attempts []int64
		add := func(key carillon.MessageKey, attempt int) {
			ids, attempts = append(ids, int64(key)), append(attempts, int64(attempt))
		}
		for _, f := range flying {
			add(f.Key, f.Attempt)
		}
		for i := range results {
			add(results[i].Key, results[i].Attempt)
		}
		// Epoch 0: whoever takes the shard next recovers what is still under way then.
		_, err := tx.exec(ctx, `UPDATE message AS m SET q = 2, attempt = u.attempt, epoch = 0
			FROM (SELECT unnest($1::bigint[]) AS id, unnest($2::bigint[]) AS attempt) AS u
			WHERE m.id = u.id AND m.attempt < u.attempt AND m.q + 0 = 1`, ids, attempts)
		if err != nil {
			return err
		}
		return writeResults(ctx, tx, results)
	})
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// servers is what the database URL says about failover.
type servers struct {
	several bool // it names more than one
	chooses bool // and asks each whether it takes writes
}

func serversOf(c *pgx.ConnConfig) servers {
	s := servers{chooses: c.ValidateConnect != nil}
	for _, f := range c.Fallbacks { // beside other servers the same one with and without TLS
		s.several = s.several || f.Host != c.Host || f.Port != c.Port
	}
	return s
}

// FailoverWarnings are what would make a failover of the database lose accepted messages or not succeed at all, each a
// sentence; none on SQLite, and where there is one server only.
func (s *Store) FailoverWarnings(ctx context.Context) ([]string, error) {
	if s.d.sqlite {
		return nil, nil
	}
	var synchronous, commit string
	var standbys int
	err := s.row(ctx, []any{&synchronous, &commit, &standbys}, `SELECT current_setting('synchronous_standby_names'),
		current_setting('synchronous_commit'), (SELECT COUNT(*) FROM pg_stat_replication)`)
	if err != nil {
		return nil, fmt.Errorf("ask how the database is replicated: %w", err)
	}
	var all []string
	if commit == "off" || commit == "local" && standbys > 0 {
		all = append(all, "synchronous_commit is "+commit+": a crash or a failover loses messages that were accepted")
	}
	if (standbys > 0 || s.servers.several) && synchronous == "" {
		all = append(all, "The database is not replicated synchronously: a failover loses the last messages that were accepted")
	}
	if s.servers.several && !s.servers.chooses {
		all = append(all, "The database URL names several servers without target_session_attrs=read-write")
	}
	return all, nil
}
