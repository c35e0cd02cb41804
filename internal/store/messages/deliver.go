package messages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// Commit stores results and starts together. It is not repeated after a COMMIT without a response, because a start would find
// its rows started and consider them another's.
func (s *Messages) Commit(ctx context.Context, b *work.Batch) error {
	b.Follow(ctx, false, s.followed)
	err := s.deliveries.Commit(ctx, s.DB, b)
	for i := range b.Results {
		if r := &b.Results[i]; r.Move == work.MoveDone {
			s.touch(carillon.MessageKey(r.Key).Seq(), err)
		}
	}
	return err
}

func deliveryKind(t *work.Table, place db.Place) *db.Kind[*work.Batch] {
	k := deliveries{t}
	return &db.Kind[*work.Batch]{
		Name: "delivery", Place: place, Background: true, Unrepeatable: true, Apply: k.apply, Flush: k.flush,
		Rows: (*work.Batch).Rows,
	}
}

// deliveries writes the batches of messages.
type deliveries struct{ table *work.Table }

func (k deliveries) apply(ctx context.Context, tx *db.Tx, all []*work.Batch, _ bool) error {
	for _, b := range all {
		epochs, err := b.TakeAll(ctx, tx)
		if err != nil {
			return err
		}
		if err := writeResults(ctx, tx, b.Results); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
		if failed := failures(b.Results); len(failed) > 0 {
			if err := tx.Run(ctx, hasten(tx.DB(), failed)); err != nil {
				return fmt.Errorf("hasten fallbacks: %w", err)
			}
		}
		if err := tx.Run(ctx, k.table.Postpone(b.Later)...); err != nil {
			return fmt.Errorf("postpone: %w", err)
		}
		if err := tx.Run(ctx, startStatements(tx.DB(), b.Startable(epochs), b.Now)...); err != nil {
			return fmt.Errorf("start: %w", err)
		}
	}
	return nil
}

// failures returns the keys of the messages that failed, sorted.
func failures(results []work.Result) (keys []int64) {
	for i := range results {
		if r := &results[i]; r.Move == work.MoveDone && OutcomeOf(r).Rank == rank.Failed {
			keys = append(keys, int64(r.Key))
		}
	}
	slices.Sort(keys)
	return keys
}

// flush returns the statements for the usual case that every fence holds and that each message whose end has an event
// is still in flight: no receipt came before the result. Otherwise one of them fails, because it divides by zero, and the
// batches are applied.
func (k deliveries) flush(tx *db.Tx, all []*work.Batch) ([]db.Statement, bool) {
	var statements []db.Statement
	for _, b := range all {
		b.Lost = b.Lost[:0]
		epochs := make(map[int]int64, len(b.Fences))
		for _, f := range b.Fences {
			epochs[f.Shard] = f.Epoch
			statements = append(statements, f.Share())
		}
		results, ok := usualResults(tx, b.Results)
		if !ok {
			return nil, false
		}
		statements = append(statements, results...)
		if failed := failures(b.Results); len(failed) > 0 {
			statements = append(statements, hasten(tx.DB(), failed))
		}
		statements = append(statements, k.table.Postpone(b.Later)...)
		statements = append(statements, startStatements(tx.DB(), b.Startable(epochs), b.Now)...)
	}
	return statements, true
}

// startStatements start messages and set the attempts of those that start. The fences lock the epochs of the shards.
// No partial index is used: with stale statistics the planner considers the due index empty and would read all due
// rows for each batch. The primary key finds each row.
func startStatements(d *db.DB, starts []*work.Start, now time.Time) []db.Statement {
	if len(starts) == 0 {
		return nil
	}
	byKey, keys := make(map[work.Key]*work.Start, len(starts)), make([]int64, len(starts))
	for i, st := range starts {
		byKey[st.Key], keys[i] = st, int64(st.Key)
	}
	return []db.Statement{{
		SQL: `UPDATE message SET q = 2, attempt = attempt + 1, started_at = $1,
		epoch = (SELECT s.epoch FROM shard AS s WHERE s.id = message.shard)
		WHERE id ` + d.In(2) + ` AND q + 0 = 1 AND hold || '' = '' AND due_at <= $1
		RETURNING id, attempt`, Args: []any{db.Millis(now), d.List(keys)},
		Scan: func(scan db.Scan) error {
			var k work.Key
			var attempt int
			if err := scan(&k, &attempt); err != nil {
				return err
			}
			byKey[k].Attempt = attempt
			return nil
		},
	}}
}
