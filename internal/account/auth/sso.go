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

// Vouched is a person that a server for single sign-on vouches for.
type Vouched struct {
	Issuer, Subject string
	Email           string // verified there; empty: unknown
	Name            string
}

// invitationsTaken is how many invitations a first single sign-on accepts.
const invitationsTaken = 20

// SignInVouched starts a session for the account that the server's subject is, or, at the first sign-in, for the account with the
// e-mail, which is known by the subject from then on. Somebody who is invited and has no account gets one. c is nil where the person
// is neither. What somebody else may know of an account that was not proved (its password, for one) is discarded.
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

// prove takes an account that nobody had proved out of the hands of who made it, or set its password, for somebody else.
func (b Browsers) prove(ctx context.Context, account *accounts.Account, from Client) (*accounts.Account, error) {
	if !account.ProvedAt.IsZero() {
		return account, nil
	}
	hash, err := b.auth.HashPassword(ctx, newSecret()) // which nobody knows
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

// by returns a context whose changes are recorded as those of an account's person.
func by(ctx context.Context, account *accounts.Account, from Client) context.Context {
	return audit.By(ctx, audit.Author{Kind: "account", ID: account.ID, Name: account.Email, Origin: audit.Panel, Address: from.Address})
}

// adopt finds or makes the account of an e-mail that signs in with a subject for the first time; nil where there is neither account
// nor invitation, or the account is another subject's.
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
		if account.PasswordHash, err = b.auth.HashPassword(ctx, newSecret()); err != nil { // which nobody knows
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
