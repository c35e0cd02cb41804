package store

import (
	"context"
	"fmt"
	"time"

	"carillon"
)

// PutFirstToken keeps the digest of the token that makes an empty installation's owner, instead of any earlier one.
func (s *Store) PutFirstToken(ctx context.Context, token string, expires time.Time) error {
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.exec(ctx, `INSERT INTO meta (name, value, text) VALUES ('first-token', $1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text`, millis(expires), Digest(token))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the first token: %w", err)
	}
	return nil
}

// SpendFirstToken takes the token away, whoever is first, where there is no account yet. Errors: unauthorized.
func (tx *Tx) SpendFirstToken(ctx context.Context, token string, now time.Time) error {
	n, err := tx.exec(ctx, `DELETE FROM meta WHERE name = 'first-token' AND text = $1 AND value > $2
		AND NOT EXISTS (SELECT 1 FROM account)`, Digest(token), millis(now))
	if err != nil {
		return fmt.Errorf("spend the first token: %w", err)
	}
	if n == 0 {
		return carillon.NoAccess("The token is invalid", "invalid")
	}
	return nil
}
