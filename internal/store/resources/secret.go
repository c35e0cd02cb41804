package resources

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// usedWithin is the precision of the time of last use. It saves a write per use.
const usedWithin = time.Minute

// SecretUsed records that a company's secret was used.
func (s *Store) SecretUsed(ctx context.Context, companyID, id string, now time.Time) error {
	at := int64(0)
	if err := db.Ignore(s.d.Row(ctx, []any{&at}, "SELECT used_at FROM secret_use WHERE company_id = $1 AND id = $2", companyID,
		id)); err != nil {
		return db.Wrap(err, "look up when a secret was used")
	}
	if now.Sub(db.Instant(at)) < usedWithin {
		return nil
	}
	_, err := s.d.Exec(ctx, `INSERT INTO secret_use (company_id, id, used_at) VALUES ($1, $2, $3)
		ON CONFLICT (company_id, id) DO UPDATE SET used_at = excluded.used_at WHERE secret_use.used_at < excluded.used_at`,
		companyID, id, db.Millis(now))
	return db.Wrap(err, "record that a secret was used")
}

// SecretUses returns the time of last use of each of a company's secrets.
func (s *Store) SecretUses(ctx context.Context, companyID string) (map[string]time.Time, error) {
	uses := map[string]time.Time{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var id string
		var at int64
		err := scan(&id, &at)
		uses[id] = db.Instant(at)
		return err
	}, "SELECT id, used_at FROM secret_use WHERE company_id = $1", companyID)
	return uses, db.Wrap(err, "read when secrets were used")
}
