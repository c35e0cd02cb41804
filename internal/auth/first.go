package auth

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store"
)

const firstTokenLife = 24 * time.Hour

// FirstToken makes the one-time token with which an empty installation gets its owner; ok is false where an account
// exists. A token of before is good no more.
func (a *Auth) FirstToken(ctx context.Context) (token string, ok bool, err error) {
	exists, err := a.store.AnyAccount(ctx)
	if err != nil || exists {
		return "", false, err
	}
	token = "first_" + newSecret()
	if err := a.store.PutFirstToken(ctx, token, time.Now().Add(firstTokenLife)); err != nil {
		return "", false, err
	}
	return token, true, nil
}

// FirstOwner makes the first company and its owner, once, for who brings the token of FirstToken as Bearer. The
// owner comes with the password's hash. Errors: unauthorized; conflict when the company's name is taken.
func (a *Auth) FirstOwner(ctx context.Context, authorization string, owner *store.Account, company *carillon.Company) error {
	token, ok := bearer(authorization)
	if !ok {
		return carillon.NoAccess("The token is missing", reasonMissing)
	}
	now := time.Now()
	company.ID = carillon.NewID(now)
	return a.store.Configure(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SpendFirstToken(ctx, token, now); err != nil {
			return err
		}
		if err := tx.PutCompany(ctx, company, now); err != nil {
			return err
		}
		if err := tx.AddAccount(ctx, owner, now); err != nil {
			return err
		}
		return tx.PutMembership(ctx, store.Membership{AccountID: owner.ID, CompanyID: company.ID, Role: string(Owner)})
	})
}
