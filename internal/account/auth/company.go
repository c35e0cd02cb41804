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
// keys of a suspended company are not usable.
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
		if company.Suspended {
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
// which the caller's role has the permission. Members of a suspended company have no role. Errors: validation_failed
// if the company must be named, forbidden.
func (a *Auth) Member(ctx context.Context, c *Caller, company string, needed Permission) (companyID string, r Role, err error) {
	memberships, err := accounts.Memberships(ctx, a.store.DB, c.Account.ID)
	if err != nil {
		return "", "", err
	}
	found, lacking, suspended := 0, Role(""), false
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
		if suspended = suspended || c.Suspended; !c.Suspended {
			companyID, r = m.CompanyID, role
			found++
		}
	}
	switch {
	case found == 1:
		return companyID, r, nil
	case found > 1:
		return "", "", carillon.Invalid("company", "You belong to several companies: say which, on the command line with --in")
	case suspended:
		return "", "", carillon.Denied("The company is suspended")
	case lacking != "":
		return "", "", carillon.Denied("The role " + string(lacking) + " lacks the permission " + string(needed))
	}
	return "", "", carillon.Denied("You are not a member of the company")
}
