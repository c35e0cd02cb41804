package panel

import (
	"context"
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/httpio"
	"carillon/internal/mail"
	"carillon/internal/store"
	"carillon/internal/store/seal"
)

const (
	passwordLinkLife = time.Hour
	forgottenRate    = 3  // links a minute for one e-mail
	forgottenClients = 10 // and from one address
	linkTries        = 60 // secrets of links a minute that one address may try
)

// forgotten serves links that set a forgotten password: by e-mail for who asks, or made by who administers the users.
type forgotten struct{ members }

func (p *Panel) forgottenRoutes() []httpio.Route {
	x := forgotten{members{p.Deps}}
	return []httpio.Route{
		{Pattern: "POST " + prefix + "/forgotten", Access: "none", MaxBody: maxCredentials, Handle: httpio.Value(x.ask)},
		{Pattern: "POST " + prefix + "/forgotten/password", Access: "none", MaxBody: maxCredentials, Handle: httpio.Value(x.set)},
		p.route("POST", "/users/{id}/password-link", auth.MayWriteUsers, x.make),
	}
}

// ask sends a link to the account of an e-mail. The response is the same where there is none.
func (x forgotten) ask(r *http.Request) (any, error) {
	if err := x.ownPage(r); err != nil {
		return nil, err
	}
	o, err := object(r, "email", "language")
	if err != nil {
		return nil, err
	}
	address, err := email(o)
	if err != nil {
		return nil, err
	}
	language, err := mailLanguage(o, r)
	if err != nil {
		return nil, err
	}
	if x.Mail == nil {
		return nil, carillon.InConflict("This installation sends no e-mails: ask somebody who administers your company's users for a link")
	}
	for name, most := range map[string]int{"forgotten/address/" + seal.Digest(httpio.ClientAddress(r, x.Proxies)): forgottenClients, "forgotten/email/" + seal.Digest(address): forgottenRate} {
		if _, err := x.Limits.Allow(r.Context(), name, most, 1); err != nil {
			return nil, err
		}
	}
	if !x.Mail.Post(func(ctx context.Context) (*mail.Message, error) { return x.message(ctx, address, language) }) {
		return nil, &carillon.Error{Code: carillon.ServiceUnavailable, Message: "Too many e-mails wait to be sent", RetryAfter: 10}
	}
	return nil, nil
}

// message stores a new link for the account of an e-mail and writes to it; nil where there is none.
func (x forgotten) message(ctx context.Context, address, language string) (*mail.Message, error) {
	a, err := x.Store.AccountByEmail(ctx, address)
	if err != nil || a == nil {
		return nil, err
	}
	link, err := x.link(ctx, a.ID, func(context.Context, *store.Tx) error { return nil })
	if err != nil {
		return nil, err
	}
	m := forgottenMail(language, link)
	m.To = a.Email
	return &m, nil
}

// link stores a new link for an account, where check allows it, and returns its address.
func (x forgotten) link(ctx context.Context, accountID string, check func(ctx context.Context, tx *store.Tx) error) (string, error) {
	now, secret := time.Now(), auth.NewLink()
	err := x.Store.Update(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := check(ctx, tx); err != nil {
			return err
		}
		return tx.PutPasswordLink(ctx, accountID, secret, now, now.Add(passwordLinkLife))
	})
	return x.baseURL() + "/panel/forgotten#" + secret, err
}

// set sets the password of the account that a link is for, and ends its sessions.
func (x forgotten) set(r *http.Request) (any, error) {
	if err := x.ownPage(r); err != nil {
		return nil, err
	}
	o, err := object(r, "token", "password")
	if err != nil {
		return nil, err
	}
	secret, err := secretOf(o, "token")
	if err == nil {
		err = x.mayTryLink(r)
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
	id, expires, err := x.Store.PasswordLink(r.Context(), secret)
	switch {
	case err != nil:
		return nil, err
	case id == "":
		return nil, carillon.NoAccess("The link is not valid: it was used, or a newer one was asked for", "invalid")
	case !time.Now().Before(expires):
		return nil, carillon.NoAccess("The link has expired: ask for another one", "expired")
	}
	hash, err := x.Auth.HashPassword(r.Context(), fresh)
	if err != nil {
		return nil, err
	}
	return nil, x.Store.Update(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		spent, err := tx.SpendPasswordLink(ctx, secret, time.Now())
		if err == nil && !spent {
			err = carillon.NoAccess("The link is not valid: it was used, or a newer one was asked for", "invalid")
		}
		if err != nil {
			return err
		}
		return tx.SetPassword(ctx, id, hash, "", time.Now())
	})
}

// mayTryLink limits how many secrets of links an address may try. Errors: rate_limit_exceeded.
func (d Deps) mayTryLink(r *http.Request) error {
	_, err := d.Limits.Allow(r.Context(), "links/address/"+seal.Digest(httpio.ClientAddress(r, d.Proxies)), linkTries, 1)
	return err
}

// madeLink is the response to who made a link for somebody else.
type madeLink struct {
	Sent    bool   `json:"sent"`
	Link    string `json:"link,omitempty"` // where no e-mail took it to the person
	Problem string `json:"problem,omitempty"`
}

// make makes a link for a member, and sends it where the installation can.
func (x forgotten) make(r *http.Request, by member) (any, error) {
	o, err := object(r, "language")
	if err != nil {
		return nil, err
	}
	language, err := mailLanguage(o, r)
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(r.PathValue("id"))
	if id == by.accountID {
		return nil, carillon.InConflict("Your own password changes with the present one: POST /panel/v1/user/password")
	}
	link, err := x.link(r.Context(), id, func(ctx context.Context, tx *store.Tx) error { return ownMember(ctx, tx, by, id) })
	if err != nil {
		return nil, err
	}
	a, err := x.Store.Account(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, carillon.Absent("User")
	}
	m := forgottenMail(language, link)
	m.To = a.Email
	sent, problem := x.deliver(r.Context(), m)
	if sent {
		link = ""
	}
	return madeLink{sent, link, problem}, nil
}
