package accounts

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/store/db"
)

// Store reads and writes the table. Its methods are safe for concurrent use.
type Rates struct{ d *db.DB }

// New returns the store of a database.
func NewRates(d *db.DB) *Rates { return &Rates{d} }

// Shared reports whether several nodes may count, as on PostgreSQL.
func (s *Rates) Shared() bool { return !s.d.SQLite() }

// Timeout bounds the wait of a request for the counts.
func (s *Rates) Timeout() time.Duration { return s.d.Timeout() }

// BorrowRate adds n to the use of a named window unless that would exceed the limit, and returns the count. One
// statement decides, so that nodes that borrow concurrently never exceed the limit together.
func (s *Rates) BorrowRate(ctx context.Context, name string, window time.Time, n, limit int) (granted bool, used int, err error) {
	if n <= limit {
		// The count after the addition; 0 if it was refused, because n is at least 1.
		used, err := db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (used int, err error) {
			err = tx.Row(ctx, []any{&used}, `INSERT INTO rate (name, start, used) VALUES ($1, $2, $3)
				ON CONFLICT (name, start) DO UPDATE SET used = rate.used + excluded.used WHERE rate.used + excluded.used <= $4
				RETURNING used`, name, db.Millis(window), n, limit)
			return used, db.Ignore(err)
		})
		if err != nil {
			return false, 0, fmt.Errorf("borrow rate: %w", err)
		}
		if used > 0 {
			return true, used, nil
		}
	}
	used, err = s.RateUsed(ctx, name, window)
	return false, used, err
}

// ReturnRate subtracts n from the use of a named window.
func (s *Rates) ReturnRate(ctx context.Context, name string, window time.Time, n int) error {
	_, err := s.d.Exec(ctx, "UPDATE rate SET used = used - $3 WHERE name = $1 AND start = $2 AND used >= $3", name, db.Millis(window), n)
	return db.Wrap(err, "return rate")
}

// RateUsed returns the use of a named window.
func (s *Rates) RateUsed(ctx context.Context, name string, window time.Time) (int, error) {
	var used int
	err := s.d.Row(ctx, []any{&used}, "SELECT used FROM rate WHERE name = $1 AND start = $2", name, db.Millis(window))
	return used, db.Wrap(db.Ignore(err), "read rate")
}

// DropRates deletes at most `most` counts of windows that began before an instant, and returns their number.
func (s *Rates) DropRates(ctx context.Context, before time.Time, most int) (n int64, err error) {
	n, err = s.d.Exec(ctx,
		`DELETE FROM rate WHERE (name, start) IN (SELECT name, start FROM rate WHERE start < $1 ORDER BY start LIMIT $2)`,
		db.Millis(before), most)
	return n, db.Wrap(err, "delete old rates")
}
