package accounts

import (
	"context"
	"time"

	"carillon/internal/base/config"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// AccountBySubject finds an account by its subject at a single sign-on server; nil when there is none.
func (s *Store) AccountBySubject(ctx context.Context, issuer, subject string) (*Account, error) {
	return s.accountWhere(ctx, "id = (SELECT account_id FROM account_identity WHERE issuer = $1 AND subject = $2)", issuer, subject)
}

// PutIdentity links an account to a subject at a server, and returns false if the account is linked to another subject
// there.
func PutIdentity(ctx context.Context, tx *configure.Tx, accountID, issuer, subject string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, `INSERT INTO account_identity (issuer, subject, account_id, created_at)
		SELECT $1, $2, id, $4 FROM account WHERE id = $3
			AND NOT EXISTS (SELECT 1 FROM account_identity WHERE account_id = $3 AND issuer = $1)
		ON CONFLICT (issuer, subject) DO NOTHING`, issuer, subject, accountID, db.Millis(now))
	if err != nil || n == 0 {
		return false, db.Wrap(err, "store an identity")
	}
	return true, RecordUser(ctx, tx, now, accountID, audit.Entry{Action: audit.LinkAccepted, After: map[string]string{"issuer": issuer}})
}

// InvitationsOf reads the open invitations of an e-mail address to any company.
func (s *Links) InvitationsOf(ctx context.Context, email string, now time.Time, limit int) ([]*Invitation, error) {
	return db.Collect(ctx, s.d, "invitations", scanInvitation,
		"SELECT "+invitationColumns+" FROM invitation WHERE email = $1 AND expires_at > $2 LIMIT $3",
		config.FoldEmail(email), db.Millis(now), limit)
}
