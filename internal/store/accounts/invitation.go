package accounts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/db"
	"carillon/internal/store/seal"
)

// Invitation asks somebody to become a member of a company. Its secret is known to who has its link.
type Invitation struct {
	ID        string
	CompanyID string
	Email     string // lower case
	Role      string // a role of package auth
	InvitedBy string // the name of who invited
	InviterID string // and the account; empty where it was not kept
	CreatedAt time.Time
	SentAt    time.Time // by e-mail; zero: never
	ExpiresAt time.Time
}

const invitationColumns = "id, company_id, email, role, invited_by, inviter_id, created_at, sent_at, expires_at"

func scanInvitation(scan db.Scan) (*Invitation, error) {
	x := &Invitation{}
	var created, sent, expires int64
	err := scan(&x.ID, &x.CompanyID, &x.Email, &x.Role, &x.InvitedBy, &x.InviterID, &created, &sent, &expires)
	x.CreatedAt, x.SentAt, x.ExpiresAt = db.Instant(created), db.Instant(sent), db.Instant(expires)
	return x, err
}

// Invitations reads the open invitations of a company, by e-mail.
func (s *Store) Invitations(ctx context.Context, companyID string, limit int) ([]*Invitation, error) {
	return db.Collect(ctx, s.d, "invitations", scanInvitation,
		"SELECT "+invitationColumns+" FROM invitation WHERE company_id = $1 ORDER BY email LIMIT $2", companyID, limit)
}

// InvitationBy finds an invitation by the secret of its link; nil when there is none.
func (s *Store) InvitationBy(ctx context.Context, secret string) (*Invitation, error) {
	return db.Find(ctx, s.d, "invitation", scanInvitation, "SELECT "+invitationColumns+" FROM invitation WHERE digest = $1", seal.Digest(secret))
}

// PutInvitation stores an invitation under a new secret, in place of an earlier one of the e-mail to the company, whose link is no
// longer valid. It fills ID.
func (t *Tx) PutInvitation(ctx context.Context, x *Invitation, secret string) error {
	x.Email = strings.ToLower(x.Email)
	x.ID = carillon.NewID(x.CreatedAt)
	err := t.tx.Row(ctx, []any{&x.ID}, `INSERT INTO invitation (id, company_id, email, role, invited_by, inviter_id, digest, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (company_id, email) DO UPDATE SET role = excluded.role, invited_by = excluded.invited_by, inviter_id = excluded.inviter_id, digest = excluded.digest,
			created_at = excluded.created_at, sent_at = 0, expires_at = excluded.expires_at
		RETURNING id`, x.ID, x.CompanyID, x.Email, x.Role, x.InvitedBy, x.InviterID, seal.Digest(secret), db.Millis(x.CreatedAt), db.Millis(x.ExpiresAt))
	return db.Wrap(err, "store invitation")
}

// CountInvitations is the number of a company's open invitations.
func (t *Tx) CountInvitations(ctx context.Context, companyID string) (n int, err error) {
	err = t.tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM invitation WHERE company_id = $1", companyID)
	return n, db.Wrap(err, "count invitations")
}

// Invitation finds an invitation of a company; nil when there is none.
func (t *Tx) Invitation(ctx context.Context, companyID, id string) (*Invitation, error) {
	return db.Find(ctx, t.tx, "invitation", scanInvitation, "SELECT "+invitationColumns+" FROM invitation WHERE id = $1 AND company_id = $2", id, companyID)
}

// InvitationSent records that an invitation left by e-mail.
func (s *Store) InvitationSent(ctx context.Context, id string, now time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE invitation SET sent_at = $2 WHERE id = $1", id, db.Millis(now))
	return db.Wrap(err, "record an invitation")
}

// SpendInvitation deletes the invitation of a secret, and reports whether it was there and valid: of several callers, for one.
func (t *Tx) SpendInvitation(ctx context.Context, secret string, now time.Time) (bool, error) {
	n, err := t.tx.Exec(ctx, "DELETE FROM invitation WHERE digest = $1 AND expires_at > $2", seal.Digest(secret), db.Millis(now))
	return n == 1, db.Wrap(err, "spend invitation")
}

// RemoveInvitation deletes an invitation of a company. Errors: not_found.
func (t *Tx) RemoveInvitation(ctx context.Context, companyID, id string) error {
	n, err := t.tx.Exec(ctx, "DELETE FROM invitation WHERE id = $1 AND company_id = $2", id, companyID)
	if err == nil && n == 0 {
		return carillon.Absent("Invitation")
	}
	return db.Wrap(err, "remove invitation")
}

// PutPasswordLink stores the secret of a link that sets an account's password, in place of an earlier one.
func (t *Tx) PutPasswordLink(ctx context.Context, accountID, secret string, now, expires time.Time) error {
	_, err := t.tx.Exec(ctx, `INSERT INTO password_link (account_id, digest, created_at, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id) DO UPDATE SET digest = excluded.digest, created_at = excluded.created_at, expires_at = excluded.expires_at`,
		accountID, seal.Digest(secret), db.Millis(now), db.Millis(expires))
	return db.Wrap(err, "store a link for a password")
}

// PasswordLink finds whose password a link sets, and until when; empty where there is no such link.
func (s *Store) PasswordLink(ctx context.Context, secret string) (accountID string, expires time.Time, err error) {
	var until int64
	err = s.d.Row(ctx, []any{&accountID, &until}, "SELECT account_id, expires_at FROM password_link WHERE digest = $1", seal.Digest(secret))
	return accountID, db.Instant(until), db.Wrap(db.Ignore(err), "find a link for a password")
}

// SpendPasswordLink deletes a link, and reports whether it was there and valid: of several callers, for one.
func (t *Tx) SpendPasswordLink(ctx context.Context, secret string, now time.Time) (bool, error) {
	n, err := t.tx.Exec(ctx, "DELETE FROM password_link WHERE digest = $1 AND expires_at > $2", seal.Digest(secret), db.Millis(now))
	return n == 1, db.Wrap(err, "spend a link for a password")
}

// linksADrop bounds what one transaction deletes.
const linksADrop = 500

// DropLinks deletes invitations and links that expired before a time.
func (s *Store) DropLinks(ctx context.Context, before time.Time) error {
	for _, drop := range []string{
		"DELETE FROM invitation WHERE id IN (SELECT id FROM invitation WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
		"DELETE FROM password_link WHERE account_id IN (SELECT account_id FROM password_link WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
	} {
		for n := int64(linksADrop); n == linksADrop; {
			var err error
			if n, err = s.d.Exec(ctx, drop, db.Millis(before), linksADrop); err != nil {
				return fmt.Errorf("delete old links: %w", err)
			}
		}
	}
	return nil
}
