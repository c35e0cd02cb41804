package auth

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

const (
	firstTokenPrefix = "first_"
	firstTokenLife   = 24 * time.Hour
)

// IsFirstToken reports whether an Authorization header has the form of a first token.
func IsFirstToken(authorization string) bool {
	token, ok := bearer(authorization)
	return ok && strings.HasPrefix(token, firstTokenPrefix)
}

// FirstToken returns a new one-time token for creating the owner of an empty installation. ok is false if an account
// exists. An earlier token becomes invalid.
func (a *Auth) FirstToken(ctx context.Context) (token string, ok bool, err error) {
	exists, err := a.store.Accounts.AnyAccount(ctx)
	if err != nil || exists {
		return "", false, err
	}
	token = firstTokenPrefix + newSecret()
	if err := a.store.Links.PutFirstToken(ctx, token, time.Now().Add(firstTokenLife)); err != nil {
		return "", false, err
	}
	return token, true, nil
}

// CheckFirstToken refuses a token that FirstOwner would refuse. Errors: unauthorized, whose reason is missing, invalid
// or expired.
func (a *Auth) CheckFirstToken(ctx context.Context, authorization string) error {
	token, ok := bearer(authorization)
	if !ok {
		return refused("one-time token", reasonMissing)
	}
	expires, err := a.store.Links.FirstToken(ctx, token)
	switch {
	case err != nil:
		return err
	case expires.IsZero():
		return refused("one-time token", reasonInvalid)
	case !time.Now().Before(expires):
		return refused("one-time token", reasonExpired)
	}
	return nil
}

// FirstOwner creates the first company and its owner, once, for the bearer of the token of FirstToken. owner contains
// the password's hash. Errors: unauthorized; conflict if the company's name is taken.
func (a *Auth) FirstOwner(ctx context.Context, authorization string, owner *accounts.Account, company *carillon.Company) error {
	token, ok := bearer(authorization)
	if !ok {
		return refused("one-time token", reasonMissing)
	}
	now := time.Now()
	company.ID = carillon.NewID(now)
	return a.store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		spent, err := accounts.SpendFirstToken(ctx, tx, token, now)
		if err != nil {
			return err
		}
		if !spent {
			return refused("one-time token", reasonInvalid)
		}
		if err := accounts.PutCompany(ctx, tx, company, now); err != nil {
			return err
		}
		if err := accounts.AddAccount(ctx, tx, owner, now); err != nil {
			return err
		}
		return accounts.PutMembership(ctx, tx, accounts.Membership{AccountID: owner.ID, CompanyID: company.ID, Role: string(Owner)})
	})
}
