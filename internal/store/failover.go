package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// greet looks at a new connection's server, and has it compress long bodies with lz4 if it can: pglz takes several times as
// long for about the same size.
func (s *Store) greet(ctx context.Context, c *pgx.Conn) error {
	if err := s.readTimeline(ctx, c); err != nil || s.pglz.Load() {
		return err
	}
	_, err := c.Exec(ctx, "SET default_toast_compression = 'lz4'")
	if pe, refused := errors.AsType[*pgconn.PgError](err); refused && !ends(pe) {
		s.pglz.Store(true) // a server that does not know it is not asked again: it would log each refusal
		return nil
	}
	if err != nil {
		return fmt.Errorf("choose the compression: %w", err)
	}
	return nil
}

// readTimeline looks at a new connection's server.
func (s *Store) readTimeline(ctx context.Context, c *pgx.Conn) error {
	var standby bool
	var name string
	err := c.QueryRow(ctx, "SELECT pg_is_in_recovery(), CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_walfile_name(pg_current_wal_lsn()) END",
		pgx.QueryExecModeExec).Scan(&standby, &name)
	if pe, refused := errors.AsType[*pgconn.PgError](err); refused && !ends(pe) { // some hosted servers tell nobody the timeline
		err = c.QueryRow(ctx, "SELECT pg_is_in_recovery()", pgx.QueryExecModeExec).Scan(&standby)
	}
	if err != nil {
		return fmt.Errorf("ask the server what it is: %w", err)
	}
	if standby {
		return errStandby
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
	var made attempts
	for _, f := range flying {
		made.add(f.Key, f.Attempt, 0)
	}
	for i := range results {
		made.add(results[i].Key, results[i].Attempt, 0)
	}
	return s.replay(ctx, &made, func(ctx context.Context, tx *Tx) error { return writeResults(ctx, tx, results) })
}

// ReplayReceipts tells the database again what providers said, after a failover that may have lost it. A receipt is as
// good as a result: its attempt was made. All may be repeated.
func (s *Store) ReplayReceipts(ctx context.Context, receipts []carillon.Receipt) error {
	receipts = slices.Clone(receipts)
	sortReceipts(receipts)
	var made attempts
	for i := range receipts {
		made.add(receipts[i].Ref.Key(), receipts[i].Ref.Attempt, receipts[i].SenderUID)
	}
	return s.replay(ctx, &made, func(ctx context.Context, tx *Tx) error { return writeReceipts(ctx, tx, receipts) })
}

// attempts are those that were made, by message, as columns. Of a message that comes several times in a row the last
// attempt is kept.
type attempts struct {
	keys, numbers, senders []int64 // sender 0: whoever it is
}

func (a *attempts) add(key carillon.MessageKey, attempt int, sender int64) {
	if last := len(a.keys) - 1; last >= 0 && a.keys[last] == int64(key) && a.senders[last] == sender {
		a.numbers[last] = max(a.numbers[last], int64(attempt))
		return
	}
	a.keys, a.numbers, a.senders = append(a.keys, int64(key)), append(a.numbers, int64(attempt)), append(a.senders, sender)
}

// replay lifts messages that are queued at an earlier attempt to the one that was made, then writes what is known of it.
func (s *Store) replay(ctx context.Context, made *attempts, write func(ctx context.Context, tx *Tx) error) error {
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		// Epoch 0: whoever takes the shard next recovers what is still under way then.
		_, err := tx.exec(ctx, `UPDATE message AS m SET q = 2, attempt = u.attempt, epoch = 0
			FROM (SELECT unnest($1::bigint[]) AS id, unnest($2::bigint[]) AS attempt, unnest($3::bigint[]) AS sender) AS u
			WHERE m.id = u.id AND m.attempt < u.attempt AND m.q + 0 = 1 AND (u.sender = 0 OR m.sender = u.sender)`,
			made.keys, made.numbers, made.senders)
		if err != nil {
			return err
		}
		return write(ctx, tx)
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
