package messages

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/rank"
)

// UnknownOutcome is a message whose outcome is still unknown after its wait.
type UnknownOutcome struct {
	Key       carillon.MessageKey
	SenderUID int64
	Class     carillon.Class
	Attempt   int
}

// UnknownOutcomes reads the unknown messages of a shard whose wait is over, and the end of the next one's wait (zero
// if none).
func (s *Messages) UnknownOutcomes(ctx context.Context, shard int, now time.Time, limit int) (due []UnknownOutcome, next time.Time,
	err error,
) {
	err = db.Each(ctx, s.DB, func(scan db.Scan) error {
		var d UnknownOutcome
		var at int64
		err := scan(&d.Key, &d.SenderUID, &d.Class, &d.Attempt, &at)
		switch {
		case at <= now.UnixMilli():
			due = append(due, d)
		case next.IsZero():
			next = db.Instant(at)
		}
		return err
	}, `SELECT id, sender, class, attempt, due_at FROM message
		WHERE q >= 2 AND q = 3 AND shard = $1 ORDER BY shard, due_at LIMIT $2`, shard, limit)
	if len(due) == limit {
		next = now
	}
	return due, next, db.Wrap(err, "read unknown outcomes")
}

// Reconcile applies the senders' policies to unknown outcomes: messages are queued again, or fail with
// outcome_unknown. A message that got a receipt meanwhile is left unchanged.
func (s *Messages) Reconcile(ctx context.Context, retry, fail []UnknownOutcome, now time.Time) error {
	var followed []carillon.MessageKey
	for _, d := range fail {
		if s.followed(ctx, d.SenderUID) {
			followed = append(followed, d.Key)
		}
	}
	err := s.reconciles.Commit(ctx, s.DB, func(ctx context.Context, tx *db.Tx) error {
		for _, d := range retry {
			if _, err := tx.Exec(ctx, `UPDATE message
				SET q = 1, due_at = $3, detail = 'outcome of an attempt stayed unknown; sent again by policy'
				WHERE id = $1 AND attempt = $2 AND q + 0 = 3`, int64(d.Key), d.Attempt, db.Millis(now)); err != nil {
				return fmt.Errorf("reconcile: %w", err)
			}
		}
		return events.Messages(ctx, tx, followed, func() error {
			for _, d := range fail {
				if _, err := tx.Exec(ctx, `UPDATE message
					SET q = 0, rank = CASE WHEN rank < $4 THEN $4 ELSE rank END, reason = $5, ended_at = $3
					WHERE id = $1 AND attempt = $2 AND q + 0 = 3`, int64(d.Key), d.Attempt, db.Millis(now),
					int(rank.FailedUnknown), string(carillon.ReasonOutcomeUnknown)); err != nil {
					return fmt.Errorf("reconcile: %w", err)
				}
			}
			return nil
		})
	})
	for _, d := range fail {
		s.touch(d.Key.Seq(), err)
	}
	return err
}

// Release returns at most limit messages held under a name to their lanes, and returns their number.
func (s *Messages) Release(ctx context.Context, hold string, limit int) (n int64, err error) {
	n, err = s.DB.Exec(ctx, `UPDATE message SET hold = '' WHERE id IN (
		SELECT id FROM message WHERE q = 1 AND hold <> '' AND hold = $1 LIMIT $2) AND q + 0 = 1 AND hold || '' = $1`, hold, limit)
	return n, db.Wrap(err, "release held messages")
}
