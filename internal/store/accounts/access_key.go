package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// AccessKey is a company's key (docs/reference/signing-in.md). Key, the secret itself, is filled only where a method says so.
type AccessKey struct {
	ID        string
	CompanyID string
	Label     string
	Key       string
	Scopes    []string
	ExpiresAt time.Time // zero if it never expires
	RevokedAt time.Time // zero if it is not revoked
	CreatedAt time.Time
	LastUsed  time.Time // zero if it was never used
}

const keyColumns = "id, company_id, label, scopes, expires_at, revoked_at, created_at, last_used"

func scanKey(scan db.Scan, more ...any) (*AccessKey, error) {
	var k AccessKey
	var scopes string
	var expires, revoked, created, used int64
	dest := []any{&k.ID, &k.CompanyID, &k.Label, &scopes, &expires, &revoked, &created, &used}
	if err := scan(append(dest, more...)...); err != nil {
		return nil, err
	}
	k.Scopes = strings.Fields(scopes)
	k.ExpiresAt, k.RevokedAt, k.CreatedAt, k.LastUsed = db.Instant(expires), db.Instant(revoked), db.Instant(created), db.Instant(used)
	return &k, nil
}

// AccessKey finds a key by its secret, from the cache; nil when there is none. Its LastUsed may be old.
func (s *Keys) AccessKey(ctx context.Context, key string) (*AccessKey, error) {
	digest := configure.Digest(key)
	return s.cachedKey(ctx, digest, "digest = $1", digest)
}

// AccessKeyByID finds a key by its id, from the cache; nil when there is none. Its LastUsed may be old.
func (s *Keys) AccessKeyByID(ctx context.Context, id string) (*AccessKey, error) {
	return s.cachedKey(ctx, id, "id = $1", id)
}

func (s *Keys) cachedKey(ctx context.Context, name, where string, arg any) (*AccessKey, error) {
	return s.keys.Get(ctx, name, func(ctx context.Context) (*AccessKey, string, error) {
		k, err := scanKey(func(dest ...any) error {
			return s.d.Row(ctx, dest, "SELECT "+keyColumns+" FROM access_key WHERE "+where, arg)
		})
		if err != nil {
			return nil, "", fmt.Errorf("look up access key: %w", err)
		}
		return k, k.CompanyID, nil
	})
}

// AccessKeys reads keys of a company after an id, oldest first, revoked ones included, with their secrets.
func (s *Keys) AccessKeys(ctx context.Context, companyID, after string, limit int) ([]*AccessKey, error) {
	return s.readKeys(ctx, keySelect+"company_id = $1 AND id > $2 ORDER BY id LIMIT $3",
		companyID, after, limit)
}

// UsableKeys reads the keys of companies that are neither revoked nor expired, oldest first, with their secrets.
func (s *Keys) UsableKeys(ctx context.Context, companyID string, now time.Time) ([]*AccessKey, error) {
	return s.readKeys(ctx, keySelect+`company_id = $1 AND revoked_at = 0
		AND (expires_at = 0 OR expires_at > $2) ORDER BY id`, companyID, db.Millis(now))
}

func (s *Keys) readKeys(ctx context.Context, query string, args ...any) ([]*AccessKey, error) {
	return db.Collect(ctx, s.d, "access keys", func(scan db.Scan) (*AccessKey, error) {
		var sealed, by string
		k, err := scanKey(scan, &sealed, &by)
		if err != nil {
			return nil, err
		}
		k.Key, err = openKey(s.seal, k.CompanyID, by, k.ID, sealed)
		return k, err
	}, query, args...)
}

// keySelect begins the queries for keys with their secrets.
//
//nolint:gochecknoglobals // read-only
var keySelect = "SELECT " + keyColumns + ", sealed, " + configure.KeyOf("access_key.company_id") + " FROM access_key WHERE "

// SealedKeys are the secrets of companies' access keys.
func SealedKeys() configure.Sealed {
	return configure.Sealed{Table: "access_key", Key: []string{"id"}, Row: func(_ string, key []any) string {
		return keyRow(fmt.Sprint(key[0]))
	}}
}

// openKey returns the secret of a company's access key; by is the company's own key, as it is stored.
func openKey(sealer *configure.Sealer, companyID, by, id, sealed string) (string, error) {
	plain, err := sealer.OpenOf(companyID, by, keyRow(id), sealed)
	if err != nil {
		return "", fmt.Errorf("open access key %s: %w", id, err)
	}
	return string(plain), nil
}

func keyRow(id string) string { return "access_key/" + id }

// PutKey inserts a key by its secret, or gives the existing one the same label, scopes and expiry, inside Configure.
// It writes nothing if nothing changes, and fills ID and CreatedAt when they are empty. A revoked key stays revoked: a
// set-up file that lists it does not make it valid again. Errors: conflict when the secret belongs to another company.
func PutKey(ctx context.Context, tx *configure.Tx, k *AccessKey, now time.Time) error {
	tx.Changes(k.CompanyID)
	digest := configure.Digest(k.Key)
	if k.ID == "" {
		k.ID = carillon.NewID(now)
	}
	scopes := strings.Join(k.Scopes, " ")
	sealed, err := tx.Seal.SealOf(ctx, tx, k.CompanyID, keyRow(k.ID), []byte(k.Key))
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `INSERT INTO access_key (id, company_id, label, digest, sealed, scopes, expires_at, revoked_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (digest) DO NOTHING`,
		k.ID, k.CompanyID, k.Label, digest, sealed, scopes, db.Millis(k.ExpiresAt),
		db.Millis(k.RevokedAt), db.Millis(now))
	if err != nil {
		return fmt.Errorf("write access key: %w", err)
	}
	if n == 1 {
		k.CreatedAt = now
		return recordKey(ctx, tx, audit.Created, nil, k, now)
	}
	have, err := FindKey(ctx, tx, k.Key)
	if err != nil {
		return err
	}
	if have == nil {
		return errors.New("read access key: it is gone")
	}
	k.ID, k.CreatedAt = have.ID, have.CreatedAt
	if have.CompanyID != k.CompanyID {
		return carillon.InConflict("The access key belongs to another company")
	}
	_, err = tx.Exec(ctx, `UPDATE access_key SET label = $2, scopes = $3, expires_at = $4,
		revoked_at = CASE WHEN revoked_at = 0 THEN $5 ELSE revoked_at END WHERE id = $1
		AND (label <> $2 OR scopes <> $3 OR expires_at <> $4 OR revoked_at = 0 AND $5 <> 0)`,
		k.ID, k.Label, scopes, db.Millis(k.ExpiresAt), db.Millis(k.RevokedAt))
	if err != nil {
		return fmt.Errorf("write access key: %w", err)
	}
	after := *k
	if !have.RevokedAt.IsZero() {
		after.RevokedAt = have.RevokedAt
	}
	return recordKey(ctx, tx, audit.Changed, have, &after, now)
}

// recordKey records a change of a key; before is nil for a new one.
func recordKey(ctx context.Context, tx *configure.Tx, action audit.Action, before, after *AccessKey, now time.Time) error {
	doc := func(k *AccessKey) any {
		if k == nil {
			return nil
		}
		return map[string]any{
			"label": k.Label, "scopes": strings.Join(k.Scopes, " "), "expires_at": instantOrNull(k.ExpiresAt),
			"revoked_at": instantOrNull(k.RevokedAt),
		}
	}
	return audit.Record(ctx, tx.Tx, now, audit.Entry{
		CompanyID: after.CompanyID, Kind: audit.Key, ID: after.ID, Name: after.Label, Action: action, Before: doc(before),
		After: doc(after),
	})
}

// instantOrNull returns an instant as it is recorded; nil for the zero time.
func instantOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return carillon.FormatTime(t)
}

// CountKeys returns the number of a company's keys that are not revoked.
func CountKeys(ctx context.Context, tx *configure.Tx, companyID string) (n int, err error) {
	err = tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM access_key WHERE company_id = $1 AND revoked_at = 0", companyID)
	return n, err
}

// RevokeKey revokes a company's key, inside Configure. One that is revoked already is left unchanged. Errors: not_found.
func RevokeKey(ctx context.Context, tx *configure.Tx, companyID, id string, now time.Time) error {
	tx.Changes(companyID)
	before, err := db.Find(ctx, tx, "access key", func(scan db.Scan) (*AccessKey, error) { return scanKey(scan) },
		"SELECT "+keyColumns+" FROM access_key WHERE company_id = $1 AND id = $2", companyID, id)
	switch {
	case err != nil:
		return err
	case before == nil:
		return carillon.Absent("Key")
	case !before.RevokedAt.IsZero():
		return nil
	}
	if _, err := tx.Exec(ctx, "UPDATE access_key SET revoked_at = $3 WHERE company_id = $1 AND id = $2", companyID, id,
		db.Millis(now)); err != nil {
		return fmt.Errorf("revoke access key: %w", err)
	}
	after := *before
	after.RevokedAt = now
	return recordKey(ctx, tx, audit.Revoked, before, &after, now)
}

// KeyOfLabel returns the secret of a company's oldest key with a label; "" if there is none.
func KeyOfLabel(ctx context.Context, tx *configure.Tx, companyID, label string) (string, error) {
	var id, sealed, by string
	err := tx.Row(ctx, []any{&id, &sealed, &by}, "SELECT id, sealed, "+configure.KeyOf("access_key.company_id")+` FROM access_key
		WHERE company_id = $1 AND label = $2 ORDER BY id LIMIT 1`, companyID, label)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look up access key: %w", err)
	}
	return openKey(tx.Seal, companyID, by, id, sealed)
}

// FindKey reads a key by its secret; nil when there is none.
func FindKey(ctx context.Context, tx *configure.Tx, secret string) (*AccessKey, error) {
	k, err := scanKey(func(dest ...any) error {
		return tx.Row(ctx, dest, "SELECT "+keyColumns+" FROM access_key WHERE digest = $1", configure.Digest(secret))
	})
	return k, db.Wrap(db.Ignore(err), "look up access key")
}

// TouchKeys writes the times of last use, by key id, in one transaction. They are not configuration, so no cache is
// invalidated.
func (s *Keys) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(used)) {
			if _, err := tx.Exec(ctx, "UPDATE access_key SET last_used = $2 WHERE id = $1 AND last_used < $2", id,
				db.Millis(used[id])); err != nil {
				return err
			}
		}
		return nil
	})
	return db.Wrap(err, "write when keys were used")
}
