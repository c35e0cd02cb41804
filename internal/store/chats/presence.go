package chats

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Presence is the availability of a teammate.
type Presence struct {
	AccountID string `json:"account_id"`
	Away      bool   `json:"away"`
}

// Attend records that a teammate's inbox is open until an instant, unless a later one is recorded. away is the
// teammate's last choice.
func (s *Attendance) Attend(ctx context.Context, companyID, accountID string, until time.Time) (away bool, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return tx.Row(ctx, []any{&away}, `INSERT INTO presence (company_id, account_id, away, until) VALUES ($1, $2, FALSE, $3)
			ON CONFLICT (company_id, account_id) DO UPDATE SET
				until = CASE WHEN excluded.until > presence.until THEN excluded.until ELSE presence.until END RETURNING away`,
			companyID, accountID, db.Millis(until))
	})
	return away, db.Wrap(err, "write presence")
}

// EndAttendance replaces the end of a teammate's attendance by an earlier one. An end recorded by another node since
// is kept.
func (s *Attendance) EndAttendance(ctx context.Context, companyID, accountID string, recorded, until time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE presence SET until = $1 WHERE company_id = $2 AND account_id = $3 AND until <= $4",
		db.Millis(until), companyID,
		accountID, db.Millis(recorded))
	return db.Wrap(err, "write presence")
}

// SetAway records whether a teammate with an open inbox takes no conversations, and reports whether it is open.
func (s *Attendance) SetAway(ctx context.Context, companyID, accountID string, away bool, now time.Time) (present bool, err error) {
	var until int64
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return tx.Row(ctx, []any{&until}, `INSERT INTO presence (company_id, account_id, away, until) VALUES ($1, $2, $3, 0)
			ON CONFLICT (company_id, account_id) DO UPDATE SET away = excluded.away RETURNING until`, companyID, accountID, away)
	})
	return until > db.Millis(now), db.Wrap(err, "write presence")
}

// Present returns a company's teammates with an open inbox.
func (s *Attendance) Present(ctx context.Context, companyID string, now time.Time) ([]Presence, error) {
	return db.Collect(ctx, s.d, "presence", func(scan db.Scan) (p Presence, err error) {
		err = scan(&p.AccountID, &p.Away)
		return p, err
	}, "SELECT account_id, away FROM presence WHERE company_id = $1 AND until > $2 ORDER BY account_id", companyID, db.Millis(now))
}
