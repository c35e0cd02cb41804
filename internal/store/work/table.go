package work

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Table is a table of waiting work. A row's q is 0 when it has ended, 1 when queued, 2 when in flight, 3 when the
// outcome of its attempt is unknown; a queued row with a hold waits for something other than its due time. The indexes
// `…_due` (shard, sender, class, due_at) of queued rows without a hold, and `…_flight` of rows in flight, serve the
// reads below.
type Table struct {
	DB   *db.DB
	Name string
}

// Lanes returns the lanes of a shard with queued work. It jumps in the index from one lane to the next, so that a million rows
// of one sender cost as little as one.
func (t *Table) Lanes(ctx context.Context, shard int) ([]Lane, error) {
	if !t.DB.SQLite() { // each jump would be a round trip
		return db.Collect(ctx, t.DB, "lanes", scanLane, `WITH RECURSIVE lane (sender, class, due_at) AS (
			(SELECT sender, class, due_at FROM `+t.Name+` WHERE q = 1 AND hold = '' AND shard = $1 ORDER BY sender, class, due_at LIMIT 1)
			UNION ALL SELECT next.sender, next.class, next.due_at FROM lane AS l CROSS JOIN LATERAL (
				SELECT m.sender, m.class, m.due_at FROM `+t.Name+` AS m WHERE m.q = 1 AND m.hold = '' AND m.shard = $1
				AND (m.sender, m.class) > (l.sender, l.class) ORDER BY m.sender, m.class, m.due_at LIMIT 1) AS next)
			SELECT sender, class, due_at FROM lane`, shard)
	}
	// A condition on both columns, (sender, class) > (?, ?), would make SQLite read the whole lane again.
	find := `SELECT sender, class, due_at FROM ` + t.Name + ` WHERE q = 1 AND hold = '' AND shard = ? AND `
	sameSender := find + "sender = ? AND class > ? ORDER BY class, due_at LIMIT 1"
	nextSender := find + "sender > ? ORDER BY sender, class, due_at LIMIT 1"
	var lanes []Lane
	last := Lane{SenderUID: -1}
	for {
		next, err := db.Collect(ctx, t.DB, "lanes", scanLane, sameSender, shard, last.SenderUID, int(last.Class))
		if err == nil && len(next) == 0 {
			next, err = db.Collect(ctx, t.DB, "lanes", scanLane, nextSender, shard, last.SenderUID)
		}
		if err != nil || len(next) == 0 {
			return lanes, err
		}
		last = next[0]
		lanes = append(lanes, last)
	}
}

func scanLane(scan db.Scan) (l Lane, err error) {
	var due int64
	err = scan(&l.SenderUID, &l.Class, &due)
	l.Due = db.Instant(due)
	return l, err
}

// Window reads the earliest rows of a lane that are due in [floor, until], at most limit.
func (t *Table) Window(ctx context.Context, shard int, l Lane, floor, until time.Time, limit int) ([]Queued, error) {
	return db.Collect(ctx, t.DB, "window", func(scan db.Scan) (q Queued, err error) {
		var due int64
		err = scan(&q.Key, &q.Number, &q.Attempt, &due)
		q.Due = db.Instant(due)
		return q, err
	}, `SELECT id, number, attempt, due_at FROM `+t.Name+`
		WHERE q = 1 AND hold = '' AND shard = $1 AND sender = $2 AND class = $3 AND due_at >= $4 AND due_at <= $5
		ORDER BY due_at LIMIT $6`, shard, l.SenderUID, int(l.Class), floor.UnixMilli(), until.UnixMilli(), limit)
}

// NextDue returns the due time of the earliest row of a lane from floor on; zero if there is none.
func (t *Table) NextDue(ctx context.Context, shard int, l Lane, floor time.Time) (time.Time, error) {
	var due int64
	err := t.DB.Row(ctx, []any{&due}, `SELECT due_at FROM `+t.Name+` WHERE q = 1 AND hold = '' AND shard = $1 AND sender = $2
		AND class = $3 AND due_at >= $4 ORDER BY due_at LIMIT 1`, shard, l.SenderUID, int(l.Class), floor.UnixMilli())
	return db.Instant(due), db.Wrap(db.Ignore(err), "read next due")
}

// Flights reads the rows that a shard's owner has in flight at this epoch. It locks the fence first: the owner's
// transactions with unknown results have then ended, so that no start of theirs can appear later (docs/adr/0005).
func (t *Table) Flights(ctx context.Context, f Fence) ([]Flight, error) {
	all, err := db.Returning(ctx, t.DB, func(ctx context.Context, tx *db.Tx) ([]Flight, error) {
		held, err := f.Take(ctx, tx)
		if err != nil || !held {
			return nil, err
		}
		return db.Collect(ctx, tx, "rows", func(scan db.Scan) (x Flight, err error) {
			err = scan(&x.Key, &x.SenderUID, &x.Class, &x.Attempt)
			return x, err
		}, `SELECT id, sender, class, attempt FROM `+t.Name+` WHERE q >= 2 AND q = 2 AND shard = $1 AND epoch = $2`, f.Shard, f.Epoch)
	})
	return all, db.Wrap(err, "read flights")
}

// Postpone returns the statements that move rows to later times. No partial index serves their conditions: with stale statistics
// the planner considers the due index empty and would read all due rows. The primary key finds each row.
func (t *Table) Postpone(qs []Queued) []db.Statement {
	if len(qs) == 0 {
		return nil
	}
	if !t.DB.SQLite() {
		return []db.Statement{t.postponeByKeys(qs)}
	}
	rows := make([][2]int64, len(qs)) // id and due_at
	for i := range qs {
		rows[i] = [2]int64{int64(qs[i].Key), db.Millis(qs[i].Due)}
	}
	return []db.Statement{{SQL: `UPDATE ` + t.Name + ` AS m SET due_at = u.due
		FROM (SELECT CAST(value ->> 0 AS BIGINT) AS id, CAST(value ->> 1 AS BIGINT) AS due FROM ` + t.DB.Elements(1) + `) AS u
		WHERE m.id = u.id AND m.q + 0 = 1 AND m.hold || '' = '' AND m.due_at <= u.due`, Args: []any{db.JSON(rows)}}}
}

// postponeByKeys is Postpone on PostgreSQL. A join with the list would, without statistics of the table, read the whole
// table for each row of the list.
func (t *Table) postponeByKeys(qs []Queued) db.Statement {
	ids, dues := make([]int64, len(qs)), make([]int64, len(qs))
	for i := range qs {
		ids[i], dues[i] = int64(qs[i].Key), db.Millis(qs[i].Due)
	}
	const due = "($2::bigint[])[array_position($1::bigint[], id)]"
	return db.Statement{SQL: `UPDATE ` + t.Name + ` SET due_at = ` + due + `
		WHERE id = ANY($1::bigint[]) AND q + 0 = 1 AND hold || '' = '' AND due_at <= ` + due, Args: []any{ids, dues}}
}

// sharedFence locks a shard's row until the commit. Freeing or acquiring the shard updates the row, so one waits for
// the other. It writes no version of the row, which could not be vacuumed under a held snapshot
// (docs/adr/0014-share-locks-as-fences.md).
const sharedFence = "SELECT 1 / COUNT(*) FROM (SELECT 1 FROM shard WHERE id = $1 AND owner = $2 AND epoch = $3 FOR SHARE) AS held"

// Share returns the statement for PostgreSQL that locks the shard's row against a change of its owner, and divides by
// zero if the node no longer owns it.
func (f Fence) Share() db.Statement {
	return db.Statement{SQL: sharedFence, Args: []any{f.Shard, f.Owner, f.Epoch}}
}

// Take locks the shard's row exclusively, also against this node's own commits, and reports whether the node still owns it.
func (f Fence) Take(ctx context.Context, tx *db.Tx) (held bool, err error) {
	n, err := tx.Exec(ctx, "UPDATE shard SET writes = writes + 1 WHERE id = $1 AND owner = $2 AND epoch = $3", f.Shard, f.Owner, f.Epoch)
	return n == 1, db.Wrap(err, "fence")
}

// TakeAll locks the shards of a batch, records in Lost those that the node no longer owns, and returns the epochs of
// the others.
func (b *Batch) TakeAll(ctx context.Context, tx *db.Tx) (epochs map[int]int64, err error) {
	b.Lost, epochs = b.Lost[:0], map[int]int64{}
	for _, f := range b.Fences {
		held, err := f.Take(ctx, tx)
		if err != nil {
			return nil, err
		}
		if held {
			epochs[f.Shard] = f.Epoch
		} else {
			b.Lost = append(b.Lost, f.Shard)
		}
	}
	return epochs, nil
}

// Startable returns the starts of shards whose fence holds, reset to their state before the first attempt.
func (b *Batch) Startable(epochs map[int]int64) []*Start {
	starts := make([]*Start, 0, len(b.Starts))
	for _, st := range b.Starts {
		st.Attempt, st.Full = 0, false
		if _, ok := epochs[st.Shard]; ok {
			starts = append(starts, st)
		}
	}
	return starts
}
