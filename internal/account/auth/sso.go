package auth

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
)

// Vouched is a person that a single sign-on server vouches for.
type Vouched struct {
	Issuer, Subject string
	Email           string // verified by the server; empty if unknown
	Name            string
}

// invitationsTaken bounds the invitations that a first single sign-on accepts.
const invitationsTaken = 20

// SignInVouched starts a session for the account linked to the server's subject. At the first sign-in it is the
// account with the e-mail, which is linked to the subject from then on. A person with an invitation but without an
// account gets one. c is nil if there is neither an account nor an invitation. If the ownership of the account was not
// proved before, its password, which somebody else may know, is replaced.
func (b Browsers) SignInVouched(ctx context.Context, v Vouched, from Client) (secret string, c *Caller, err error) {
	account, err := b.auth.store.Accounts.AccountBySubject(ctx, v.Issuer, v.Subject)
	switch {
	case err != nil:
	case account != nil:
		account, err = b.prove(ctx, account, from)
	case v.Email != "":
		account, err = b.adopt(ctx, v, from)
	}
	if err != nil || account == nil {
		return "", nil, err
	}
	return b.start(ctx, account, from)
}

// prove marks an account as proved. If it was not proved before, somebody else may have created it or set its
// password, so the password is replaced.
func (b Browsers) prove(ctx context.Context, account *accounts.Account, from Client) (*accounts.Account, error) {
	if !account.ProvedAt.IsZero() {
		return account, nil
	}
	hash, err := b.auth.HashPassword(ctx, newSecret()) // a password that nobody knows
	if err != nil {
		return nil, err
	}
	if err := b.auth.store.Config.Change(by(ctx, account, from), func(ctx context.Context, tx *configure.Tx) error {
		_, err := accounts.Prove(ctx, tx, account.ID, hash, time.Now())
		return err
	}); err != nil {
		return nil, err
	}
	return b.auth.store.Accounts.Account(ctx, account.ID)
}

// by returns a context in which changes are attributed to the account's person.
func by(ctx context.Context, account *accounts.Account, from Client) context.Context {
	return audit.By(ctx, audit.Author{Kind: "account", ID: account.ID, Name: account.Email, Origin: audit.Panel, Address: from.Address})
}

// adopt finds or creates the account for an e-mail that signs in with a subject for the first time. It returns nil if
// there is neither an account nor an invitation, or if the account belongs to another subject.
func (b Browsers) adopt(ctx context.Context, v Vouched, from Client) (*accounts.Account, error) {
	now := time.Now()
	account, err := b.auth.store.Accounts.AccountByEmail(ctx, v.Email)
	if err != nil {
		return nil, err
	}
	invited, err := b.auth.store.Links.InvitationsOf(ctx, v.Email, now, invitationsTaken)
	if err == nil {
		invited, err = standing(ctx, b.auth.store.DB, invited)
	}
	if err != nil || account == nil && len(invited) == 0 {
		return nil, err
	}
	fresh := account == nil
	if fresh {
		name, _, _ := strings.Cut(v.Email, "@")
		if v.Name != "" {
			name = v.Name
		}
		account = &accounts.Account{Email: v.Email, Name: name, ProvedAt: now}
		if account.PasswordHash, err = b.auth.HashPassword(ctx, newSecret()); err != nil { // nobody knows it
			return nil, err
		}
	}
	known := false
	if fresh {
		account.ID = carillon.NewID(now)
	}
	err = b.auth.store.Config.Change(by(ctx, account, from), func(ctx context.Context, tx *configure.Tx) error {
		if fresh {
			if err := accounts.AddAccount(ctx, tx, account, now); err != nil {
				return err
			}
			for _, i := range invited {
				if err := accounts.DropInvitation(ctx, tx, i.CompanyID, i.ID); err != nil {
					return err
				}
				if err := accounts.AddMembership(ctx, tx,
					accounts.Membership{AccountID: account.ID, CompanyID: i.CompanyID, Role: i.Role}); err != nil {
					return err
				}
			}
		}
		var err error
		known, err = accounts.PutIdentity(ctx, tx, account.ID, v.Issuer, v.Subject, now)
		return err
	})
	if err != nil || !known {
		return nil, err
	}
	return b.prove(ctx, account, from)
}
