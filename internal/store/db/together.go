package db

import (
	"context"
	"errors"
)

// Together runs operations as one batch, the way a committer does, and returns each one's result: tests decide with it what
// shares a transaction. With lost they are run as after a COMMIT that got no response.
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
