package account

import (
	"context"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/mail"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

const (
	invitationLife = 7 * 24 * time.Hour
	maxInvitations = 200 // open at the same time, per company
	invitationRate = 30  // per minute and company
)

// Mailer sends e-mails.
type Mailer interface {
	Send(ctx context.Context, x mail.Message) error
	Post(job mail.Job) bool
}

// Invitations invites people to a company. Anyone with an invitation's link can accept it, once.
type Invitations struct {
	Gate     *member.Gate
	Store    *store.Store
	Letters  Letters
	Sessions Sessions
}

func (x Invitations) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/invitations", auth.MayReadUsers, x.list),
		member.Route(x.Gate, "POST", "/invitations", auth.MayWriteUsers, x.invite).Taking(inviteRequest{}),
		member.Route(x.Gate, "POST", "/invitations/{id}/resend", auth.MayWriteUsers, x.resend).Taking(linkRequest{}),
		member.Route(x.Gate, "DELETE", "/invitations/{id}", auth.MayWriteUsers, x.withdraw),
		member.Open("POST", "/invitation", maxCredentials, x.look).Taking(tokenRequest{}),
		httpio.Route{
			Pattern: "POST " + member.Prefix + "/invitation/accept", Access: "none", MaxBody: maxCredentials, Handle: x.accept,
		}.Taking(acceptRequest{}).Giving(me{}),
	}
}

// invitationRow is an invitation in a response. Link is set only if no e-mail delivered it. Problem is the reason why
// an e-mail failed.
type invitationRow struct {
	ID        string  `json:"id"`
	Email     string  `json:"email"`
	Role      string  `json:"role" enum:"owner,admin,developer,marketer,teammate,viewer"`
	InvitedBy string  `json:"invited_by"`
	CreatedAt string  `json:"created_at"`
	SentAt    *string `json:"sent_at"`
	ExpiresAt string  `json:"expires_at"`
	Expired   bool    `json:"expired"`
	Link      string  `json:"link,omitempty"`
	Problem   string  `json:"problem,omitempty"`
}

func invitationRowOf(x *accounts.Invitation) invitationRow {
	return invitationRow{
		ID: x.ID, Email: x.Email, Role: x.Role, InvitedBy: x.InvitedBy, CreatedAt: carillon.FormatTime(x.CreatedAt),
		SentAt:    auth.TimeOrNull(x.SentAt),
		ExpiresAt: carillon.FormatTime(x.ExpiresAt), Expired: !time.Now().Before(x.ExpiresAt),
	}
}

// list responds with the open invitations. It is not paginated, because a company has few.
func (x Invitations) list(r *http.Request, by member.Member) (httpio.List[invitationRow], error) {
	all, err := x.Store.Links.Invitations(r.Context(), by.CompanyID, maxInvitations)
	rows := httpio.List[invitationRow]{Data: make([]invitationRow, 0, len(all))}
	if err != nil {
		return httpio.List[invitationRow]{}, err
	}
	known := map[[2]string]bool{} // by inviter and role
	for _, i := range all {
		by := [2]string{i.InviterID, i.Role}
		stands, asked := known[by]
		if !asked {
			if stands, err = auth.InvitationStands(r.Context(), x.Store.DB, i); err != nil {
				return httpio.List[invitationRow]{}, err
			}
			known[by] = stands
		}
		row := invitationRowOf(i)
		row.Expired = row.Expired || !stands
		rows.Data = append(rows.Data, row)
	}
	return rows, nil
}

// inviteRequest invites a member.
type inviteRequest struct {
	Email    string `json:"email"`
	Role     string `json:"role"`
	Language string `json:"language,omitempty"`
}

func (x Invitations) invite(r *http.Request, by member.Member) (httpio.Created[*invitationRow], error) {
	o, err := form.Body[inviteRequest](r)
	if err != nil {
		return httpio.Created[*invitationRow]{}, err
	}
	address, err := form.Email(o)
	if err != nil {
		return httpio.Created[*invitationRow]{}, err
	}
	given, err := role(o, false)
	if err != nil {
		return httpio.Created[*invitationRow]{}, err
	}
	if !by.Role.MayGive(auth.Role(given)) {
		return httpio.Created[*invitationRow]{}, carillon.Denied("Only an owner may invite another owner")
	}
	language, err := mailLanguage(o, r)
	if err != nil {
		return httpio.Created[*invitationRow]{}, err
	}
	row, err := x.storeAndSend(r.Context(), by, &accounts.Invitation{CompanyID: by.CompanyID, Email: address, Role: given}, language)
	if err != nil {
		return httpio.Created[*invitationRow]{}, err
	}
	return httpio.Created[*invitationRow]{Value: row}, nil
}

// resend sends an invitation again with a new link, and invalidates the previous link.
func (x Invitations) resend(r *http.Request, by member.Member) (*invitationRow, error) {
	o, err := form.Body[linkRequest](r)
	if err != nil {
		return nil, err
	}
	language, err := mailLanguage(o, r)
	if err != nil {
		return nil, err
	}
	var found *accounts.Invitation
	if err := x.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) (err error) {
		found, err = accounts.FindInvitation(ctx, tx, by.CompanyID, r.PathValue("id"))
		return err
	}); err != nil {
		return nil, err
	}
	switch {
	case found == nil:
		return nil, carillon.Absent("Invitation")
	case !by.Role.MayGive(auth.Role(found.Role)):
		return nil, carillon.Denied("Only an owner may invite another owner")
	}
	return x.storeAndSend(r.Context(), by, found, language)
}

// storeAndSend stores an invitation with a new link and sends it.
func (x Invitations) storeAndSend(ctx context.Context, by member.Member, i *accounts.Invitation, language string) (*invitationRow, error) {
	if _, err := x.Gate.Limits.Allow(ctx, "invitations/"+by.CompanyID, invitationRate, 1); err != nil {
		return nil, err
	}
	now, secret := time.Now(), auth.NewLink()
	i.InvitedBy, i.InviterID, i.CreatedAt, i.ExpiresAt = by.Name, by.AccountID, now, now.Add(invitationLife)
	if err := x.Store.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
		if err := x.checkRoom(ctx, tx, i); err != nil {
			return err
		}
		return accounts.PutInvitation(ctx, tx, i, secret)
	}); err != nil {
		return nil, err
	}
	company, err := x.Store.Accounts.Company(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	link := x.Gate.BaseURL() + "/panel/invitation#" + secret
	message := invitationMail(language, by.Name, company.Name, link)
	message.To = i.Email
	sent, problem, err := x.Letters.deliver(ctx, by, invitationMails, message)
	if err != nil {
		return nil, err
	}
	if sent {
		i.SentAt = time.Now()
		if err := x.Store.Links.InvitationSent(ctx, secret, i.SentAt); err != nil {
			return nil, err
		}
		link = ""
	}
	row := invitationRowOf(i)
	row.Link, row.Problem = link, problem
	return &row, nil
}

// checkRoom checks that the invited person is not a member yet, and that the company has room for another invitation.
// Errors: conflict, limit_exceeded.
func (x Invitations) checkRoom(ctx context.Context, tx *configure.Tx, i *accounts.Invitation) error {
	a, err := x.Store.Accounts.AccountByEmail(ctx, i.Email)
	if err != nil {
		return err
	}
	if a != nil {
		theirs, err := accounts.Memberships(ctx, tx, a.ID)
		if err != nil {
			return err
		}
		for _, m := range theirs {
			if m.CompanyID == i.CompanyID {
				return carillon.InConflict("Somebody with this e-mail is a member of the company")
			}
		}
	}
	n, err := accounts.CountInvitations(ctx, tx, i.CompanyID)
	if err == nil && n >= maxInvitations && i.ID == "" {
		err = &carillon.Error{Code: carillon.LimitExceeded, Message: "The company has too many open invitations", Details: carillon.Details{
			{Key: "limit", Value: maxInvitations}, {Key: "used", Value: n},
		}}
	}
	return err
}

func (x Invitations) withdraw(r *http.Request, by member.Member) (httpio.None, error) {
	return nil, x.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		i, err := accounts.FindInvitation(ctx, tx, by.CompanyID, r.PathValue("id"))
		switch {
		case err != nil:
			return err
		case i == nil:
			return carillon.Absent("Invitation")
		case !by.Role.MayGive(auth.Role(i.Role)):
			return carillon.Denied("Only an owner may withdraw the invitation of an owner")
		}
		return accounts.RemoveInvitation(ctx, tx, by.CompanyID, i.ID)
	})
}

// invited is an invitation as shown to the holder of its link.
type invited struct {
	Email     string `json:"email"`
	Role      string `json:"role" enum:"owner,admin,developer,marketer,teammate,viewer"`
	Company   string `json:"company"`
	InvitedBy string `json:"invited_by"`
	Known     bool   `json:"known"` // a proved account has the e-mail address, so its owner must sign in to accept
}

// tokenRequest names an invitation.
type tokenRequest struct {
	Token string `json:"token"`
}

func (x Invitations) look(r *http.Request) (invited, error) {
	if err := x.Gate.OwnPage(r); err != nil {
		return invited{}, err
	}
	o, err := form.Body[tokenRequest](r)
	if err != nil {
		return invited{}, err
	}
	_, i, a, err := x.valid(r, o)
	if err != nil {
		return invited{}, err
	}
	company, err := x.Store.Accounts.Company(r.Context(), i.CompanyID)
	if err != nil {
		return invited{}, err
	}
	return invited{i.Email, i.Role, company.Name, i.InvitedBy, a != nil && !a.ProvedAt.IsZero()}, nil
}

// valid returns the invitation of a token, and the account with its e-mail address, if any. Errors: unauthorized, with
// reason invalid or expired; conflict, with reason unproved, if neither the account nor the link proves the person's
// identity.
func (x Invitations) valid(r *http.Request, o *jsonbody.Object) (secret string, i *accounts.Invitation, a *accounts.Account, err error) {
	secret, err = secretOf(o, "token")
	if err == nil {
		err = mayTryLink(r, x.Gate)
	}
	if err != nil {
		return "", nil, nil, err
	}
	ctx := r.Context()
	i, err = x.Store.Links.InvitationBy(ctx, secret)
	switch {
	case err != nil:
		return "", nil, nil, err
	case i == nil:
		return "", nil, nil, carillon.NoAccess("The invitation is not valid: it was accepted, withdrawn or sent again", "invalid")
	case !time.Now().Before(i.ExpiresAt):
		return "", nil, nil, carillon.NoAccess("The invitation has expired: ask for another one", "expired")
	}
	if err = checkInviter(ctx, x.Store.DB, i); err == nil {
		err = x.inUse(ctx, i.CompanyID)
	}
	if err == nil {
		a, err = x.Store.Accounts.AccountByEmail(ctx, i.Email)
	}
	if err == nil && a != nil && a.ProvedAt.IsZero() && i.SentAt.IsZero() {
		err = &carillon.Error{
			Code: carillon.Conflict, Details: carillon.Details{{Key: "reason", Value: "unproved"}},
			Message: "An account has this e-mail, and nobody has proved that the mailbox is theirs: " +
				"sign in by single sign-on first, have the " +
				"invitation sent by e-mail, or have somebody who administers both companies add the account (carillon users add --in " +
				"COMPANY-ID)",
		}
	}
	return secret, i, a, err
}

// inUse refuses an invitation to a company that is being moved, which its members could not use.
func (x Invitations) inUse(ctx context.Context, companyID string) error {
	c, err := x.Store.Accounts.Company(ctx, companyID)
	if err == nil && c.Move != "" {
		err = c.Refusal()
	}
	return err
}

// checkInviter refuses an invitation whose inviter may no longer grant its role. Errors: unauthorized.
func checkInviter(ctx context.Context, q db.Querier, i *accounts.Invitation) error {
	ok, err := auth.InvitationStands(ctx, q, i)
	if err == nil && !ok {
		err = carillon.NoAccess("The invitation is not valid: whoever sent it may no longer invite to this role", "invalid")
	}
	return err
}

// acceptRequest accepts an invitation.
type acceptRequest struct {
	Token    string `json:"token"`
	Name     string `json:"name,omitempty"`
	Password string `json:"password,omitempty"`
}

// accept makes the holder of an invitation's link a member. If a proved account has the e-mail address, the caller
// must be signed in with it. Otherwise accept creates an account with the password and signs it in. An unproved
// account that someone created for the person becomes theirs: it gets the password, and its previous sessions end.
func (x Invitations) accept(w http.ResponseWriter, r *http.Request) error {
	if err := x.Gate.OwnPage(r); err != nil {
		return err
	}
	o, err := form.Body[acceptRequest](r)
	if err != nil {
		return err
	}
	secret, i, a, err := x.valid(r, o)
	if err != nil {
		return err
	}
	if a != nil && !a.ProvedAt.IsZero() {
		return x.acceptKnown(w, r, secret, i)
	}
	name, err := form.Text(o, "name", form.MaxName)
	if err != nil {
		return err
	}
	fresh, given, err := password(o)
	if err == nil && !given {
		err = carillon.Missing("password")
	}
	if err != nil {
		return err
	}
	hash, err := x.Gate.Auth.HashPassword(r.Context(), fresh)
	if err != nil {
		return err
	}
	if a == nil {
		a = &accounts.Account{Email: i.Email, Name: name, PasswordHash: hash, ProvedAt: i.SentAt}
		r = x.Gate.ByNew(r, a)
		err = x.join(r.Context(), secret, i, func(ctx context.Context, tx *configure.Tx) (string, error) {
			return a.ID, accounts.AddAccount(ctx, tx, a, time.Now())
		})
	} else {
		r = x.Gate.By(r, a)
		err = x.join(r.Context(), secret, i, func(ctx context.Context, tx *configure.Tx) (string, error) {
			return a.ID, handOver(ctx, tx, a, name, hash)
		})
	}
	if err != nil {
		return err
	}
	cookie, c, err := auth.NewBrowsers(x.Gate.Auth).SignIn(
		r.Context(), auth.Credentials{Email: i.Email, Password: fresh}, x.Sessions.client(r),
	)
	if err != nil {
		return err
	}
	return x.Sessions.signedIn(w, r, cookie, c)
}

// handOver gives an unproved account to the holder of an invitation link that was sent by e-mail. Errors: conflict.
func handOver(ctx context.Context, tx *configure.Tx, a *accounts.Account, name, hash string) error {
	now := time.Now()
	proved, err := accounts.Prove(ctx, tx, a.ID, hash, now)
	if err == nil && !proved {
		err = carillon.InConflict("The account was proved meanwhile: sign in with it to accept the invitation")
	}
	if err != nil {
		return err
	}
	return accounts.PutAccount(ctx, tx, &accounts.Account{ID: a.ID, Email: a.Email, Name: name}, now)
}

// acceptKnown makes the caller a member. The caller's e-mail address must be the invited one, and the account must
// still be proved.
func (x Invitations) acceptKnown(w http.ResponseWriter, r *http.Request, secret string, i *accounts.Invitation) error {
	c, err := x.Gate.Caller(r)
	if err != nil {
		return err
	}
	if c.Account.Email != i.Email {
		return carillon.Denied("The invitation is for another e-mail: sign in with it")
	}
	r = x.Gate.By(r, c.Account)
	if err := x.join(r.Context(), secret, i, func(ctx context.Context, tx *configure.Tx) (string, error) {
		proved, err := accounts.Proved(ctx, tx, c.Account.ID)
		if err == nil && !proved {
			err = carillon.InConflict("The account's password was set by somebody else meanwhile: open the invitation's link once more")
		}
		return c.Account.ID, err
	}); err != nil {
		return err
	}
	me, err := x.Sessions.me(r.Context(), c)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, me)
}

// join consumes an invitation and makes an account a member. Errors: unauthorized if the invitation was used in the
// meantime.
func (x Invitations) join(
	ctx context.Context, secret string, i *accounts.Invitation,
	account func(ctx context.Context, tx *configure.Tx) (id string, err error),
) error {
	return x.Store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		spent, err := accounts.SpendInvitation(ctx, tx, secret, time.Now())
		if err == nil && !spent {
			err = carillon.NoAccess("The invitation is not valid: it was accepted, withdrawn or sent again", "invalid")
		}
		if err == nil {
			err = checkInviter(ctx, tx, i)
		}
		if err != nil {
			return err
		}
		id, err := account(ctx, tx)
		if err != nil {
			return err
		}
		return accounts.AddMembership(ctx, tx, accounts.Membership{AccountID: id, CompanyID: i.CompanyID, Role: i.Role})
	})
}
