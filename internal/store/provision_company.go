package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"carillon"
	"carillon/internal/config"
	"carillon/internal/db"
)

// company gives the company's id, empty after a problem.
func (a *applying) company(ctx context.Context, c *config.Company) (string, error) {
	have, err := a.findCompany(ctx, c)
	if err != nil {
		return "", err
	}
	if have == nil {
		fresh := c.Over(carillon.NewCompany(c.Name))
		fresh.ID = cmp.Or(c.ID, carillon.NewID(a.now))
		a.count("company", created)
		return fresh.ID, placed(c.At, a.tx.PutCompany(ctx, &fresh, a.now))
	}
	if c.ID != "" && have.ID != c.ID {
		a.problem(c.At, "another company has the name "+c.Name)
		return "", nil
	}
	want := c.Over(*have)
	same, err := sameJSON(have, &want)
	if err != nil || same {
		a.count("company", unchanged)
		return have.ID, err
	}
	a.count("company", updated)
	return have.ID, placed(c.At, a.tx.PutCompany(ctx, &want, a.now))
}

// findCompany looks by id, then by name; nil when there is none.
func (a *applying) findCompany(ctx context.Context, c *config.Company) (*carillon.Company, error) {
	for _, by := range []struct{ column, value string }{{"id", c.ID}, {"name", c.Name}} {
		if by.value == "" {
			continue
		}
		x, err := scanCompany(func(dest ...any) error {
			return a.tx.Row(ctx, dest, "SELECT "+companyColumns+" FROM company WHERE "+by.column+" = $1", by.value)
		})
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look up company: %w", err)
		}
		return x, nil
	}
	return nil, nil
}

// sameJSON compares by what would be stored.
func sameJSON(x, y any) (bool, error) {
	a, err := json.Marshal(x)
	if err != nil {
		return false, err
	}
	b, err := json.Marshal(y)
	return string(a) == string(b), err
}

func (a *applying) users(ctx context.Context, companyID string, c *config.Company) error {
	for i := range c.Users {
		u := &c.Users[i]
		e, err := a.user(ctx, companyID, u)
		if err != nil {
			return placed(u.At, err)
		}
		a.count("user", e)
	}
	return nil
}

func (a *applying) user(ctx context.Context, companyID string, u *config.User) (effect, error) {
	var have Account
	var role string
	err := a.tx.Row(ctx, []any{&have.ID, &have.Name, &have.PasswordHash, &role}, `SELECT a.id, a.name, a.password_hash, COALESCE(m.role, '')
		FROM account a LEFT JOIN membership m ON m.account_id = a.id AND m.company_id = $2 WHERE a.email = $1`, u.Email, companyID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("look up user: %w", err)
	}
	want := Account{ID: have.ID, Email: u.Email, Name: cmp.Or(u.Name, have.Name), PasswordHash: cmp.Or(a.hashes[u.Email], have.PasswordHash)}
	wantRole := cmp.Or(u.Role, role, config.Roles()[0])
	e := updated
	switch {
	case have.ID == "":
		e = created
	case want.Name == have.Name && want.PasswordHash == have.PasswordHash && wantRole == role:
		return unchanged, nil
	}
	if err := a.tx.PutAccount(ctx, &want, a.now); err != nil {
		return 0, err
	}
	return e, a.tx.PutMembership(ctx, Membership{AccountID: want.ID, CompanyID: companyID, Role: wantRole})
}

func (a *applying) keys(ctx context.Context, companyID string, c *config.Company) error {
	for i := range c.Keys {
		k := &c.Keys[i]
		e, err := a.key(ctx, companyID, k)
		if err != nil {
			return placed(k.At, err)
		}
		a.count("key", e)
	}
	return nil
}

func (a *applying) key(ctx context.Context, companyID string, k *config.Key) (effect, error) {
	secret, err := a.secretOf(ctx, companyID, k)
	if err != nil {
		return 0, err
	}
	have, err := a.findKey(ctx, secret)
	if err != nil {
		return 0, err
	}
	want := AccessKey{CompanyID: companyID, Key: secret, Label: k.Label, Scopes: k.Scopes, ExpiresAt: k.ExpiresAt}
	if k.Revoked {
		want.RevokedAt = a.now
	}
	e := created
	if have != nil {
		e = updated
		sameRevocation := !k.Revoked || !have.RevokedAt.IsZero()
		if have.CompanyID == companyID && have.Label == want.Label && slices.Equal(have.Scopes, want.Scopes) &&
			have.ExpiresAt.Equal(want.ExpiresAt) && sameRevocation {
			return unchanged, nil
		}
	}
	return e, a.tx.PutKey(ctx, &want, a.now)
}

// secretOf is the key that the set-up gives; else the one made earlier under its label; else a new one.
func (a *applying) secretOf(ctx context.Context, companyID string, k *config.Key) (string, error) {
	if k.Key != "" {
		return k.Key, nil
	}
	var id, sealed string
	err := a.tx.Row(ctx, []any{&id, &sealed}, "SELECT id, sealed FROM access_key WHERE company_id = $1 AND label = $2 ORDER BY id LIMIT 1",
		companyID, k.Label)
	if errors.Is(err, sql.ErrNoRows) {
		return "ck_" + base64.RawURLEncoding.EncodeToString(randomBytes(32)), nil
	}
	if err != nil {
		return "", fmt.Errorf("look up access key: %w", err)
	}
	plain, err := a.tx.s.seal.open(keyRow(id), sealed)
	if err != nil {
		return "", fmt.Errorf("open access key %s: %w", id, err)
	}
	return string(plain), nil
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails: it ends the program instead
	return b
}

// findKey reads a key by its secret inside the transaction; nil when there is none.
func (a *applying) findKey(ctx context.Context, secret string) (*AccessKey, error) {
	k := &AccessKey{}
	var scopes string
	var expires, revoked int64
	err := a.tx.Row(ctx, []any{&k.CompanyID, &k.Label, &scopes, &expires, &revoked},
		"SELECT company_id, label, scopes, expires_at, revoked_at FROM access_key WHERE digest = $1", Digest(secret))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up access key: %w", err)
	}
	k.Scopes, k.ExpiresAt, k.RevokedAt = strings.Fields(scopes), db.Instant(expires), db.Instant(revoked)
	return k, nil
}

// suppressions adds numbers; those that are there keep their reason.
func (a *applying) suppressions(ctx context.Context, companyID string, c *config.Company) error {
	for _, number := range c.Suppressions {
		n, err := a.tx.Exec(ctx, `INSERT INTO suppression (company_id, number, reason, created_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (company_id, number) DO NOTHING`, companyID, number, "set up", db.Millis(a.now))
		if err != nil {
			return fmt.Errorf("suppress a number: %w", err)
		}
		e := unchanged
		if n == 1 {
			e = created
		}
		a.count("suppression", e)
	}
	return nil
}
