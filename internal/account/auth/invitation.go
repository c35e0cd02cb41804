package auth

import (
	"context"
	"slices"

	"carillon/internal/store/accounts"
	"carillon/internal/store/db"
)

// InvitationStands reports whether the inviter may still give the role. An invitation becomes invalid if the inviter
// lost that right or left. If the inviter is unknown, only the expiry counts.
func InvitationStands(ctx context.Context, q db.Querier, i *accounts.Invitation) (bool, error) {
	if i.InviterID == "" {
		return true, nil
	}
	theirs, err := accounts.Memberships(ctx, q, i.InviterID)
	return slices.ContainsFunc(theirs, func(x accounts.Membership) bool {
		return x.CompanyID == i.CompanyID && Role(x.Role).MayGive(Role(i.Role))
	}), err
}

// standing filters out invitations that are no longer valid.
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
