package auth

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
)

// CompanyKey is a usable key with its company.
type CompanyKey struct {
	Company *carillon.Company
	Key     *accounts.AccessKey // including the secret
}

// Keys returns the usable keys of all companies in which the caller's role may see them, sorted by company name. The
// keys of a company that is suspended or being moved are not usable.
func (a *Auth) Keys(ctx context.Context, c *Caller) ([]CompanyKey, error) {
	memberships, err := accounts.Memberships(ctx, a.store.DB, c.Account.ID)
	if err != nil {
		return nil, err
	}
	var all []CompanyKey
	for _, m := range memberships {
		if !Role(m.Role).Can(MayReadKeys) {
			continue
		}
		company, err := a.store.Accounts.Company(ctx, m.CompanyID)
		if err != nil {
			return nil, err
		}
		if company.Refusal() != nil {
			continue
		}
		keys, err := a.store.Keys.UsableKeys(ctx, m.CompanyID, time.Now())
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			k.LastUsed = a.usage.last(k)
			all = append(all, CompanyKey{company, k})
		}
	}
	return all, nil
}

// Member returns the company that the caller means and the caller's role in it: the named company, or the only one in
// which the caller's role has the permission. Members of a company that is suspended or being moved have no role. Errors:
// validation_failed if the company must be named, forbidden, service_unavailable.
func (a *Auth) Member(ctx context.Context, c *Caller, company string, needed Permission) (companyID string, r Role, err error) {
	memberships, err := accounts.Memberships(ctx, a.store.DB, c.Account.ID)
	if err != nil {
		return "", "", err
	}
	found, lacking := 0, Role("")
	var refused error
	for _, m := range memberships {
		role := Role(m.Role)
		switch {
		case company != "" && company != m.CompanyID:
			continue
		case !role.Can(needed):
			lacking = role
			continue
		}
		c, err := a.store.Accounts.Company(ctx, m.CompanyID)
		if err != nil {
			return "", "", err
		}
		if err := c.Refusal(); err != nil {
			refused = err
			continue
		}
		companyID, r = m.CompanyID, role
		found++
	}
	switch {
	case found == 1:
		return companyID, r, nil
	case found > 1:
		return "", "", carillon.Invalid("company", "You belong to several companies: say which, on the command line with --in")
	case refused != nil:
		return "", "", refused
	case lacking != "":
		return "", "", carillon.Denied("The role " + string(lacking) + " lacks the permission " + string(needed))
	}
	return "", "", carillon.Denied("You are not a member of the company")
}
