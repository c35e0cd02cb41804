package accounts

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/db"
	"carillon/internal/store/seal"
)

// PutFirstToken stores the digest of the token for the first owner of an empty installation, and replaces any earlier one.
func (s *Store) PutFirstToken(ctx context.Context, token string, expires time.Time) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO meta (name, value, text) VALUES ('first-token', $1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text`, db.Millis(expires), seal.Digest(token))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the first token: %w", err)
	}
	return nil
}

// FirstToken returns when the token expires; zero where it is not the stored one or an account exists.
func (s *Store) FirstToken(ctx context.Context, token string) (time.Time, error) {
	var expires int64
	err := s.d.Row(ctx, []any{&expires}, `SELECT value FROM meta WHERE name = 'first-token' AND text = $1
		AND NOT EXISTS (SELECT 1 FROM account)`, seal.Digest(token))
	if err := db.Ignore(err); err != nil {
		return time.Time{}, fmt.Errorf("look up the first token: %w", err)
	}
	return db.Instant(expires), nil
}

// SpendFirstToken deletes a valid token while there is no account, and reports whether it did: of several callers, for one.
func (t *Tx) SpendFirstToken(ctx context.Context, token string, now time.Time) (bool, error) {
	n, err := t.tx.Exec(ctx, `DELETE FROM meta WHERE name = 'first-token' AND text = $1 AND value > $2
		AND NOT EXISTS (SELECT 1 FROM account)`, seal.Digest(token), db.Millis(now))
	if err != nil {
		return false, fmt.Errorf("spend the first token: %w", err)
	}
	return n == 1, nil
}
