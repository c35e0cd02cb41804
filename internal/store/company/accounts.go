package company

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// member of a company: an account with everything that signing in needs. Sessions stay.
type memberAccount struct {
	ID           string     `json:"id"`
	Email        string     `json:"email"`
	Name         string     `json:"name"`
	Phone        string     `json:"phone"`
	PasswordHash string     `json:"password_hash"`
	ConfirmedAt  int64      `json:"confirmed_at"`
	LastSignInAt int64      `json:"last_sign_in_at"`
	CreatedAt    int64      `json:"created_at"`
	UpdatedAt    int64      `json:"updated_at"`
	ProvedAt     int64      `json:"proved_at"`
	Identities   []identity `json:"identities,omitempty"`
	Factor       *factor    `json:"second_factor,omitempty"`
}

// identity is a person at an issuer of single sign-on.
type identity struct {
	Issuer    string `json:"issuer"`
	Subject   string `json:"subject"`
	CreatedAt int64  `json:"created_at"`
}

// factor is a second factor, sealed with the key of the file, with the digests of its recovery codes.
type factor struct {
	Sealed      string   `json:"sealed"`
	ConfirmedAt int64    `json:"confirmed_at"`
	LastStep    int64    `json:"last_step"`
	CreatedAt   int64    `json:"created_at"`
	Codes       []string `json:"codes,omitempty"`
}

// accounts reads the members of the company.
func (e *export) accounts(ctx context.Context) ([]*memberAccount, error) {
	all, err := db.Collect(ctx, e.store.DB, "members", func(scan db.Scan) (*memberAccount, error) {
		var a memberAccount
		return &a, scan(&a.ID, &a.Email, &a.Name, &a.Phone, &a.PasswordHash, &a.ConfirmedAt, &a.LastSignInAt, &a.CreatedAt, &a.UpdatedAt,
			&a.ProvedAt)
	}, `SELECT a.id, a.email, a.name, a.phone, a.password_hash, a.confirmed_at, a.last_sign_in_at, a.created_at, a.updated_at, a.proved_at
		FROM membership AS m JOIN account AS a ON a.id = m.account_id WHERE m.company_id = $1 ORDER BY a.id`, e.id)
	for _, a := range all {
		if err == nil {
			err = e.account(ctx, a)
		}
	}
	return all, err
}

// account reads the identities and the second factor of a member.
func (e *export) account(ctx context.Context, a *memberAccount) (err error) {
	d := e.store.DB
	a.Identities, err = db.Collect(ctx, d, "identities", func(scan db.Scan) (x identity, err error) {
		err = scan(&x.Issuer, &x.Subject, &x.CreatedAt)
		return x, err
	}, "SELECT issuer, subject, created_at FROM account_identity WHERE account_id = $1 ORDER BY issuer, subject", a.ID)
	if err != nil {
		return err
	}
	f, err := e.store.Factors.Factor(ctx, a.ID)
	if err != nil || f == nil {
		return err
	}
	a.Factor = &factor{Sealed: e.key.seal(factorRow(a.ID), f.Secret), ConfirmedAt: db.Millis(f.ConfirmedAt), LastStep: f.LastStep}
	if err := d.Row(ctx, []any{&a.Factor.CreatedAt}, "SELECT created_at FROM second_factor WHERE account_id = $1", a.ID); err != nil {
		return fmt.Errorf("read a second factor: %w", err)
	}
	a.Factor.Codes, err = db.Collect(ctx, d, "recovery codes", func(scan db.Scan) (digest string, err error) {
		err = scan(&digest)
		return digest, err
	}, "SELECT digest FROM recovery_code WHERE account_id = $1 ORDER BY digest", a.ID)
	return err
}

func factorRow(accountID string) string { return "second_factor/" + accountID }

// mapping maps the ids of accounts in a file to those of this installation, where they differ.
type mapping map[string]string

// errUnproved means that an account of this installation could be somebody else's.
var errUnproved = errors.New("this installation has an account with the e-mail address of a member, and nobody has proved that " +
	"it is the same person: have them sign in by single sign-on or reset their password by e-mail, or remove that account")

// errIdentity means that a member's single sign-on identity belongs to somebody else here.
var errIdentity = errors.New("another account of this installation has the single sign-on identity of a member")

// accountsHere returns the members without an account here, and the ids of the others. A member whose account came from here, or
// with the same e-mail address, uses the account of this installation.
func accountsHere(ctx context.Context, d *db.DB, all []*memberAccount) (missing []*memberAccount, m mapping, err error) {
	m = mapping{}
	for _, a := range all {
		var id, hash string
		var proved int64
		err := d.Row(ctx, []any{&id, &hash, &proved}, `SELECT id, password_hash, proved_at FROM account WHERE id = $1 OR email = $2
			ORDER BY CASE WHEN id = $1 THEN 0 ELSE 1 END LIMIT 1`, a.ID, a.Email)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			missing, err = append(missing, a), a.unknown(ctx, d)
		case err != nil:
			err = fmt.Errorf("look for the account of a member: %w", err)
		case id == a.ID: // it was imported or exported before
		case hash != a.PasswordHash && (proved == 0 || a.ProvedAt == 0):
			err = fmt.Errorf("%w: account %s", errUnproved, id)
		default:
			m[a.ID] = id
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return missing, m, nil
}

// unknown returns an error if an account here has an identity of the member.
func (a *memberAccount) unknown(ctx context.Context, d *db.DB) error {
	for _, x := range a.Identities {
		var id string
		err := d.Row(ctx, []any{&id}, "SELECT account_id FROM account_identity WHERE issuer = $1 AND subject = $2", x.Issuer, x.Subject)
		if err == nil {
			return fmt.Errorf("%w: account %s", errIdentity, id)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("look for the identity of a member: %w", err)
		}
	}
	return nil
}

// put stores an account that this installation does not have.
func (a *memberAccount) put(ctx context.Context, tx *configure.Tx, key fileKey) error {
	if _, err := tx.Exec(ctx, `INSERT INTO account (id, email, name, phone, password_hash, confirmed_at, last_sign_in_at, created_at,
		updated_at, proved_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, a.ID, a.Email, a.Name, a.Phone, a.PasswordHash,
		a.ConfirmedAt, a.LastSignInAt, a.CreatedAt, a.UpdatedAt, a.ProvedAt); err != nil {
		return fmt.Errorf("store account %s: %w", a.ID, err)
	}
	for _, x := range a.Identities {
		if _, err := tx.Exec(ctx, "INSERT INTO account_identity (issuer, subject, account_id, created_at) VALUES ($1, $2, $3, $4)",
			x.Issuer, x.Subject, a.ID, x.CreatedAt); err != nil {
			return fmt.Errorf("store an identity of account %s: %w", a.ID, err)
		}
	}
	if a.Factor == nil {
		return nil
	}
	secret, err := key.open(factorRow(a.ID), a.Factor.Sealed)
	if err != nil {
		return err
	}
	return a.Factor.put(ctx, tx, a.ID, secret)
}

func (f *factor) put(ctx context.Context, tx *configure.Tx, accountID string, secret []byte) error {
	_, err := tx.Exec(ctx, `INSERT INTO second_factor (account_id, sealed, confirmed_at, last_step, created_at)
		VALUES ($1, $2, $3, $4, $5)`, accountID, tx.Seal.Seal(accounts.FactorRow(accountID), secret), f.ConfirmedAt, f.LastStep,
		f.CreatedAt)
	for _, digest := range f.Codes {
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO recovery_code (account_id, digest) VALUES ($1, $2)", accountID, digest)
		}
	}
	return db.Wrap(err, "store a second factor")
}

// mapped returns tuples with the ids of accounts of this installation, or the data itself if there are none to replace.
func (m mapping) mapped(t *table, data []byte) ([]byte, error) {
	if len(m) == 0 || len(t.Accounts) == 0 {
		return data, nil
	}
	var ids []string
	for from, to := range m {
		ids = append(ids, from, to)
	}
	replacer := strings.NewReplacer(ids...)
	var columns []int
	for i, c := range t.cols {
		if slices.Contains(t.Accounts, c.name) && c.kind == tuple.Text {
			columns = append(columns, i)
		}
	}
	out := make([]byte, 0, len(data))
	err := tuple.Each(data, len(t.cols), func(_ []byte, fields [][]byte) error {
		for _, i := range columns {
			if fields[i] != nil {
				fields[i] = []byte(replacer.Replace(string(fields[i])))
			}
		}
		out = tuple.AppendRaw(out, fields)
		return nil
	})
	return out, err
}
