package db

import (
	"context"
	"errors"
)

// Together runs operations as one batch, as a committer does, and returns their results: tests use it to choose the
// operations of a transaction. With lost they run as after a COMMIT without a response.
func (k *Kind[O]) Together(ctx context.Context, d *DB, lost bool, ops ...O) []error {
	batch := make([]*write, len(ops))
	for i, op := range ops {
		batch[i] = &write{kind: k, op: op, done: make(chan error, 1)}
	}
	errs := make([]error, len(ops))
	err := d.Commits.foreground.do(ctx, &write{raw: true, exclusive: func(ctx context.Context, tx *Tx) error {
		tx.careful = 0
		if !lost {
			d.Commits.foreground.execute(tx, batch)
			return nil
		}
		for _, w := range batch {
			w.done <- d.Commits.foreground.alone(ctx, tx, w, &connectionError{&commitError{errors.New("no response")}})
		}
		return nil
	}})
	for i, w := range batch {
		if err != nil {
			errs[i] = err
			continue
		}
		errs[i] = <-w.done
	}
	return errs
}
