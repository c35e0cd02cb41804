package db

import "context"

// Returning is Update for a function with a result. It returns the result of the committed run, and the zero value
// after an error: the function may run again, and after its caller has left, so it must not write variables of its
// caller.
func Returning[T any](ctx context.Context, d *DB, fn func(ctx context.Context, tx *Tx) (T, error)) (T, error) {
	var result, none T
	err := d.Update(ctx, func(ctx context.Context, tx *Tx) (err error) {
		result, err = fn(ctx, tx)
		return err
	})
	if err != nil {
		return none, err // the result may still be written
	}
	return result, nil
}
