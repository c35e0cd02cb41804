package messages

import (
	"context"
	"errors"

	"carillon/internal/base/provider"
	"carillon/internal/store/db"
)

// Together commits accepts as one batch, as a committer does; with lost as after a COMMIT without a response. Tests
// use it and the next two functions to choose the operations of a transaction (db.Kind.Together).
func (s *Notifications) Together(ctx context.Context, lost bool, accepts ...*Accept) []error {
	errs := s.accepts.Together(ctx, s.d, lost, accepts...)
	for i, a := range accepts {
		if errs[i] == nil {
			errs[i] = a.err
		}
	}
	return errs
}

// Apply writes accepts in one transaction without a flush; with replay as after a COMMIT without a response.
func (s *Notifications) Apply(ctx context.Context, replay bool, accepts ...*Accept) ([]error, error) {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return applyAccepts(ctx, tx, accepts, replay) })
	errs := make([]error, len(accepts))
	for i, a := range accepts {
		errs[i] = a.err
	}
	return errs, err
}

// ReceiveTogether commits callbacks as one batch.
func (s *Messages) ReceiveTogether(ctx context.Context, callbacks ...[]provider.Receipt) error {
	all := make([][]receipt, len(callbacks))
	for i, c := range callbacks {
		for _, r := range c {
			all[i] = append(all[i], receipt{Receipt: r})
		}
	}
	return errors.Join(s.receipts.Together(ctx, s.DB, false, all...)...)
}
