package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"carillon"

	"github.com/jackc/pgx/v5/pgconn"
)

// The group commit. Concurrent operations share a transaction; each caller gets its result after the commit. Inside a
// batch only conflicts handled by SQL are expected: any other error rolls the batch back and runs each operation
// alone, so that a bad one fails alone. The committer has its own context: an operation is committed even if its
// caller leaves.

const (
	batchMax     = 512 // operations in a transaction
	resolveEvery = 50 * time.Millisecond
	// carefulBatches bounds the batches that are applied statement by statement after a refused flush; their number
	// doubles with each refusal. Otherwise a company at its quota would cause every batch to be tried twice.
	carefulBatches = 16
)

// committer runs the writes of its queue. An exclusive write runs between batches.
type committer struct {
	db *DB
	*queue
	backlog
	done sync.WaitGroup
}

func newCommitter(d *DB, workers, waiting int) *committer {
	c := &committer{db: d, queue: newQueue(waiting), backlog: backlog{most: int64(waiting), longest: d.timeout - confirmed}}
	for range workers {
		c.done.Go(c.loop)
	}
	return c
}

func (c *committer) close() {
	c.queue.close()
	c.done.Wait()
}

// do passes a write to the committer and waits for its end. A full backlog refuses it immediately.
func (c *committer) do(ctx context.Context, w *write) error {
	if w.foreground() {
		if err := c.db.Health.Confirms(); err != nil {
			return err
		}
	}
	w.done = make(chan error, 1)
	c.mu.RLock()
	if c.closed {
		c.mu.RUnlock()
		return Overloaded("The service is stopping", nil)
	}
	if err := c.enter(w); err != nil {
		c.mu.RUnlock()
		return err
	}
	if w.foreground() {
		c.foreground <- w
	} else {
		c.background <- w
	}
	c.mu.RUnlock()
	select {
	case err := <-w.done:
		return Unavailable(err)
	case <-ctx.Done():
		return fmt.Errorf("wait for the commit: %w", ctx.Err())
	}
}

func (c *committer) loop() {
	tx := &Tx{db: c.db, slot: rand.IntN(Slots)} //nolint:gosec // two transactions with the same slot would wait for each other
	defer func() { tx.release() }()
	next := batcher{q: c.queue, leave: c.leave, fore: c.foreground, back: c.background}
	batch := make([]*write, 0, batchMax)
	for {
		if batch = next.next(batch[:0]); len(batch) == 0 {
			return
		}
		begin := time.Now()
		c.execute(tx, batch)
		took := time.Since(begin)
		c.observe(took)
		if c.db.report != nil {
			rows := 0
			for _, w := range batch {
				rows += max(1, w.rows)
			}
			c.db.report(rows, took)
		}
	}
}

func (c *committer) execute(tx *Tx, batch []*write) {
	ctx := context.Background()
	if !c.db.SQLite() { // a deadline costs the SQLite driver a goroutine per statement
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.db.timeout)
		defer cancel()
	}
	if batch[0].exclusive == nil {
		slices.SortStableFunc(batch, func(a, b *write) int { return cmp.Compare(a.kind.place(), b.kind.place()) })
	}
	var err error
	flushed := false
	if !c.db.SQLite() && batch[0].exclusive == nil {
		flushed, err = c.flush(ctx, tx, batch)
	}
	if !flushed {
		err = c.attempt(ctx, tx, batch, false)
	}
	for _, w := range batch {
		own := err
		if err != nil {
			own = c.alone(ctx, tx, w, err)
			c.db.room.observe(own)
		}
		w.done <- own
	}
}

// flush commits a batch in one round trip. flushed is false if it must be applied statement by statement.
func (c *committer) flush(ctx context.Context, tx *Tx, batch []*write) (flushed bool, err error) {
	if tx.careful > 0 {
		tx.careful--
		return false, nil
	}
	var statements []Statement
	tx.recorded = nil
	errApply := errors.New("apply")
	if err := kinds(batch, func(k kind, same []*write) error {
		more, ok := k.flush(tx, same)
		if !ok {
			return errApply
		}
		statements = append(statements, more...)
		return nil
	}); err != nil {
		return false, nil //nolint:nilerr // not an error: a kind has no statements for this case
	}
	if err := tx.acquire(ctx); err != nil {
		tx.release()
		return true, &connectionError{err}
	}
	err = tx.flush(ctx, statements)
	var pe *pgconn.PgError
	switch {
	case err == nil:
		tx.refused = 0
		c.db.committed()
		return true, nil
	case errors.As(err, &pe) && !fatal(pe):
		tx.careful = min(1<<tx.refused, carefulBatches)
		tx.refused = min(tx.refused+1, carefulBatches)
		return false, nil
	}
	tx.release()
	return true, &connectionError{err}
}

// alone runs one operation of a failed batch. If the response to COMMIT was lost, the operation is replayed until the
// deadline, unless it is unrepeatable.
func (c *committer) alone(ctx context.Context, tx *Tx, w *write, first error) error {
	if w.exclusive != nil && !retryable(first) {
		return first
	}
	err, uncertain := first, isUncertain(first)
	for n := 0; ctx.Err() == nil && (uncertain || n < txAttempts); n++ {
		if uncertain && (w.kind == nil || w.kind.unrepeatable()) {
			break
		}
		if uncertain && n > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(resolveEvery):
			}
		}
		if err = c.attempt(ctx, tx, []*write{w}, uncertain); err == nil {
			return nil
		}
		uncertain = uncertain || isUncertain(err)
		if !retryable(err) && !isLost(err) && !lockTimeout(err) {
			return err
		}
	}
	return Overloaded("The database did not confirm in time: the request may be stored, so repeat it only with its Idempotency-Key",
		&awayError{err})
}

// isLost reports whether a PostgreSQL transaction failed without a response of the database itself.
func isLost(err error) bool {
	var lost *connectionError
	return errors.As(err, &lost)
}

// isUncertain reports whether such a transaction may have been committed, because its COMMIT was sent.
func isUncertain(err error) bool {
	var committing *commitError
	return isLost(err) && errors.As(err, &committing)
}

// connectionError is a failure that is not a response of the database.
type connectionError struct{ err error }

func (e *connectionError) Error() string { return "connection: " + e.err.Error() }
func (e *connectionError) Unwrap() error { return e.err }

func (c *committer) attempt(ctx context.Context, tx *Tx, batch []*write, replay bool) error {
	err := tx.acquire(ctx)
	if err == nil && batch[0].raw {
		return batch[0].exclusive(ctx, tx)
	}
	if err == nil {
		err = tryTx(ctx, tx, func(ctx context.Context, tx *Tx) error {
			if batch[0].exclusive != nil {
				return batch[0].exclusive(ctx, tx)
			}
			return kinds(batch, func(k kind, same []*write) error { return k.apply(ctx, tx, same, replay) })
		})
	}
	if err == nil || c.db.SQLite() {
		return err
	}
	var pe *pgconn.PgError
	var refused *carillon.Error
	if errors.As(err, &pe) && !fatal(pe) || errors.As(err, &refused) || errors.As(err, new(Refusal)) {
		return err
	}
	tx.release() // the connection is not reused after any error
	return &connectionError{err}
}

// Refusal is an error by which an operation refuses to be stored, although the connection works.
type Refusal interface {
	error
	Refused()
}

// Overloaded returns the 503 of a service that cannot accept a request now.
func Overloaded(reason string, err error) *carillon.Error {
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service cannot take this request now",
		Details: carillon.Details{{Key: "reason", Value: reason}}, RetryAfter: 1, Err: err,
	}
}

func isOverloaded(err error) bool { return carillon.IsCode(err, carillon.ServiceUnavailable) }
