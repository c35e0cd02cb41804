package store

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// DropAddresses deletes signed addresses that expired before an instant, at most `most` of them.
func (s *Store) DropAddresses(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM signed_address WHERE id IN (
			SELECT id FROM signed_address WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`, db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete signed addresses")
}
