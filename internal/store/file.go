package store

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// DropFiles deletes up to `most` files, with their bytes, that have expired.
func (s *Store) DropFiles(ctx context.Context, now time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM file WHERE id IN (
			SELECT id FROM file WHERE expires_at > 0 AND expires_at < $1 ORDER BY expires_at LIMIT $2)`, db.Millis(now), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete files")
}
