package accounts

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/store/db"
)

// SigningKey signs tokens from SignsAt until the next key does.
type SigningKey struct {
	ID        string // kid of tokens and of the published key
	Alg       string
	Private   []byte // PKCS #8; sealed in the database
	CreatedAt time.Time
	SignsAt   time.Time
}

// SigningKeys reads the signing keys in the order in which they sign.
func (s *Keys) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	return db.Collect(ctx, s.d, "signing keys", func(scan db.Scan) (SigningKey, error) {
		var k SigningKey
		var sealed string
		var created, signs int64
		err := scan(&k.ID, &k.Alg, &sealed, &created, &signs)
		if err != nil {
			return k, err
		}
		if k.Private, err = s.seal.Open(signingRow(k.ID), sealed); err != nil {
			return k, fmt.Errorf("open signing key %s: %w", k.ID, err)
		}
		k.CreatedAt, k.SignsAt = db.Instant(created), db.Instant(signs)
		return k, nil
	}, "SELECT kid, alg, sealed, created_at, signs_at FROM signing_key ORDER BY signs_at, kid")
}

func signingRow(kid string) string { return "signing_key/" + kid }

// AddSigningKey stores a key unless there is a key that signs later than last: of nodes that rotate concurrently, one
// succeeds.
func (s *Keys) AddSigningKey(ctx context.Context, k SigningKey, last time.Time) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO meta (name, value) VALUES ('signing-keys', 1)
			ON CONFLICT (name) DO UPDATE SET value = meta.value + 1`); err != nil { // a lock until the commit
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO signing_key (kid, alg, sealed, created_at, signs_at)
			SELECT $1, $2, $3, CAST($4 AS BIGINT), CAST($5 AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM signing_key WHERE signs_at > $6)`,
			k.ID, k.Alg, s.seal.Seal(signingRow(k.ID), k.Private), db.Millis(k.CreatedAt), db.Millis(k.SignsAt), db.Millis(last))
		return err
	})
	return db.Wrap(err, "add signing key")
}

// DropSigningKey deletes a key whose tokens have all expired.
func (s *Keys) DropSigningKey(ctx context.Context, kid string) error {
	_, err := s.d.Exec(ctx, "DELETE FROM signing_key WHERE kid = $1", kid)
	return db.Wrap(err, "delete signing key")
}
