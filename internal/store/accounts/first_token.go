package accounts

import (
	"context"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// PutFirstToken stores the digest of the token for the first owner of an empty installation, replacing an earlier one.
func (s *Links) PutFirstToken(ctx context.Context, token string, expires time.Time) error {
	_, err := s.d.Exec(ctx, `INSERT INTO meta (name, value, text) VALUES ('first-token', $1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text`, db.Millis(expires), configure.Digest(token))
	return db.Wrap(err, "keep the first token")
}

// FirstToken returns the expiry of the token; zero if the token is wrong or an account exists.
func (s *Links) FirstToken(ctx context.Context, token string) (time.Time, error) {
	var expires int64
	err := s.d.Row(ctx, []any{&expires}, `SELECT value FROM meta WHERE name = 'first-token' AND text = $1
		AND NOT EXISTS (SELECT 1 FROM account)`, configure.Digest(token))
	return db.Instant(expires), db.Wrap(db.Ignore(err), "look up the first token")
}

// SpendFirstToken deletes a valid token if there is no account, and reports whether it did: only one of several
// concurrent callers succeeds.
func SpendFirstToken(ctx context.Context, tx *configure.Tx, token string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, `DELETE FROM meta WHERE name = 'first-token' AND text = $1 AND value > $2
		AND NOT EXISTS (SELECT 1 FROM account)`, configure.Digest(token), db.Millis(now))
	return n == 1, db.Wrap(err, "spend the first token")
}
