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

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/identity"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
	"carillon/internal/store/settings"
)

// company returns the company's id; empty after a problem, and for a company that is being moved, which stays as it is.
func (a *applying) company(ctx context.Context, c *config.Company) (string, error) {
	have, err := accounts.FindCompany(ctx, a.tx, c.ID, c.Name)
	if err != nil {
		return "", err
	}
	if have == nil {
		fresh := c.Over(carillon.NewCompany(c.Name))
		fresh.ID = cmp.Or(c.ID, carillon.NewID(a.now))
		return fresh.ID, a.count("company", c.At, created, accounts.PutCompany(ctx, a.tx, &fresh, a.now))
	}
	if c.ID != "" && have.ID != c.ID {
		a.problem(c.At, "another company has the name "+c.Name)
		return "", nil
	}
	moving, err := accounts.Moving(ctx, a.tx, have.ID)
	if err != nil || moving {
		return "", a.count("company", c.At, unchanged, err)
	}
	want := c.Over(*have)
	same, err := sameJSON(have, &want)
	if err != nil || same {
		return have.ID, a.count("company", c.At, unchanged, err)
	}
	return have.ID, a.count("company", c.At, updated, accounts.PutCompany(ctx, a.tx, &want, a.now))
}

// sameJSON compares the stored forms.
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
		if err := a.count("user", u.At, e, err); err != nil {
			return err
		}
	}
	return nil
}

func (a *applying) user(ctx context.Context, companyID string, u *config.User) (effect, error) {
	var have accounts.Account
	var role string
	err := a.tx.Row(ctx, []any{&have.ID, &have.Name, &have.PasswordHash, &role}, `SELECT a.id, a.name, a.password_hash, COALESCE(m.role, '')
		FROM account a LEFT JOIN membership m ON m.account_id = a.id AND m.company_id = $2 WHERE a.email = $1`, u.Email, companyID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("look up user: %w", err)
	}
	if have.ID != "" && role == "" {
		foreign, err := a.foreign(ctx, have.ID)
		if err != nil {
			return 0, err
		}
		if foreign {
			a.problem(u.At, foreignUser)
			return unchanged, nil
		}
	}
	want := accounts.Account{
		ID: have.ID, Email: u.Email, Name: cmp.Or(u.Name, have.Name), PasswordHash: cmp.Or(a.hashes[u.Email], have.PasswordHash),
	}
	wantRole := cmp.Or(u.Role, role, config.Roles()[0])
	e := updated
	switch {
	case have.ID == "":
		e = created
	case want.Name == have.Name && want.PasswordHash == have.PasswordHash && wantRole == role:
		return unchanged, nil
	}
	if err := accounts.PutAccount(ctx, a.tx, &want, a.now); err != nil {
		return 0, err
	}
	return e, accounts.PutMembership(ctx, a.tx, accounts.Membership{AccountID: want.ID, CompanyID: companyID, Role: wantRole})
}

const foreignUser = "the account of this e-mail belongs to another company: whoever administers both companies may add it " +
	"(carillon users add --in COMPANY-ID), or declare both companies in one set-up"

// foreign reports whether an account belongs only to companies outside the set-up. Whoever created the account there
// may know its password and hold its tokens, and would get access to this company.
func (a *applying) foreign(ctx context.Context, accountID string) (bool, error) {
	all, err := db.Collect(ctx, a.tx, "the companies of a user", func(scan db.Scan) (c carillon.Company, err error) {
		err = scan(&c.ID, &c.Name)
		return c, err
	}, "SELECT c.id, c.name FROM membership m JOIN company c ON c.id = m.company_id WHERE m.account_id = $1", accountID)
	if err != nil {
		return false, err
	}
	declared := slices.ContainsFunc(all, func(c carillon.Company) bool {
		return slices.ContainsFunc(a.setUp.Companies, func(d config.Company) bool { return d.ID == c.ID || d.ID == "" && d.Name == c.Name })
	})
	return len(all) > 0 && !declared, nil
}

func (a *applying) keys(ctx context.Context, companyID string, c *config.Company) error {
	for i := range c.Keys {
		k := &c.Keys[i]
		e, err := a.key(ctx, companyID, k)
		if err := a.count("key", k.At, e, err); err != nil {
			return err
		}
	}
	return nil
}

func (a *applying) key(ctx context.Context, companyID string, k *config.Key) (effect, error) {
	secret, err := a.secretOf(ctx, companyID, k)
	if err != nil {
		return 0, err
	}
	have, err := accounts.FindKey(ctx, a.tx, secret)
	if err != nil {
		return 0, err
	}
	want := accounts.AccessKey{CompanyID: companyID, Key: secret, Label: k.Label, Scopes: k.Scopes, ExpiresAt: k.ExpiresAt}
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
	return e, accounts.PutKey(ctx, a.tx, &want, a.now)
}

// secretOf returns the key given in the set-up; otherwise the existing key of its label; otherwise a new one.
func (a *applying) secretOf(ctx context.Context, companyID string, k *config.Key) (string, error) {
	if k.Key != "" {
		return k.Key, nil
	}
	secret, err := accounts.KeyOfLabel(ctx, a.tx, companyID, k.Label)
	if err == nil && secret == "" {
		secret = "ck_" + base64.RawURLEncoding.EncodeToString(randomBytes(32))
	}
	return secret, err
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails: it ends the program
	return b
}

// suppressions suppresses numbers for all types; existing suppressions of all types keep their reason.
func (a *applying) suppressions(ctx context.Context, companyID string, c *config.Company) error {
	var added []string
	for _, number := range c.Suppressions {
		e, err := a.suppress(ctx, companyID, number)
		if err := a.count("suppression", c.At, e, err); err != nil {
			return fmt.Errorf("suppress a number: %w", err)
		}
		if e != unchanged {
			added = append(added, number)
		}
	}
	if len(added) == 0 {
		return nil
	}
	return settings.RecordSuppression(ctx, a.tx.Tx, companyID, audit.Added,
		settings.Suppression{Type: settings.SuppressAll, Reason: "set up"}, added)
}

func (a *applying) suppress(ctx context.Context, companyID, number string) (effect, error) {
	have, err := settings.FindSuppression(ctx, a.tx.Tx, companyID, identity.Number(number))
	if err != nil || have != nil && have.Type == settings.SuppressAll {
		return unchanged, err
	}
	x := settings.Suppression{Type: settings.SuppressAll, Reason: "set up", CreatedAt: a.now}
	if _, err := settings.PlaceSuppression(ctx, a.tx.Tx, companyID, x, number); err != nil || have == nil {
		return created, err
	}
	return updated, nil
}
