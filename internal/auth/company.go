package auth

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store"
)

// CompanyKey is a usable key with its company.
type CompanyKey struct {
	Company *carillon.Company
	Key     *store.AccessKey // with the secret
}

// Keys are the usable keys of every company in which the caller's role may see them, by the companies' names
// (decisions.md, section 2). The keys of a suspended company are not usable.
func (a *Auth) Keys(ctx context.Context, c *Caller) ([]CompanyKey, error) {
	memberships, err := a.store.Memberships(ctx, c.Account.ID)
	if err != nil {
		return nil, err
	}
	var all []CompanyKey
	for _, m := range memberships {
		if !Role(m.Role).SeesKeys() {
			continue
		}
		company, err := a.store.Company(ctx, m.CompanyID)
		if err != nil {
			return nil, err
		}
		if company.Suspended {
			continue
		}
		keys, err := a.store.UsableKeys(ctx, m.CompanyID, time.Now())
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			k.LastUsed = a.LastUsed(k)
			all = append(all, CompanyKey{company, k})
		}
	}
	return all, nil
}

// Administered gives the company that the caller means and the role there: the named one, or the only one the caller
// administers. Errors: validation_failed when it must be named, forbidden.
func (a *Auth) Administered(ctx context.Context, c *Caller, company string) (companyID string, r Role, err error) {
	memberships, err := a.store.Memberships(ctx, c.Account.ID)
	if err != nil {
		return "", "", err
	}
	found := 0
	for _, m := range memberships {
		if Role(m.Role).Administers() && (company == "" || company == m.CompanyID) {
			companyID, r = m.CompanyID, Role(m.Role)
			found++
		}
	}
	switch found {
	case 0:
		return "", "", carillon.Denied("Only an owner or admin of the company may do this")
	case 1:
		return companyID, r, nil
	}
	return "", "", carillon.Invalid("company", "You administer several companies: say which, on the command line with --in")
}
