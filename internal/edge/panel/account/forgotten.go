package account

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/mail"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

const (
	passwordLinkLife = time.Hour
	passwordLinks    = 3  // requested links valid at the same time, so that nobody can flood another person's mailbox
	forgottenRate    = 3  // requests per minute for one e-mail address
	forgottenClients = 10 // requests per minute from one client network
	linkTries        = 60 // link secrets that one client network may try per minute
)

// Forgotten serves links for setting a new password: sent by e-mail on request, or made by a user administrator.
type Forgotten struct {
	Gate    *member.Gate
	Store   *store.Store
	Letters Letters
}

func (x Forgotten) Routes() []httpio.Route {
	return []httpio.Route{
		member.Open("POST", "/forgotten", maxCredentials, x.ask).Taking(forgottenRequest{}),
		member.Open("POST", "/forgotten/password", maxCredentials, x.set).Taking(passwordRequest{}),
		member.Route(x.Gate, "POST", "/users/{id}/password-link", auth.MayWriteUsers, x.make).Taking(linkRequest{}),
	}
}

// forgottenRequest asks for a link.
type forgottenRequest struct {
	Email    string `json:"email"`
	Language string `json:"language,omitempty"`
}

// ask sends a link to the account with an e-mail address. The response does not reveal whether the account exists.
func (x Forgotten) ask(r *http.Request) (httpio.None, error) {
	if err := x.Gate.OwnPage(r); err != nil {
		return nil, err
	}
	o, err := form.Body[forgottenRequest](r)
	if err != nil {
		return nil, err
	}
	address, err := form.Email(o)
	if err != nil {
		return nil, err
	}
	language, err := mailLanguage(o, r)
	if err != nil {
		return nil, err
	}
	if x.Letters.Mail == nil {
		return nil, carillon.InConflict("This installation sends no e-mails: ask somebody who administers your company's users for a link")
	}
	for name, most := range map[string]int{
		"forgotten/address/" + x.Gate.Network(r):       forgottenClients,
		"forgotten/email/" + configure.Digest(address): forgottenRate,
	} {
		if _, err := x.Gate.Limits.Allow(r.Context(), name, most, 1); err != nil {
			return nil, err
		}
	}
	if !x.Letters.Mail.Post(func(ctx context.Context) (*mail.Message, error) { return x.message(ctx, address, language) }) {
		return nil, &carillon.Error{Code: carillon.ServiceUnavailable, Message: "Too many e-mails wait to be sent", RetryAfter: 10}
	}
	return nil, nil
}

// message stores a new link for the account with an e-mail address and returns the e-mail with it, or nil if there is
// no such account or it has received too many.
func (x Forgotten) message(ctx context.Context, address, language string) (*mail.Message, error) {
	a, err := x.Store.Accounts.AccountByEmail(ctx, address)
	if err != nil || a == nil {
		return nil, err
	}
	link, err := x.link(ctx, accounts.PasswordLink{AccountID: a.ID}, func(ctx context.Context, tx *configure.Tx) error {
		n, err := accounts.CountPasswordLinks(ctx, tx, a.ID, time.Now())
		if err == nil && n >= passwordLinks {
			err = errEnough
		}
		return err
	})
	switch {
	case errors.Is(err, errEnough):
		return nil, nil //nolint:nilnil // nothing is sent
	case err != nil:
		return nil, err
	}
	if enough, err := x.Letters.limitReached(ctx, passwordMails, a.Email); err != nil || enough {
		return nil, err
	}
	m := forgottenMail(language, link)
	m.To = a.Email
	return &m, nil
}

var errEnough = errors.New("the account has enough valid links")

// link stores a new link if check allows it, and returns its address. Earlier links stay valid, so that requesting a
// link for someone else does not invalidate theirs.
func (x Forgotten) link(
	ctx context.Context, made accounts.PasswordLink, check func(ctx context.Context, tx *configure.Tx) error,
) (string, error) {
	secret := auth.NewLink()
	made.CreatedAt = time.Now()
	made.ExpiresAt = made.CreatedAt.Add(passwordLinkLife)
	err := x.Store.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
		if err := check(ctx, tx); err != nil {
			return err
		}
		return accounts.PutPasswordLink(ctx, tx, made, secret)
	})
	return x.Gate.BaseURL() + "/panel/forgotten#" + secret, err
}

// passwordRequest sets a password by a link.
type passwordRequest struct {
	Token    string `json:"token"`
	Password string `json:"password"`
}

// set sets the password of a link's account and ends its sessions. If only the account's mailbox received the link,
// the account counts as proved.
func (x Forgotten) set(r *http.Request) (httpio.None, error) {
	if err := x.Gate.OwnPage(r); err != nil {
		return nil, err
	}
	o, err := form.Body[passwordRequest](r)
	if err != nil {
		return nil, err
	}
	secret, err := secretOf(o, "token")
	if err == nil {
		err = mayTryLink(r, x.Gate)
	}
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
	link, err := x.Store.Links.PasswordLink(r.Context(), secret)
	switch {
	case err != nil:
		return nil, err
	case link == nil:
		return nil, deadLink()
	case !time.Now().Before(link.ExpiresAt):
		return nil, carillon.NoAccess("The link has expired: ask for another one", "expired")
	}
	hash, err := x.Gate.Auth.HashPassword(r.Context(), fresh)
	if err != nil {
		return nil, err
	}
	a, err := x.Store.Accounts.Account(r.Context(), link.AccountID)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, deadLink()
	}
	proof, err := x.proofBy(r.Context(), link, a)
	if err != nil {
		return nil, err
	}
	r = x.Gate.By(r, a)
	return nil, x.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		spent, err := accounts.SpendPasswordLink(ctx, tx, secret, time.Now())
		if err == nil && !spent {
			err = deadLink()
		}
		if err == nil && link.CompanyID != "" {
			err = checkCreator(ctx, tx, link)
		}
		if err != nil {
			return err
		}
		if err := accounts.SetPassword(ctx, tx, link.AccountID, hash, "", time.Now()); err != nil {
			return err
		}
		return accounts.SetProof(ctx, tx, link.AccountID, proof)
	})
}

// proofBy returns when the account is proved after its password was set with a link; zero if it is not. Unless the
// link went only to the mailbox, its creator may have used it. A mailbox does not replace a second factor, which stays
// enabled: an unproved account with a confirmed factor stays unproved, because the factor may be someone else's.
func (x Forgotten) proofBy(ctx context.Context, link *accounts.PasswordLink, a *accounts.Account) (time.Time, error) {
	if !link.Proves() {
		return time.Time{}, nil
	}
	f, err := x.Store.Factors.Factor(ctx, a.ID)
	if err != nil || a.ProvedAt.IsZero() && f != nil && !f.ConfirmedAt.IsZero() {
		return time.Time{}, err
	}
	return time.Now(), nil
}

// mayTryLink limits the link secrets that a client network may try. Errors: rate_limit_exceeded.
func mayTryLink(r *http.Request, g *member.Gate) error {
	_, err := g.Limits.Allow(r.Context(), "links/address/"+g.Network(r), linkTries, 1)
	return err
}

func deadLink() error {
	return carillon.NoAccess("The link is not valid: it was used, or the password was changed otherwise", "invalid")
}

// checkCreator checks that the creator of a link may still set the member's password. The member may have joined another
// company since, which the link would give access to. Errors: unauthorized.
func checkCreator(ctx context.Context, tx *configure.Tx, link *accounts.PasswordLink) error {
	theirs, err := accounts.Memberships(ctx, tx, link.MadeBy)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(theirs, func(m accounts.Membership) bool { return m.CompanyID == link.CompanyID })
	if i < 0 || !auth.Role(theirs[i].Role).Can(auth.MayWriteUsers) {
		return deadLink()
	}
	err = ownMember(
		ctx, tx, member.Member{AccountID: link.MadeBy, CompanyID: link.CompanyID, Role: auth.Role(theirs[i].Role)}, link.AccountID,
	)
	if _, ours := errors.AsType[*carillon.Error](err); ours {
		return deadLink()
	}
	return err
}

// linkResponse is the response for the creator of a link for another member.
type linkResponse struct {
	Sent    bool   `json:"sent"`
	Link    string `json:"link,omitempty"` // set if no e-mail delivered the link
	Problem string `json:"problem,omitempty"`
}

// linkRequest asks for a link in a language.
type linkRequest struct {
	Language string `json:"language,omitempty"`
}

// make creates a link for a member, and sends it if the installation can send e-mail.
func (x Forgotten) make(r *http.Request, by member.Member) (linkResponse, error) {
	o, err := form.Body[linkRequest](r)
	if err != nil {
		return linkResponse{}, err
	}
	language, err := mailLanguage(o, r)
	if err != nil {
		return linkResponse{}, err
	}
	id := strings.ToLower(r.PathValue("id"))
	if id == by.AccountID {
		return linkResponse{}, carillon.InConflict("Your own password changes with the present one: POST /panel/v1/user/password")
	}
	link, err := x.link(
		r.Context(), accounts.PasswordLink{AccountID: id, CompanyID: by.CompanyID, MadeBy: by.AccountID},
		func(ctx context.Context, tx *configure.Tx) error { return ownMember(ctx, tx, by, id) },
	)
	if err != nil {
		return linkResponse{}, err
	}
	a, err := x.Store.Accounts.Account(r.Context(), id)
	if err != nil {
		return linkResponse{}, err
	}
	if a == nil {
		return linkResponse{}, carillon.Absent("User")
	}
	m := forgottenMail(language, link)
	m.To = a.Email
	sent, problem, err := x.Letters.deliver(r.Context(), by, passwordMails, m)
	if err != nil {
		return linkResponse{}, err
	}
	if sent {
		_, secret, _ := strings.Cut(link, "#")
		if err := x.Store.Links.PasswordLinkSent(r.Context(), secret, time.Now()); err != nil {
			return linkResponse{}, err
		}
		link = ""
	}
	return linkResponse{sent, link, problem}, nil
}
