package store

import (
	"context"
	"fmt"

	"carillon/internal/db"
	"carillon/internal/store/work"
)

// KeepBreaker stores the state of a sender's circuit breaker and deletes a closed one. The last write wins.
func (s *Store) KeepBreaker(ctx context.Context, b work.Breaker) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if b.State == work.BreakerClosed {
			if _, err := tx.Exec(ctx, "DELETE FROM breaker WHERE sender = $1", b.SenderUID); err != nil {
				return fmt.Errorf("forget a breaker: %w", err)
			}
			return nil
		}
		_, err := tx.Exec(ctx, `INSERT INTO breaker (sender, company_id, kind, state, fault, detail, since, until)
			VALUES ($1, $2, $8, $3, $4, $5, $6, $7) ON CONFLICT (sender) DO UPDATE SET
			state = excluded.state, fault = excluded.fault, detail = excluded.detail, since = excluded.since, until = excluded.until`,
			b.SenderUID, b.CompanyID, string(b.State), string(b.Fault), work.Storable(b.Detail), db.Millis(b.Since), db.Millis(b.Until), b.Kind)
		if err != nil {
			return fmt.Errorf("keep a breaker: %w", err)
		}
		return nil
	})
}

const breakerColumns = "sender, company_id, kind, state, fault, detail, since, until"

// Breakers returns all circuit breakers that are not closed.
func (s *Store) Breakers(ctx context.Context) ([]work.Breaker, error) {
	return s.breakers(ctx, "SELECT "+breakerColumns+" FROM breaker")
}

// CompanyBreakers returns the circuit breakers of a company's senders that are not closed.
func (s *Store) CompanyBreakers(ctx context.Context, companyID string) ([]work.Breaker, error) {
	return s.breakers(ctx, "SELECT "+breakerColumns+" FROM breaker WHERE company_id = $1 ORDER BY sender", companyID)
}

func (s *Store) breakers(ctx context.Context, query string, args ...any) ([]work.Breaker, error) {
	return db.Collect(ctx, s, "breakers", func(scan db.Scan) (b work.Breaker, err error) {
		var since, until int64
		err = scan(&b.SenderUID, &b.CompanyID, &b.Kind, &b.State, &b.Fault, &b.Detail, &since, &until)
		b.Since, b.Until = db.Instant(since), db.Instant(until)
		return b, err
	}, query, args...)
}
