package store

import (
	"context"
	"errors"
	"fmt"

	"carillon"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Deliveries on PostgreSQL, as accepts (pipeline.go): fences, results and starts are one flush and one answer, written
// for the rule that the shards are still ours. A fence that does not hold divides by zero; then nothing of the flush is
// stored, and the delivery goes statement by statement.

const divisionByZero = "22012"

// sharedFence locks a shard's row until the commit. Whoever frees or takes the shard updates the row, so that one waits for
// the other's end and sees what it left. No version of the row is written: while a snapshot is held none can be cleaned
// away, and each look at the row would pass all of them (docs/adr/0014-no-version-a-commit.md).
const sharedFence = "SELECT 1 / COUNT(*) FROM (SELECT 1 FROM shard WHERE id = $1 AND owner = $2 AND epoch = $3 FOR SHARE) AS held"

func (f Fence) shared() statement { return statement{sharedFence, []any{f.Shard, f.Owner, f.Epoch}} }

// inOneFlush commits the delivery on PostgreSQL.
func (d *Delivery) inOneFlush(ctx context.Context, tx *Tx) error {
	if err := d.onTimeline(tx.s); err != nil {
		return err
	}
	err := d.flush(ctx, tx)
	var pe *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &pe) || ends(pe):
		tx.release()
		return &connectionError{&commitError{err}}
	case pe.Code != divisionByZero:
		return err
	}
	if err = tryTx(ctx, tx, d.commit); err != nil && (!errors.As(err, &pe) || ends(pe)) {
		tx.release()
		return &connectionError{err}
	}
	return err
}

func (d *Delivery) flush(ctx context.Context, tx *Tx) error {
	d.Lost = d.Lost[:0]
	epochs := make(map[int]int64, len(d.Fences))
	all := make([]statement, 0, len(d.Fences)+4)
	for _, f := range d.Fences {
		epochs[f.Shard] = f.Epoch
		all = append(all, f.shared())
	}
	all = append(all, resultsTogether(d.Results)...)
	all = append(all, postponed(d.Later, false)...)
	b := &pgx.Batch{}
	for _, st := range all {
		tx.s.watched(st.query, st.args)
		b.Queue(st.query, st.args...)
	}
	if len(d.Starts) > 0 {
		d.queueStarts(tx, b, epochs)
	}
	var err error
	raw := tx.conn.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("not a connection of pgx: %T", driver)
		}
		err = conn.Conn().SendBatch(ctx, b).Close()
		return nil
	})
	return errors.Join(err, raw)
}

// queueStarts ends a batch with the starts; only what their statement returns is started.
func (d *Delivery) queueStarts(tx *Tx, b *pgx.Batch, epochs map[int]int64) {
	starts := make([]*Start, 0, len(d.Starts))
	for _, st := range d.Starts {
		st.Attempt = 0
		if _, ok := epochs[st.Shard]; ok {
			starts = append(starts, st)
		}
	}
	st, byKey := startsTogether(starts, epochs, millis(d.Now))
	tx.s.watched(st.query, st.args)
	b.Queue(st.query, st.args...).Query(func(rows pgx.Rows) error {
		var k carillon.MessageKey
		var attempt int
		_, err := pgx.ForEachRow(rows, []any{&k, &attempt}, func() error {
			byKey[k].Attempt = attempt
			return nil
		})
		return err
	})
}
