package auth

import (
	"context"
	"slices"

	"carillon/internal/store/accounts"
	"carillon/internal/store/db"
)

// InvitationStands reports whether who invited may still give the role: somebody who lost it, or left, lets nobody in afterwards. Where
// the inviter was not kept, only the expiry counts.
func InvitationStands(ctx context.Context, q db.Querier, i *accounts.Invitation) (bool, error) {
	if i.InviterID == "" {
		return true, nil
	}
	theirs, err := accounts.Memberships(ctx, q, i.InviterID)
	return slices.ContainsFunc(theirs, func(x accounts.Membership) bool {
		return x.CompanyID == i.CompanyID && Role(x.Role).MayGive(Role(i.Role))
	}), err
}

// standing leaves out the invitations that do not stand.
func standing(ctx context.Context, q db.Querier, all []*accounts.Invitation) (left []*accounts.Invitation, err error) {
	for _, i := range all {
		stands, err := InvitationStands(ctx, q, i)
		if err != nil {
			return nil, err
		}
		if stands {
			left = append(left, i)
		}
	}
	return left, nil
}
