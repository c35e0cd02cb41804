package suppressions

import (
	"context"
	"time"

	"carillon/internal/db"
	"carillon/internal/store/audit"
)

// LiftOptOut has people get marketing again who opted out of it at the channel at an instant or before. Other suppressions of theirs stay.
func (s *Store) LiftOptOut(ctx context.Context, companyID string, at time.Time, addresses ...string) error {
	err := s.d.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
		if err := lockCompany(ctx, tx, companyID); err != nil {
			return err
		}
		x := Suppression{Type: Marketing, Reason: OptedOut}
		lifted, err := db.Collect(ctx, tx, "suppressions", func(scan db.Scan) (address string, err error) {
			return address, scan(&address)
		}, "DELETE FROM suppression WHERE company_id = $1 AND type = $2 AND reason = $3 AND created_at <= $4 AND number "+tx.DB().In(5)+
			" RETURNING number", companyID, string(x.Type), x.Reason, db.Millis(at), tx.DB().List(addresses))
		if err != nil || len(lifted) == 0 {
			return err
		}
		return Record(ctx, tx, companyID, audit.Lifted, x, lifted)
	})
	return db.Wrap(err, "lift an opt-out")
}
