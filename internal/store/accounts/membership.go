package accounts

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Membership is an account's role in a company.
type Membership struct {
	AccountID string
	CompanyID string
	Role      string // a role of package auth
}

// Memberships returns the memberships of an account, ordered by company name.
func Memberships(ctx context.Context, q db.Querier, accountID string) ([]Membership, error) {
	return db.Collect(ctx, q, "memberships", func(scan db.Scan) (m Membership, err error) {
		err = scan(&m.AccountID, &m.CompanyID, &m.Role)
		return m, err
	}, `SELECT m.account_id, m.company_id, m.role FROM membership m JOIN company c ON c.id = m.company_id
		WHERE m.account_id = $1 ORDER BY c.name`, accountID)
}

// Member is an account as one of its companies sees it.
type Member struct {
	ID           string
	Email        string
	Name         string
	Role         string
	LastSignInAt time.Time // zero if never
	CreatedAt    time.Time
}

// Members reads the members of a company after an id, in the order of their ids.
func (s *Store) Members(ctx context.Context, companyID, after string, limit int) ([]Member, error) {
	return db.Collect(ctx, s.d, "members", func(scan db.Scan) (m Member, err error) {
		var signedIn, created int64
		err = scan(&m.ID, &m.Email, &m.Name, &m.Role, &signedIn, &created)
		m.LastSignInAt, m.CreatedAt = db.Instant(signedIn), db.Instant(created)
		return m, err
	}, `SELECT a.id, a.email, a.name, m.role, a.last_sign_in_at, a.created_at
		FROM membership m JOIN account a ON a.id = m.account_id
		WHERE m.company_id = $1 AND m.account_id > $2 ORDER BY m.account_id LIMIT $3`, companyID, after, limit)
}

// PutMembership sets an account's role in a company.
func PutMembership(ctx context.Context, tx *configure.Tx, m Membership) error {
	before, _, err := membership(ctx, tx, m)
	if err != nil || before == m.Role {
		return err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO membership (account_id, company_id, role) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, company_id) DO UPDATE SET role = excluded.role`, m.AccountID, m.CompanyID, m.Role); err != nil {
		return fmt.Errorf("write membership: %w", err)
	}
	if before == "" {
		return recordMember(ctx, tx, audit.Joined, m, nil, roleDoc(m.Role))
	}
	return recordMember(ctx, tx, audit.RoleChanged, m, roleDoc(before), roleDoc(m.Role))
}

// membership returns the role and e-mail address of an account in a company; the role is "" if it is not a member.
func membership(ctx context.Context, tx *configure.Tx, m Membership) (role, email string, err error) {
	err = tx.Row(ctx, []any{&role, &email}, `SELECT COALESCE(m.role, ''), a.email FROM account a
		LEFT JOIN membership m ON m.account_id = a.id AND m.company_id = $2 WHERE a.id = $1`, m.AccountID, m.CompanyID)
	return role, email, db.Wrap(db.Ignore(err), "read membership")
}

func roleDoc(role string) any { return map[string]string{"role": role} }

func recordMember(ctx context.Context, tx *configure.Tx, action audit.Action, m Membership, before, after any) error {
	_, email, err := membership(ctx, tx, m)
	if err != nil {
		return err
	}
	return audit.Record(ctx, tx.Tx, time.Now(), audit.Entry{
		CompanyID: m.CompanyID, Kind: audit.User, ID: m.AccountID, Name: email, Action: action, Before: before, After: after,
	})
}

// AddMembership makes an account a member. Errors: conflict when it is one already.
func AddMembership(ctx context.Context, tx *configure.Tx, m Membership) error {
	n, err := tx.Exec(ctx, `INSERT INTO membership (account_id, company_id, role) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, company_id) DO NOTHING`, m.AccountID, m.CompanyID, m.Role)
	if err != nil {
		return fmt.Errorf("write membership: %w", err)
	}
	if n == 0 {
		return carillon.InConflict("The user is a member of the company")
	}
	return recordMember(ctx, tx, audit.Joined, m, nil, roleDoc(m.Role))
}

// CountMembers returns the number of a company's members with a role.
func CountMembers(ctx context.Context, tx *configure.Tx, companyID, role string) (n int, err error) {
	err = tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM membership WHERE company_id = $1 AND role = $2", companyID, role)
	return n, db.Wrap(err, "count members")
}

// RemoveMembership ends a membership inside Configure, and deletes the account and its sessions if it was the last
// one.
func RemoveMembership(ctx context.Context, tx *configure.Tx, m Membership) error {
	tx.Changes(m.CompanyID)
	if role, _, err := membership(ctx, tx, m); err != nil {
		return err
	} else if err := recordMember(ctx, tx, audit.Removed, m, roleDoc(role), nil); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM membership WHERE account_id = $1 AND company_id = $2", m.AccountID, m.CompanyID); err != nil {
		return fmt.Errorf("remove membership: %w", err)
	}
	_, err := tx.Exec(ctx, "DELETE FROM account WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM membership WHERE account_id = $1)", m.AccountID)
	return db.Wrap(err, "delete account")
}
