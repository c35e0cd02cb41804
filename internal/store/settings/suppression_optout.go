package settings

import (
	"context"
	"time"

	"carillon/internal/base/identity"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
)

// LiftOptOut removes the opt-outs from marketing that people made at the channel up to an instant. Their other
// suppressions stay.
func (s *Suppressions) LiftOptOut(ctx context.Context, companyID string, at time.Time, addresses ...string) error {
	err := s.d.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
		if err := lockCompany(ctx, tx, companyID); err != nil {
			return err
		}
		keys := make([]identity.Key, len(addresses))
		for i, address := range addresses {
			keys[i] = identity.Of(address)
		}
		people, err := knownPeople(ctx, tx, companyID, keys)
		if err != nil {
			return err
		}
		gone, err := liftSuppressions(ctx, tx, companyID, people, func(x *Suppression) bool {
			return x.Type == SuppressMarketing && x.Reason == OptedOut && !x.CreatedAt.After(at)
		})
		if err != nil || len(gone) == 0 {
			return err
		}
		return RecordSuppression(ctx, tx, companyID, audit.Lifted, gone[0], addressesOf(gone))
	})
	return db.Wrap(err, "lift an opt-out")
}
