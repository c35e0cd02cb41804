package account

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
)

// changePasswordRequest changes the caller's password.
type changePasswordRequest struct {
	Present  string `json:"present"`
	Password string `json:"password"`
}

// changePassword sets the caller's own password and ends the caller's other sessions. It requires the current
// password.
func (m Users) changePassword(r *http.Request, c *auth.Caller) (httpio.None, error) {
	o, err := form.Body[changePasswordRequest](r)
	if err != nil {
		return nil, err
	}
	present, err := secretOf(o, "present")
	if err != nil {
		return nil, err
	}
	fresh, given, err := password(o)
	if err != nil {
		return nil, err
	}
	if !given {
		return nil, carillon.Missing("password")
	}
	if err := m.Gate.Auth.CheckPassword(r.Context(), c, present); err != nil {
		return nil, err
	}
	hash, err := m.Gate.Auth.HashPassword(r.Context(), fresh)
	if err != nil {
		return nil, err
	}
	return nil, m.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.SetPassword(ctx, tx, c.Account.ID, hash, c.SessionID, time.Now())
	})
}

// signOutOthers ends the caller's sessions except the current one.
func (m Users) signOutOthers(r *http.Request, c *auth.Caller) (httpio.None, error) {
	return nil, m.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.EndSessions(ctx, tx, c.Account.ID, c.SessionID, time.Now())
	})
}

// resetPasswordRequest sets a member's password.
type resetPasswordRequest struct {
	Password string `json:"password"`
}

// resetPassword sets a member's password, which two people then know, and ends the member's sessions.
func (m Users) resetPassword(r *http.Request, by member.Member) (httpio.None, error) {
	o, err := form.Body[resetPasswordRequest](r)
	if err != nil {
		return nil, err
	}
	fresh, given, err := password(o)
	if err == nil && !given {
		err = carillon.Missing("password")
	}
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(r.PathValue("id"))
	if id == by.AccountID {
		return nil, carillon.InConflict("Your own password changes with the present one: POST /panel/v1/user/password")
	}
	hash, err := m.Gate.Auth.HashPassword(r.Context(), fresh)
	if err != nil {
		return nil, err
	}
	return nil, m.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := ownMember(ctx, tx, by, id); err != nil {
			return err
		}
		if err := accounts.SetPassword(ctx, tx, id, hash, "", time.Now()); err != nil {
			return err
		}
		return accounts.SetProof(ctx, tx, id, time.Time{})
	})
}

// signOutUser ends a member's sessions.
func (m Users) signOutUser(r *http.Request, by member.Member) (httpio.None, error) {
	id := strings.ToLower(r.PathValue("id"))
	return nil, m.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := ownMember(ctx, tx, by, id); err != nil {
			return err
		}
		if err := accounts.EndSessions(ctx, tx, id, "", time.Now()); err != nil {
			return err
		}
		return accounts.RecordUser(ctx, tx, time.Now(), id, audit.Entry{Action: audit.SignedOut})
	})
}

// roleRequest changes a role.
type roleRequest struct {
	Role string `json:"role"`
}

// changeRole gives a member another role, at most the caller's. The last owner cannot lose the role.
func (m Users) changeRole(r *http.Request, by member.Member) (httpio.None, error) {
	o, err := form.Body[roleRequest](r)
	if err != nil {
		return nil, err
	}
	given, err := o.Find("role").Required("role")
	switch {
	case err != nil:
		return nil, err
	case !auth.ValidRole(given):
		return nil, carillon.Invalid("role", "Must be one of "+form.Known(auth.Roles()))
	case !by.Role.MayGive(auth.Role(given)):
		return nil, carillon.Denied("Only an owner may make another owner")
	}
	id := strings.ToLower(r.PathValue("id"))
	if err := m.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		found, _, err := memberOf(ctx, tx, by, id)
		if err != nil || found.Role == given {
			return err
		}
		if err := anotherOwner(ctx, tx, found); err != nil {
			return err
		}
		found.Role = given
		return accounts.PutMembership(ctx, tx, found)
	}); err != nil || auth.Role(given).Can(auth.MayAnswerConversations) {
		return nil, err
	}
	return nil, m.Conversations.Desk.Dismiss(r.Context(), by.Teammate(), id)
}

// anotherOwner checks that the company has another owner besides this member. Errors: conflict.
func anotherOwner(ctx context.Context, tx *configure.Tx, m accounts.Membership) error {
	if m.Role != string(auth.Owner) {
		return nil
	}
	n, err := accounts.CountMembers(ctx, tx, m.CompanyID, m.Role)
	if err == nil && n == 1 {
		err = carillon.InConflict("The last owner of a company stays: add another owner first")
	}
	return err
}

// removeUser ends a membership, and deletes the account with its last membership: an account without a company could
// be claimed by any company. Access tokens are checked against the memberships at every request.
func (m Users) removeUser(r *http.Request, by member.Member) (httpio.None, error) {
	id := strings.ToLower(r.PathValue("id"))
	if err := m.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		found, _, err := memberOf(ctx, tx, by, id)
		if err != nil {
			return err
		}
		if err := anotherOwner(ctx, tx, found); err != nil {
			return err
		}
		return accounts.RemoveMembership(ctx, tx, found)
	}); err != nil {
		return nil, err
	}
	return nil, m.Conversations.Desk.Dismiss(r.Context(), by.Teammate(), id)
}

// memberOf returns the membership of an account in the caller's company, and the account's number of memberships.
// Errors: not_found; forbidden for roles above the caller's.
func memberOf(ctx context.Context, tx *configure.Tx, by member.Member, accountID string) (m accounts.Membership, of int, err error) {
	if !carillon.ValidUUID(accountID) {
		return m, 0, carillon.Absent("User")
	}
	all, err := accounts.Memberships(ctx, tx, accountID)
	if err != nil {
		return m, 0, err
	}
	i := slices.IndexFunc(all, func(m accounts.Membership) bool { return m.CompanyID == by.CompanyID })
	switch {
	case i < 0:
		return m, 0, carillon.Absent("User")
	case !by.Role.MayGive(auth.Role(all[i].Role)):
		return m, 0, carillon.Denied("Only an owner may do this to an owner")
	}
	return all[i], len(all), nil
}

// ownMember checks that the account is a member of the caller's company only, because changing its sessions would
// affect other companies. Errors: those of memberOf, conflict.
func ownMember(ctx context.Context, tx *configure.Tx, by member.Member, accountID string) error {
	_, of, err := memberOf(ctx, tx, by, accountID)
	if err == nil && of > 1 {
		err = carillon.InConflict("The user belongs to other companies too: remove the user to end their access to this one")
	}
	return err
}

const minPassword = 12 // characters

// password reads a password of at least 12 characters, without rules about their kinds (NIST SP 800-63B). No error
// contains the value. present is false if it is absent.
func password(o *jsonbody.Object) (s string, present bool, err error) {
	const field = "password"
	s, present, err = o.String(field, field)
	switch {
	case err != nil:
		return "", false, carillon.BadFormat(field, "(not shown)", "string", "text")
	case !present:
		return "", false, nil
	case utf8.RuneCountInString(s) < minPassword || strings.TrimSpace(s) == "":
		return "", true, carillon.Invalid(field, "At least "+strconv.Itoa(minPassword)+" characters")
	case len(s) > auth.MaxPassword:
		return "", true, carillon.Invalid(field, "At most "+strconv.Itoa(auth.MaxPassword)+" bytes")
	}
	return s, true, nil
}
