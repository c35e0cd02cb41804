package messages

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Waiting is the first of a notification's queued messages.
type Waiting struct {
	Key     carillon.MessageKey
	Hold    string // name under which it is held; empty if it is not
	Due     time.Time
	Attempt int    // attempts so far
	Detail  string // of the last attempt
}

// FirstWaiting reads the first queued message of a notification, a held one before others; nil if there is none.
func FirstWaiting(ctx context.Context, d *db.DB, seq carillon.Seq) (*Waiting, error) {
	all, err := db.Collect(ctx, d, "waiting messages", func(scan db.Scan) (w *Waiting, err error) {
		w = &Waiting{}
		var due int64
		err = scan(&w.Key, &w.Hold, &due, &w.Attempt, &w.Detail)
		w.Due = db.Instant(due)
		return w, err
	}, "SELECT id, hold, due_at, attempt, COALESCE(detail, '') FROM message WHERE id BETWEEN $1 AND $2 AND q + 0 = 1",
		int64(seq.Message(0)), int64(seq.LastMessage()))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return slices.MinFunc(all, func(a, b *Waiting) int {
		return cmp.Or(-cmp.Compare(a.Hold, b.Hold), a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key))
	}), nil
}

// maxAhead bounds the counted messages of each class.
const maxAhead = 1000

// Ahead counts the due messages of a sender that are sent before a message, up to a bound of each class.
func Ahead(ctx context.Context, d *db.DB, x *carillon.Sender, class carillon.Class, w *Waiting, now time.Time) (n int, err error) {
	for c := carillon.Class(0); c <= class; c++ {
		until, before := db.Millis(now), int64(math.MaxInt64)
		if c == class {
			until, before = db.Millis(w.Due), int64(w.Key)
		}
		all, err := db.Collect(ctx, d, "messages ahead", func(scan db.Scan) (id int64, err error) { return id, scan(&id) },
			`SELECT id FROM message WHERE shard = $1 AND sender = $2 AND class = $3 AND q = 1 AND hold = '' AND due_at <= $4
			AND (due_at < $4 OR id < $5) LIMIT $6`, x.Shard(), x.UID, int(c), until, before, maxAhead)
		if err != nil {
			return 0, err
		}
		n += len(all)
	}
	return n, nil
}
