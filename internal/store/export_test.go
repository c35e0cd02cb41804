package store

import "context"

// AcceptInOneBatch commits accepts together; replay is how one is run again after a COMMIT without an answer.
func (s *Store) AcceptInOneBatch(ctx context.Context, replay bool, accepts ...*Accept) ([]error, error) {
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error { return acceptBatch(ctx, tx, accepts, replay) })
	errs := make([]error, len(accepts))
	for i, a := range accepts {
		errs[i] = a.err
	}
	return errs, err
}
