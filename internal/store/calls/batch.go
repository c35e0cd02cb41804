package calls

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/work"
)

// Commit implements work.Source: it stores starts and results together. PostgreSQL uses a separate transaction: calls
// are few and have many statements, and messages in the same transaction would be written one by one.
func (s *Store) Commit(ctx context.Context, b *work.Batch) error {
	b.Follow(ctx, true, s.followed)
	err := s.commit(ctx, b)
	for _, st := range b.Starts {
		s.changed(carillon.MessageKey(st.Key).Seq(), err)
	}
	s.resultsChanged(b, err)
	return err
}

func (s *Store) commit(ctx context.Context, b *work.Batch) error {
	if s.DB.SQLite() {
		return s.batches.Commit(ctx, s.DB, b)
	}
	return s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.apply(ctx, tx, []*work.Batch{b}, false) })
}

func (s *Store) resultsChanged(b *work.Batch, err error) {
	for i := range b.Results {
		s.changed(carillon.MessageKey(b.Results[i].Key).Seq(), err)
	}
}

// update runs fn in the transaction of Commit.
func (s *Store) update(ctx context.Context, fn db.Func) error {
	if s.DB.SQLite() {
		return s.progress.Commit(ctx, s.DB, fn)
	}
	return s.DB.Update(ctx, fn)
}

func (s *Store) apply(ctx context.Context, tx *db.Tx, all []*work.Batch, _ bool) error {
	for _, b := range all {
		epochs, err := b.TakeAll(ctx, tx)
		if err != nil {
			return err
		}
		for i := range b.Results {
			if err := write(ctx, tx, &b.Results[i]); err != nil {
				return fmt.Errorf("write result: %w", err)
			}
		}
		if err := tx.Run(ctx, s.Postpone(b.Later)...); err != nil {
			return fmt.Errorf("postpone: %w", err)
		}
		for _, st := range b.Startable(epochs) {
			if err := s.start(ctx, tx, st, epochs[st.Shard], db.Millis(b.Now)); err != nil {
				return fmt.Errorf("start: %w", err)
			}
		}
	}
	return nil
}

// start starts a call, unless its line has reached its limit of calls in progress. The shard is locked, so no other
// node starts or takes one meanwhile.
func (s *Store) start(ctx context.Context, tx *db.Tx, st *work.Start, epoch, now int64) error {
	if st.Limit > 0 {
		n, err := underWay(ctx, tx, st.SenderUID)
		if err != nil {
			return err
		}
		if n >= st.Limit {
			st.Full = true
			return nil
		}
	}
	err := db.Ignore(tx.Row(ctx, []any{&st.Attempt},
		`UPDATE call SET q = 2, attempt = attempt + 1, epoch = $1, node = $2, state = 'dialing', dialed_at = $3,
		ringing_at = 0, answered_at = 0, hang_up = FALSE, detail = ''
		WHERE id = $4 AND q + 0 = 1 AND hold || '' = '' AND due_at <= $3 RETURNING attempt`, epoch, s.node(), now, int64(st.Key)))
	if err != nil || st.Attempt == 0 {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO call_attempt (call, attempt, state, dialed_at) VALUES ($1, $2, 'dialing', $3)",
		int64(st.Key), st.Attempt, now)
	if err == nil && st.Followed {
		err = events.Call(ctx, tx, carillon.MessageKey(st.Key), nil)
	}
	return err
}

// write stores the result of an attempt: the call is queued again, or it and its notification end. A call that should
// hang up is not queued again.
func write(ctx context.Context, tx *db.Tx, r *work.Result) error {
	o, _ := r.Outcome.(Outcome)
	o.Cause = db.Storable(o.Cause)
	detail, move := db.Storable(r.Detail), r.Move
	if move != work.MoveDone {
		hungUp := false
		err := tx.Row(ctx, []any{&hungUp}, "SELECT hang_up FROM call WHERE id = $1 AND attempt = $2 AND q + 0 = 2", int64(r.Key), r.Attempt)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		case hungUp:
			move, o.State, o.Reason, o.EndedBy = work.MoveDone, carillon.StateCanceled, carillon.ReasonCanceled, "system"
		case move == work.MoveUnsent, o.State == "":
			return unsent(ctx, tx, r, detail)
		}
	}
	counts := 0
	if o.Counts {
		counts = 1
	}
	var err error
	if move == work.MoveDone {
		err = end(ctx, tx, r, o, detail, counts)
	} else {
		_, err = tx.Exec(ctx, `UPDATE call SET q = 1, state = 'queued', due_at = $3, detail = $4, cause = $5, dials = dials + $6,
			dialed_at = 0, ringing_at = 0, answered_at = 0 WHERE id = $1 AND attempt = $2 AND q + 0 = 2`,
			int64(r.Key), r.Attempt, db.Millis(r.Due), detail, o.Cause, counts)
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE call_attempt SET state = $3, reason = $4, detail = $5, cause = $6, counts = $10,
		ringing_at = CASE WHEN ringing_at = 0 THEN $7 ELSE ringing_at END,
		answered_at = CASE WHEN answered_at = 0 THEN $8 ELSE answered_at END, ended_at = $9
		WHERE call = $1 AND attempt = $2 AND ended_at = 0`, int64(r.Key), r.Attempt, string(o.State), string(o.Reason), detail, o.Cause,
		db.Millis(o.RingingAt), db.Millis(o.AnsweredAt), db.Millis(r.At), o.Counts)
	return err
}

// unsent queues a call again that was not dialed.
func unsent(ctx context.Context, tx *db.Tx, r *work.Result, detail string) error {
	n, err := tx.Exec(ctx, `UPDATE call SET q = 1, state = 'queued', due_at = $3, detail = $4, dialed_at = 0
		WHERE id = $1 AND attempt = $2 AND q + 0 = 2`, int64(r.Key), r.Attempt, db.Millis(r.Due), detail)
	if err == nil && n > 0 {
		_, err = tx.Exec(ctx, "DELETE FROM call_attempt WHERE call = $1 AND attempt = $2", int64(r.Key), r.Attempt)
	}
	return err
}

// end ends a call, and its notification if nothing else of it is open. The notification is locked first, as in a
// cancellation.
func end(ctx context.Context, tx *db.Tx, r *work.Result, o Outcome, detail string, counts int) error {
	seq := int64(carillon.MessageKey(r.Key).Seq())
	if !tx.SQLite() {
		if _, err := tx.Exec(ctx, "SELECT 1 FROM notification WHERE seq = $1 FOR UPDATE", seq); err != nil {
			return err
		}
	}
	n, err := tx.Exec(ctx, `UPDATE call SET q = 0, state = $3, reason = $4, detail = $5, cause = $6, ended_by = $7, answered_by = $8,
		dials = dials + $9, ringing_at = CASE WHEN ringing_at = 0 THEN $10 ELSE ringing_at END,
		answered_at = CASE WHEN answered_at = 0 THEN $11 ELSE answered_at END, ended_at = $12
		WHERE id = $1 AND attempt = $2 AND q + 0 = 2`, int64(r.Key), r.Attempt, string(o.State), string(o.Reason), detail, o.Cause,
		o.EndedBy,
		o.AnsweredBy, counts, db.Millis(o.RingingAt), db.Millis(o.AnsweredAt), db.Millis(r.At))
	if err != nil || n == 0 {
		return err
	}
	var conversation string
	if err := tx.Row(ctx, []any{&conversation}, "SELECT conversation_id FROM call WHERE id = $1", int64(r.Key)); err != nil {
		return err
	}
	if err := endTransfers(ctx, tx, conversation, o.Reason, db.Millis(r.At)); err != nil {
		return err
	}
	if r.Followed {
		if err := events.Call(ctx, tx, carillon.MessageKey(r.Key), o.Result); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, "UPDATE notification SET open = 0, done_at = $1 WHERE seq = $2 AND open + 0 > 0 AND "+work.Open+" = 0",
		db.Millis(r.At), seq)
	return err
}

// Progress records that a call is ringing or was answered.
func (s *Store) Progress(ctx context.Context, key carillon.MessageKey, attempt int, state carillon.State, at time.Time) error {
	column, before := "ringing_at", "state = 'dialing'"
	if state == carillon.StateInProgress {
		column, before = "answered_at", "state IN ('dialing', 'ringing')"
	}
	err := s.update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE call SET state = $1, "+column+" = $2 WHERE id = $3 AND attempt = $4 AND q + 0 = 2 AND "+before,
			string(state), db.Millis(at), int64(key), attempt)
		if err == nil && n > 0 {
			_, err = tx.Exec(ctx, "UPDATE call_attempt SET state = $1, "+column+" = $2 WHERE call = $3 AND attempt = $4",
				string(state), db.Millis(at), int64(key), attempt)
		}
		return err
	})
	s.changed(key.Seq(), err)
	return db.Wrap(err, "record the progress of a call")
}

// Foreign is a call in progress on another node.
type Foreign struct {
	Key     carillon.MessageKey
	LineUID int64
	Attempt int
	Node    string
	Gone    bool // the node was declared dead or has left
}

// Foreign reads the calls of a shard that are in progress on other nodes.
func (s *Store) Foreign(ctx context.Context, shard int) (all []Foreign, err error) {
	all, err = db.Collect(ctx, s.DB, "calls on other nodes", func(scan db.Scan) (f Foreign, err error) {
		err = scan(&f.Key, &f.LineUID, &f.Attempt, &f.Node, &f.Gone)
		return f, err
	}, `SELECT id, sender, attempt, node, NOT EXISTS (SELECT 1 FROM node WHERE node.id = call.node) FROM call
		WHERE q = 2 AND shard = $1 AND node <> $2`, shard, s.node())
	slices.SortFunc(all, func(a, b Foreign) int { return cmp.Compare(a.Key, b.Key) }) // in lock order
	return all, err
}

// Interrupt ends calls of dead nodes. They are not redialed, because nobody knows how far the conversation got.
func (s *Store) Interrupt(ctx context.Context, all []Foreign, now time.Time) error {
	var b work.Batch
	for _, f := range all {
		b.Results = append(b.Results, work.Result{
			Key: work.Key(f.Key), SenderUID: f.LineUID, Attempt: f.Attempt, Move: work.MoveDone, At: now,
			Detail:  "the node that had the call under way is gone",
			Outcome: Outcome{State: carillon.StateFailed, Reason: carillon.ReasonInterrupted, EndedBy: "system", Counts: true},
		})
	}
	b.Follow(ctx, false, s.followed)
	err := s.update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for i := range b.Results {
			if err := write(ctx, tx, &b.Results[i]); err != nil {
				return err
			}
		}
		return nil
	})
	s.resultsChanged(&b, err)
	return db.Wrap(err, "interrupt calls")
}

// Strays reads this node's calls in progress since before an instant that the node does not know: the response to the
// commit that started one was lost, together with the shard.
func (s *Store) Strays(ctx context.Context, before time.Time, known func(carillon.MessageKey) bool) (all []Foreign, err error) {
	err = db.Each(ctx, s.DB, func(scan db.Scan) error {
		var f Foreign
		err := scan(&f.Key, &f.Attempt, &f.Node)
		if err == nil && !known(f.Key) {
			all = append(all, f)
		}
		return err
	}, "SELECT id, attempt, node FROM call WHERE q = 2 AND node = $1 AND dialed_at < $2", s.node(), db.Millis(before))
	return all, db.Wrap(err, "read calls under way")
}
