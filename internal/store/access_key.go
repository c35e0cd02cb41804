package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/db"
)

// AccessKey is a company's key (docs/reference/signing-in.md). Key, the secret itself, is filled only where a method says so.
type AccessKey struct {
	ID        string
	CompanyID string
	Label     string
	Key       string
	Scopes    []string
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	CreatedAt time.Time
	LastUsed  time.Time // zero: never
}

const keyColumns = "id, company_id, label, scopes, expires_at, revoked_at, created_at, last_used"

func scanKey(scan func(...any) error, more ...any) (*AccessKey, error) {
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
func (s *Store) AccessKey(ctx context.Context, key string) (*AccessKey, error) {
	digest := sha256.Sum256([]byte(key))
	name := string(digest[:])
	if k, ok := s.caches.keys.Peek(name); ok {
		return k, nil
	}
	if _, unknown := s.caches.unknown.Peek(name); unknown {
		return nil, nil
	}
	clock := s.caches.unknown.Clock()
	k, err := s.cachedKey(ctx, name, "digest = $1", hex.EncodeToString(digest[:]))
	if k == nil && err == nil {
		s.caches.unknown.Put(name, struct{}{}, "", clock)
	}
	return k, err
}

// cachedKey reads a key through the cache; nil when there is none, which is not kept.
func (s *Store) cachedKey(ctx context.Context, name, where string, arg any) (*AccessKey, error) {
	k, err := s.caches.keys.Get(ctx, name, func(ctx context.Context) (*AccessKey, string, error) {
		k, err := s.keyWhere(ctx, where, arg)
		if err != nil {
			return nil, "", err
		}
		return k, k.CompanyID, nil
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return k, err
}

// AccessKeyByID finds a key by its id, from the cache; nil when there is none. Its LastUsed may be old.
func (s *Store) AccessKeyByID(ctx context.Context, id string) (*AccessKey, error) {
	return s.cachedKey(ctx, id, "id = $1", id)
}

func (s *Store) keyWhere(ctx context.Context, where string, arg any) (*AccessKey, error) {
	rows, err := s.Query(ctx, "SELECT "+keyColumns+" FROM access_key WHERE "+where, arg)
	if err != nil {
		return nil, fmt.Errorf("look up access key: %w", err)
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return nil, errors.Join(rows.Err(), sql.ErrNoRows)
	}
	k, err := scanKey(rows.Scan)
	if err != nil {
		return nil, fmt.Errorf("look up access key: %w", err)
	}
	return k, nil
}

// AccessKeys reads keys of a company after an id, oldest first, revoked ones included, with their secrets.
func (s *Store) AccessKeys(ctx context.Context, companyID, after string, limit int) ([]*AccessKey, error) {
	return s.keys(ctx, "SELECT "+keyColumns+", sealed FROM access_key WHERE company_id = $1 AND id > $2 ORDER BY id LIMIT $3",
		companyID, after, limit)
}

// UsableKeys reads the keys of companies that are neither revoked nor expired, oldest first, with their secrets.
func (s *Store) UsableKeys(ctx context.Context, companyID string, now time.Time) ([]*AccessKey, error) {
	return s.keys(ctx, "SELECT "+keyColumns+`, sealed FROM access_key WHERE company_id = $1 AND revoked_at = 0
		AND (expires_at = 0 OR expires_at > $2) ORDER BY id`, companyID, db.Millis(now))
}

func (s *Store) keys(ctx context.Context, query string, args ...any) ([]*AccessKey, error) {
	rows, err := s.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read access keys: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []*AccessKey
	for rows.Next() {
		var sealed string
		k, err := scanKey(rows.Scan, &sealed)
		if err != nil {
			return nil, fmt.Errorf("read access keys: %w", err)
		}
		plain, err := s.seal.open(keyRow(k.ID), sealed)
		if err != nil {
			return nil, fmt.Errorf("open access key %s: %w", k.ID, err)
		}
		k.Key = string(plain)
		all = append(all, k)
	}
	return all, rows.Err()
}

func keyRow(id string) string { return "access_key/" + id }

// PutKey inserts a key by its secret, or brings the one that is there to the same label, scopes and expiry, inside
// Configure. What is as it should be is not written. ID and CreatedAt are filled when empty. A revocation stands: a key
// revoked since is not made good by a set-up that does not know of it. Errors: conflict when the secret is another
// company's.
func (tx *Tx) PutKey(ctx context.Context, k *AccessKey, now time.Time) error {
	tx.changes(k.CompanyID)
	digest := Digest(k.Key)
	if k.ID == "" {
		k.ID = carillon.NewID(now)
	}
	scopes := strings.Join(k.Scopes, " ")
	n, err := tx.Exec(ctx, `INSERT INTO access_key (id, company_id, label, digest, sealed, scopes, expires_at, revoked_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (digest) DO NOTHING`,
		k.ID, k.CompanyID, k.Label, digest, tx.s.seal.seal(keyRow(k.ID), []byte(k.Key)), scopes, db.Millis(k.ExpiresAt),
		db.Millis(k.RevokedAt), db.Millis(now))
	if err != nil {
		return fmt.Errorf("write access key: %w", err)
	}
	if n == 1 {
		k.CreatedAt = now
		return nil
	}
	var created int64
	var company string
	if err := tx.Row(ctx, []any{&k.ID, &company, &created}, "SELECT id, company_id, created_at FROM access_key WHERE digest = $1", digest); err != nil {
		return fmt.Errorf("read access key: %w", err)
	}
	k.CreatedAt = db.Instant(created)
	if company != k.CompanyID {
		return carillon.InConflict("The access key belongs to another company")
	}
	if _, err := tx.Exec(ctx, `UPDATE access_key SET label = $2, scopes = $3, expires_at = $4,
		revoked_at = CASE WHEN revoked_at = 0 THEN $5 ELSE revoked_at END WHERE id = $1
		AND (label <> $2 OR scopes <> $3 OR expires_at <> $4 OR revoked_at = 0 AND $5 <> 0)`,
		k.ID, k.Label, scopes, db.Millis(k.ExpiresAt), db.Millis(k.RevokedAt)); err != nil {
		return fmt.Errorf("write access key: %w", err)
	}
	return nil
}

// CountKeys is the number of a company's keys that are not revoked.
func (tx *Tx) CountKeys(ctx context.Context, companyID string) (n int, err error) {
	err = tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM access_key WHERE company_id = $1 AND revoked_at = 0", companyID)
	return n, err
}

// RevokeKey revokes a company's key, inside Configure. One that is revoked stays as it is. Errors: not_found.
func (tx *Tx) RevokeKey(ctx context.Context, companyID, id string, now time.Time) error {
	tx.changes(companyID)
	n, err := tx.Exec(ctx, `UPDATE access_key SET revoked_at = CASE WHEN revoked_at = 0 THEN $3 ELSE revoked_at END
		WHERE company_id = $1 AND id = $2`, companyID, id, db.Millis(now))
	if err != nil {
		return fmt.Errorf("revoke access key: %w", err)
	}
	if n == 0 {
		return carillon.Absent("Key")
	}
	return nil
}

// TouchKeys writes when keys were last used, by id, in one transaction. It is no configuration: caches stay.
func (s *Store) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	ids := make([]string, 0, len(used))
	for id := range used {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		for _, id := range ids {
			if _, err := tx.Exec(ctx, "UPDATE access_key SET last_used = $2 WHERE id = $1 AND last_used < $2", id, db.Millis(used[id])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write when keys were used: %w", err)
	}
	return nil
}
