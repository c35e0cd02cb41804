package accounts

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Invitation asks somebody to become a member of a company. Only holders of its link know its secret.
type Invitation struct {
	ID        string
	CompanyID string
	Email     string // lower case
	Role      string // a role of package auth
	InvitedBy string // name of the inviter
	InviterID string // account of the inviter; empty if unknown
	CreatedAt time.Time
	SentAt    time.Time // by e-mail; zero if not sent
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
func (s *Links) Invitations(ctx context.Context, companyID string, limit int) ([]*Invitation, error) {
	return db.Collect(ctx, s.d, "invitations", scanInvitation,
		"SELECT "+invitationColumns+" FROM invitation WHERE company_id = $1 ORDER BY email LIMIT $2", companyID, limit)
}

// InvitationBy finds an invitation by the secret of its link; nil when there is none.
func (s *Links) InvitationBy(ctx context.Context, secret string) (*Invitation, error) {
	return db.Find(ctx, s.d, "invitation", scanInvitation, "SELECT "+invitationColumns+" FROM invitation WHERE digest = $1",
		configure.Digest(secret))
}

// PutInvitation stores an invitation under a new secret and fills ID. It replaces an earlier invitation of the address
// to the company, whose link becomes invalid.
func PutInvitation(ctx context.Context, tx *configure.Tx, x *Invitation, secret string) error {
	x.Email = config.FoldEmail(x.Email)
	x.ID = carillon.NewID(x.CreatedAt)
	fresh := x.ID
	err := tx.Row(ctx, []any{&x.ID},
		`INSERT INTO invitation (id, company_id, email, role, invited_by, inviter_id, digest, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (company_id, email) DO UPDATE SET role = excluded.role, invited_by = excluded.invited_by,
			inviter_id = excluded.inviter_id, digest = excluded.digest,
			created_at = excluded.created_at, sent_at = 0, expires_at = excluded.expires_at
		RETURNING id`, x.ID, x.CompanyID, x.Email, x.Role, x.InvitedBy, x.InviterID, configure.Digest(secret),
		db.Millis(x.CreatedAt), db.Millis(x.ExpiresAt))
	if err != nil {
		return fmt.Errorf("store invitation: %w", err)
	}
	action := audit.Created
	if x.ID != fresh {
		action = audit.Sent
	}
	return recordInvitation(ctx, tx, action, x, x.CreatedAt)
}

func recordInvitation(ctx context.Context, tx *configure.Tx, action audit.Action, x *Invitation, now time.Time) error {
	e := audit.Entry{CompanyID: x.CompanyID, Kind: audit.Invitation, ID: x.ID, Name: x.Email, Action: action, After: roleDoc(x.Role)}
	if action == audit.Withdrawn {
		e.Before, e.After = e.After, nil
	}
	return audit.Record(ctx, tx.Tx, now, e)
}

// CountInvitations returns the number of a company's open invitations.
func CountInvitations(ctx context.Context, tx *configure.Tx, companyID string) (n int, err error) {
	err = tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM invitation WHERE company_id = $1", companyID)
	return n, db.Wrap(err, "count invitations")
}

// Invitation finds an invitation of a company; nil when there is none.
func FindInvitation(ctx context.Context, tx *configure.Tx, companyID, id string) (*Invitation, error) {
	return db.Find(ctx, tx, "invitation", scanInvitation,
		"SELECT "+invitationColumns+" FROM invitation WHERE id = $1 AND company_id = $2", id, companyID)
}

// InvitationSent records that the link with a secret was sent by e-mail, so nobody else saw it.
func (s *Links) InvitationSent(ctx context.Context, secret string, now time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE invitation SET sent_at = $2 WHERE digest = $1", configure.Digest(secret), db.Millis(now))
	return db.Wrap(err, "record an invitation")
}

// SpendInvitation deletes the invitation of a secret, and reports whether it was there and valid: only one of several
// concurrent callers succeeds.
func SpendInvitation(ctx context.Context, tx *configure.Tx, secret string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "DELETE FROM invitation WHERE digest = $1 AND expires_at > $2", configure.Digest(secret), db.Millis(now))
	return n == 1, db.Wrap(err, "spend invitation")
}

// RemoveInvitation withdraws an invitation of a company. Errors: not_found.
func RemoveInvitation(ctx context.Context, tx *configure.Tx, companyID, id string) error {
	x, err := FindInvitation(ctx, tx, companyID, id)
	if err != nil {
		return err
	}
	if err := DropInvitation(ctx, tx, companyID, id); err != nil {
		return err
	}
	return recordInvitation(ctx, tx, audit.Withdrawn, x, time.Now())
}

// DropInvitation deletes an invitation that is accepted in the same transaction. Errors: not_found.
func DropInvitation(ctx context.Context, tx *configure.Tx, companyID, id string) error {
	n, err := tx.Exec(ctx, "DELETE FROM invitation WHERE id = $1 AND company_id = $2", id, companyID)
	if err == nil && n == 0 {
		return carillon.Absent("Invitation")
	}
	return db.Wrap(err, "remove invitation")
}

// PasswordLink is a link for setting an account's password. Only holders of the link know its secret.
type PasswordLink struct {
	AccountID string
	CompanyID string // company whose administrator created it; empty if requested by e-mail
	MadeBy    string // the account of that administrator
	CreatedAt time.Time
	SentAt    time.Time // by e-mail; zero if not sent, so its creator saw it
	ExpiresAt time.Time
}

func scanPasswordLink(scan db.Scan) (*PasswordLink, error) {
	x := &PasswordLink{}
	var created, sent, expires int64
	err := scan(&x.AccountID, &x.CompanyID, &x.MadeBy, &created, &sent, &expires)
	x.CreatedAt, x.SentAt, x.ExpiresAt = db.Instant(created), db.Instant(sent), db.Instant(expires)
	return x, err
}

// Proves reports whether only the reader of the account's mailbox can have the link: nobody else sees a link that was
// requested by e-mail.
func (x *PasswordLink) Proves() bool { return x.CompanyID == "" || !x.SentAt.IsZero() }

// PutPasswordLink stores the secret of a password link, in addition to earlier ones.
func PutPasswordLink(ctx context.Context, tx *configure.Tx, x PasswordLink, secret string) error {
	_, err := tx.Exec(ctx, "INSERT INTO password_reset (digest, account_id, made_for, made_by, created_at, expires_at) VALUES ($1, "+
		"$2, $3, $4, $5, $6)",
		configure.Digest(secret), x.AccountID, x.CompanyID, x.MadeBy, db.Millis(x.CreatedAt), db.Millis(x.ExpiresAt))
	if err != nil || x.MadeBy == "" { // a request by a visitor who is not signed in changes nothing until the link is used
		return db.Wrap(err, "store a link for a password")
	}
	return RecordUser(ctx, tx, x.CreatedAt, x.AccountID, audit.Entry{Action: audit.LinkMade})
}

// PasswordLinkSent records that the link with a secret was sent by e-mail, so nobody else saw it.
func (s *Links) PasswordLinkSent(ctx context.Context, secret string, now time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE password_reset SET sent_at = $2 WHERE digest = $1", configure.Digest(secret), db.Millis(now))
	return db.Wrap(err, "record a link for a password")
}

// CountPasswordLinks returns the number of valid links of an account that were requested by e-mail.
func CountPasswordLinks(ctx context.Context, tx *configure.Tx, accountID string, now time.Time) (n int, err error) {
	err = tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM password_reset WHERE account_id = $1 AND made_for = '' AND expires_at > $2",
		accountID, db.Millis(now))
	return n, db.Wrap(err, "count links for a password")
}

// PasswordLink finds the link of a secret; nil when there is none.
func (s *Links) PasswordLink(ctx context.Context, secret string) (*PasswordLink, error) {
	return db.Find(ctx, s.d, "link for a password", scanPasswordLink,
		"SELECT account_id, made_for, made_by, created_at, sent_at, expires_at FROM password_reset WHERE digest = $1",
		configure.Digest(secret))
}

// SpendPasswordLink deletes a link, and reports whether it was there and valid: only one of several concurrent callers
// succeeds.
func SpendPasswordLink(ctx context.Context, tx *configure.Tx, secret string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "DELETE FROM password_reset WHERE digest = $1 AND expires_at > $2", configure.Digest(secret), db.Millis(now))
	return n == 1, db.Wrap(err, "spend a link for a password")
}

// linksADrop bounds the deletions of one transaction.
const linksADrop = 500

// DropLinks deletes invitations and links that expired before an instant.
func (s *Links) DropLinks(ctx context.Context, before time.Time) error {
	for _, drop := range []string{
		"DELETE FROM invitation WHERE id IN (SELECT id FROM invitation WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
		"DELETE FROM password_reset WHERE digest IN (SELECT digest FROM password_reset WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
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
