package work

import (
	"context"

	"carillon/internal/store/db"
)

// Breakers is the table of circuit breakers.
type Breakers struct{ d *db.DB }

// NewBreakers returns the table of a database.
func NewBreakers(d *db.DB) *Breakers { return &Breakers{d} }

// Keep stores the state of a sender's circuit breaker and deletes a closed one. The last write wins.
func (s *Breakers) Keep(ctx context.Context, b Breaker) error {
	if b.State == BreakerClosed {
		_, err := s.d.Exec(ctx, "DELETE FROM breaker WHERE sender = $1", b.SenderUID)
		return db.Wrap(err, "delete a closed breaker")
	}
	_, err := s.d.Exec(ctx, `INSERT INTO breaker (`+breakerColumns+
		`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (sender) DO UPDATE SET
		state = excluded.state, fault = excluded.fault, detail = excluded.detail, since = excluded.since, until = excluded.until`,
		b.SenderUID, b.CompanyID, b.Kind, string(b.State), string(b.Fault), b.Detail, db.Millis(b.Since), db.Millis(b.Until))
	return db.Wrap(err, "store a breaker")
}

const breakerColumns = "sender, company_id, kind, state, fault, detail, since, until"

// All returns all circuit breakers that are not closed.
func (s *Breakers) All(ctx context.Context) ([]Breaker, error) {
	return s.breakers(ctx, "SELECT "+breakerColumns+" FROM breaker")
}

// OfCompany returns the circuit breakers of a company's senders that are not closed.
func (s *Breakers) OfCompany(ctx context.Context, companyID string) ([]Breaker, error) {
	return s.breakers(ctx, "SELECT "+breakerColumns+" FROM breaker WHERE company_id = $1 ORDER BY sender", companyID)
}

func (s *Breakers) breakers(ctx context.Context, query string, args ...any) ([]Breaker, error) {
	return db.Collect(ctx, s.d, "breakers", func(scan db.Scan) (b Breaker, err error) {
		var since, until int64
		err = scan(&b.SenderUID, &b.CompanyID, &b.Kind, &b.State, &b.Fault, &b.Detail, &since, &until)
		b.Since, b.Until = db.Instant(since), db.Instant(until)
		return b, err
	}, query, args...)
}
