package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/db"
)

// Lane is one sender's queue of one class, as the due index knows it.
type Lane struct {
	SenderUID int64
	Class     carillon.Class
	Due       time.Time // of its earliest message
}

// Lanes finds the lanes of a shard that have something queued. It hops over the index from one lane to the next, so a
// million messages of one sender cost as little as one.
func (s *Store) Lanes(ctx context.Context, shard int) ([]Lane, error) {
	if !s.SQLite() {
		return s.lanesTogether(ctx, shard)
	}
	var lanes []Lane
	uid, class := int64(-1), 0
	for {
		var l Lane
		var due int64
		err := s.Row(ctx, []any{&l.SenderUID, &l.Class, &due}, `SELECT sender, class, due_at FROM message
			WHERE q = 1 AND hold = '' AND shard = ? AND (sender, class) > (?, ?) ORDER BY sender, class, due_at LIMIT 1`,
			shard, uid, class)
		if errors.Is(err, sql.ErrNoRows) {
			return lanes, nil
		}
		if err != nil {
			return nil, fmt.Errorf("find lanes: %w", err)
		}
		l.Due = db.Instant(due)
		lanes = append(lanes, l)
		uid, class = l.SenderUID, int(l.Class)
	}
}

// lanesTogether has PostgreSQL hop by itself: a hundred thousand lanes would be as many round trips.
func (s *Store) lanesTogether(ctx context.Context, shard int) ([]Lane, error) {
	rows, err := s.Query(ctx, `WITH RECURSIVE lane (sender, class, due_at) AS (
		(SELECT sender, class, due_at FROM message WHERE q = 1 AND hold = '' AND shard = $1 ORDER BY sender, class, due_at LIMIT 1)
		UNION ALL SELECT next.sender, next.class, next.due_at FROM lane AS l CROSS JOIN LATERAL (
			SELECT m.sender, m.class, m.due_at FROM message AS m WHERE m.q = 1 AND m.hold = '' AND m.shard = $1
			AND (m.sender, m.class) > (l.sender, l.class) ORDER BY m.sender, m.class, m.due_at LIMIT 1) AS next)
		SELECT sender, class, due_at FROM lane`, shard)
	if err != nil {
		return nil, fmt.Errorf("find lanes: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var lanes []Lane
	for rows.Next() {
		var l Lane
		var due int64
		if err := rows.Scan(&l.SenderUID, &l.Class, &due); err != nil {
			return nil, fmt.Errorf("find lanes: %w", err)
		}
		l.Due = db.Instant(due)
		lanes = append(lanes, l)
	}
	return lanes, rows.Err()
}

// Queued is a message that waits in a lane.
type Queued struct {
	Key     carillon.MessageKey
	Number  string
	Attempt int // attempts so far
	Due     time.Time
}

// Window reads the earliest messages of a lane that are due in [floor, until], at most limit.
func (s *Store) Window(ctx context.Context, shard int, l Lane, floor, until time.Time, limit int) ([]Queued, error) {
	rows, err := s.Query(ctx, `SELECT id, number, attempt, due_at FROM message
		WHERE q = 1 AND hold = '' AND shard = $1 AND sender = $2 AND class = $3 AND due_at >= $4 AND due_at <= $5
		ORDER BY due_at LIMIT $6`, shard, l.SenderUID, int(l.Class), floor.UnixMilli(), until.UnixMilli(), limit)
	if err != nil {
		return nil, fmt.Errorf("read window: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []Queued
	for rows.Next() {
		var q Queued
		var due int64
		if err := rows.Scan(&q.Key, &q.Number, &q.Attempt, &due); err != nil {
			return nil, fmt.Errorf("read window: %w", err)
		}
		q.Due = db.Instant(due)
		all = append(all, q)
	}
	return all, rows.Err()
}

// NextDue is when the earliest message of a lane from floor on is due; zero when there is none.
func (s *Store) NextDue(ctx context.Context, shard int, l Lane, floor time.Time) (time.Time, error) {
	var due int64
	err := s.Row(ctx, []any{&due}, `SELECT due_at FROM message WHERE q = 1 AND hold = '' AND shard = $1 AND sender = $2
		AND class = $3 AND due_at >= $4 ORDER BY due_at LIMIT 1`, shard, l.SenderUID, int(l.Class), floor.UnixMilli())
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read next due: %w", err)
	}
	return db.Instant(due), nil
}

// postponed are the statements that move messages to later times. They find them by their keys, as startStatement does.
func postponed(qs []Queued, sqlite bool) []db.Statement {
	if len(qs) == 0 {
		return nil
	}
	if sqlite {
		all := make([]db.Statement, len(qs))
		for i := range qs {
			due := db.Millis(qs[i].Due)
			all[i] = db.Statement{
				SQL:  "UPDATE message SET due_at = ? WHERE id = ? AND q + 0 = 1 AND hold || '' = '' AND due_at <= ?",
				Args: []any{due, int64(qs[i].Key), due},
			}
		}
		return all
	}
	ids, dues := make([]int64, len(qs)), make([]int64, len(qs))
	for i := range qs {
		ids[i], dues[i] = int64(qs[i].Key), db.Millis(qs[i].Due)
	}
	return []db.Statement{{SQL: `UPDATE message AS m SET due_at = u.due
		FROM (SELECT unnest($1::bigint[]) AS id, unnest($2::bigint[]) AS due) AS u
		WHERE m.id = u.id AND m.q + 0 = 1 AND m.hold || '' = '' AND m.due_at <= u.due`, Args: []any{ids, dues}}}
}

// Flight is a message that the database says is being sent.
type Flight struct {
	Key       carillon.MessageKey
	SenderUID int64
	Class     carillon.Class
	Attempt   int
}

// Flights reads what a shard's owner of this epoch has in flight. It takes the fence first: a transaction of the owner's
// whose end is not known is over once that is had, so that nothing it started can appear later.
func (s *Store) Flights(ctx context.Context, f Fence) ([]Flight, error) {
	var all []Flight
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		all = nil
		held, err := fence(ctx, tx.Tx, f)
		if err != nil || !held {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT id, sender, class, attempt FROM message
			WHERE q >= 2 AND q = 2 AND shard = $1 AND epoch = $2`, f.Shard, f.Epoch)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var x Flight
			if err := rows.Scan(&x.Key, &x.SenderUID, &x.Class, &x.Attempt); err != nil {
				return err
			}
			all = append(all, x)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read flights: %w", err)
	}
	return all, nil
}

// UnknownOutcome is a message whose outcome stayed unknown past its wait.
type UnknownOutcome struct {
	Key       carillon.MessageKey
	SenderUID int64
	Class     carillon.Class
	Attempt   int
}

// UnknownOutcomes reads the unknown messages of a shard whose wait is over, and when the next one's ends (zero: none).
func (s *Store) UnknownOutcomes(ctx context.Context, shard int, now time.Time, limit int) (due []UnknownOutcome, next time.Time, err error) {
	rows, err := s.Query(ctx, `SELECT id, sender, class, attempt, due_at FROM message
		WHERE q >= 2 AND q = 3 AND shard = $1 ORDER BY shard, due_at LIMIT $2`, shard, limit)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read unknown outcomes: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var d UnknownOutcome
		var at int64
		if err := rows.Scan(&d.Key, &d.SenderUID, &d.Class, &d.Attempt, &at); err != nil {
			return nil, time.Time{}, fmt.Errorf("read unknown outcomes: %w", err)
		}
		if at > now.UnixMilli() {
			return due, db.Instant(at), rows.Err()
		}
		due = append(due, d)
	}
	if len(due) == limit {
		next = now
	}
	return due, next, rows.Err()
}

// Reconcile ends the wait of unknown outcomes by the sender's policy: queued again, or failed with outcome_unknown. A
// receipt that came meanwhile has decided the message, and it stays as the receipt left it.
func (s *Store) Reconcile(ctx context.Context, retry, fail []UnknownOutcome, now time.Time) error {
	return s.reconciles.Commit(ctx, s.DB, func(ctx context.Context, tx *db.Tx) error {
		for _, d := range retry {
			if _, err := tx.Exec(ctx, `UPDATE message SET q = 1, due_at = $3, detail = 'outcome of an attempt stayed unknown; sent again by policy'
				WHERE id = $1 AND attempt = $2 AND q + 0 = 3`, int64(d.Key), d.Attempt, db.Millis(now)); err != nil {
				return fmt.Errorf("reconcile: %w", err)
			}
		}
		for _, d := range fail {
			if _, err := tx.Exec(ctx, `UPDATE message SET q = 0, rank = CASE WHEN rank < $4 THEN $4 ELSE rank END, reason = $5, ended_at = $3
				WHERE id = $1 AND attempt = $2 AND q + 0 = 3`, int64(d.Key), d.Attempt, db.Millis(now),
				int(carillon.RankFailedUnknown), string(carillon.ReasonOutcomeUnknown)); err != nil {
				return fmt.Errorf("reconcile: %w", err)
			}
		}
		return nil
	})
}

// Release gives messages that were held under a name back to their lanes, at most limit, and tells how many.
func (s *Store) Release(ctx context.Context, hold string, limit int) (n int64, err error) {
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		n, err = tx.Exec(ctx, `UPDATE message SET hold = '' WHERE id IN (
			SELECT id FROM message WHERE q = 1 AND hold <> '' AND hold = $1 LIMIT $2) AND q + 0 = 1 AND hold || '' = $1`, hold, limit)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("release held messages: %w", err)
	}
	return n, nil
}
