package auth

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
)

// PresentedKey is the access_key of a request. Present distinguishes an empty key from an absent one. If it is
// present, other credentials are ignored.
type PresentedKey struct {
	Key     string
	Present bool
}

// Principal is the holder of an access key or of a company token made from it.
type Principal struct {
	Company   *carillon.Company
	KeyID     string
	Label     string    // of the key
	ExpiresAt time.Time // of the key; zero value: never
	scopes    []string
}

// Allows reports whether the key has the scope.
func (p *Principal) Allows(s Scope) bool {
	return slices.Contains(p.scopes, string(s)) || slices.Contains(p.scopes, string(All))
}

// Scopes returns the names of the key's scopes.
func (p *Principal) Scopes() []string { return slices.Clone(p.scopes) }

// maxKey bounds access keys that are looked up, in bytes.
const maxKey = 256

// Principal resolves the credential of a request. If an access_key is present, authorization is ignored. Otherwise
// authorization must be a company token as Bearer, never a user's token. Principal does not check the company's state
// or the scope. Errors: unauthorized, whose reason is missing, invalid, expired or revoked.
func (a *Auth) Principal(ctx context.Context, key PresentedKey, authorization string) (*Principal, error) {
	if !key.Present {
		if token, ok := bearer(authorization); ok {
			c, err := a.keys.parse(ctx, token, companyType, companyAudience)
			if err != nil {
				return nil, err
			}
			return a.PrincipalByID(ctx, c.KeyID) // a token is only valid as long as its key
		}
	}
	if key.Key == "" {
		return nil, refused("access key", reasonMissing)
	}
	if len(key.Key) > maxKey {
		return nil, refused("access key", reasonInvalid)
	}
	k, err := a.store.Keys.AccessKey(ctx, key.Key)
	if err != nil {
		return nil, err
	}
	return a.principal(ctx, k)
}

// PrincipalByID resolves the holder of an access key by the key's id, for data that was created with the key. Errors:
// those of Principal.
func (a *Auth) PrincipalByID(ctx context.Context, keyID string) (*Principal, error) {
	k, err := a.store.Keys.AccessKeyByID(ctx, keyID)
	if err != nil {
		return nil, err
	}
	return a.principal(ctx, k)
}

// principal checks a key and returns its principal.
func (a *Auth) principal(ctx context.Context, k *accounts.AccessKey) (*Principal, error) {
	now := time.Now()
	switch {
	case k == nil:
		return nil, refused("access key", reasonInvalid)
	case !k.RevokedAt.IsZero():
		return nil, former(k, reasonRevoked)
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return nil, former(k, reasonExpired)
	}
	company, err := a.store.Accounts.Company(ctx, k.CompanyID)
	if err != nil {
		if carillon.IsCode(err, carillon.NotFound) { // deleted between the two lookups
			return nil, refused("access key", reasonInvalid)
		}
		return nil, err
	}
	a.usage.touch(k.ID, now)
	return &Principal{Company: company, KeyID: k.ID, Label: k.Label, ExpiresAt: k.ExpiresAt, scopes: k.Scopes}, nil
}

// FormerKey is the cause of the error for a revoked or expired key.
type FormerKey struct{ ID, CompanyID string }

// Error implements error.
func (k *FormerKey) Error() string { return "the access key " + k.ID + " is not valid any more" }

func former(k *accounts.AccessKey, reason string) *carillon.Error {
	e := refused("access key", reason)
	e.Err = &FormerKey{k.ID, k.CompanyID}
	return e
}

// Values of details.reason in a 401 unauthorized.
const (
	reasonMissing = "missing"
	reasonInvalid = "invalid"
	reasonExpired = "expired"
	reasonRevoked = "revoked"
)

// refused returns the error for a credential that is not accepted.
func refused(credential, reason string) *carillon.Error {
	return carillon.NoAccess("The "+credential+" is "+reason, reason)
}
