package messages

import (
	"context"
	"math"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Waiting is the first of a notification's queued messages.
type Waiting struct {
	Key     carillon.MessageKey
	Held    bool // after a restore
	Due     time.Time
	Attempt int    // attempts so far
	Detail  string // of the last attempt
}

// Waiting reads the first queued message of a notification; nil if there is none.
func (s *Messages) Waiting(ctx context.Context, seq carillon.Seq) (*Waiting, error) {
	var w Waiting
	var due int64
	err := s.DB.Row(ctx, []any{&w.Key, &w.Held, &due, &w.Attempt, &w.Detail}, `SELECT id, hold <> '', due_at, attempt,
		COALESCE(detail, '') FROM message WHERE id BETWEEN $1 AND $2 AND q + 0 = 1 ORDER BY hold <> '' DESC, due_at, id LIMIT 1`,
		int64(seq.Message(0)), int64(seq.LastMessage()))
	if due == 0 {
		return nil, db.Wrap(db.Ignore(err), "read what waits")
	}
	w.Due = db.Instant(due)
	return &w, db.Wrap(err, "read what waits")
}

// maxAhead bounds the counted messages of each class.
const maxAhead = 10_000

// Ahead counts the due messages of a sender that are sent before a message, up to a bound of each class.
func (s *Messages) Ahead(ctx context.Context, x *carillon.Sender, class carillon.Class, w *Waiting, now time.Time) (n int, err error) {
	for c := carillon.Class(0); c <= class; c++ {
		until, before := db.Millis(now), int64(math.MaxInt64)
		if c == class {
			until, before = db.Millis(w.Due), int64(w.Key)
		}
		var of int
		if err := s.DB.Row(ctx, []any{&of}, `SELECT COUNT(*) FROM (SELECT 1 FROM message WHERE shard = $1 AND sender = $2
			AND class = $3 AND q = 1 AND hold = '' AND due_at <= $4 AND (due_at < $4 OR id < $5) LIMIT $6) AS counted`,
			x.Shard(), x.UID, int(c), until, before, maxAhead); err != nil {
			return 0, db.Wrap(err, "count the messages ahead")
		}
		n += of
	}
	return n, nil
}
