package auth

import (
	"context"
	"slices"

	"carillon/internal/store/accounts"
)

// Members reads the companies that an account is a member of.
type Members interface {
	Memberships(ctx context.Context, accountID string) ([]accounts.Membership, error)
}

// InvitationStands reports whether who invited may still give the role: somebody who lost it, or left, lets nobody in afterwards. Where
// the inviter was not kept, only the expiry counts.
func InvitationStands(ctx context.Context, m Members, i *accounts.Invitation) (bool, error) {
	if i.InviterID == "" {
		return true, nil
	}
	theirs, err := m.Memberships(ctx, i.InviterID)
	return slices.ContainsFunc(theirs, func(x accounts.Membership) bool {
		return x.CompanyID == i.CompanyID && Role(x.Role).MayGive(Role(i.Role))
	}), err
}

// standing leaves out the invitations that do not stand.
func standing(ctx context.Context, m Members, all []*accounts.Invitation) (left []*accounts.Invitation, err error) {
	for _, i := range all {
		stands, err := InvitationStands(ctx, m, i)
		if err != nil {
			return nil, err
		}
		if stands {
			left = append(left, i)
		}
	}
	return left, nil
}
