package auth

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
)

const (
	browserIdle  = 30 * 24 * time.Hour // a browser session expires this long after its last use
	maxBrowser   = 90 * 24 * time.Hour // and this long after its sign-in at the latest
	browserUse   = 5 * time.Minute     // accuracy of the last use
	browserAgent = 300                 // stored bytes of a User-Agent
	maxSessions  = 100                 // maximum length of a list
)

// Client is the origin of a sign-in.
type Client struct {
	Address string
	Agent   string // User-Agent
}

// Browsers manages the sessions of the panel's pages. Each has a secret in a cookie.
type Browsers struct{ auth *Auth }

// NewBrowsers returns the Browsers of an Auth.
func NewBrowsers(a *Auth) Browsers { return Browsers{a} }

// SignIn starts a session and returns the secret for its cookie. Errors: those of Auth.SignIn.
func (b Browsers) SignIn(ctx context.Context, with Credentials, from Client) (secret string, c *Caller, err error) {
	secret = newSecret()
	account, session, err := b.auth.begin(ctx, with, from.Address, browserIdle,
		func(x accounts.Session, checked, rehashed string) (bool, error) {
			return b.auth.store.Sessions.StartBrowser(ctx, from.browser(x), secret, checked, rehashed)
		})
	if err != nil {
		return "", nil, err
	}
	return secret, &Caller{Account: account, SessionID: session.ID}, nil
}

// browser returns the stored form of a session with this client.
func (from Client) browser(x accounts.Session) accounts.Browser {
	return accounts.Browser{
		Session: x, Address: from.Address, Agent: strings.ToValidUTF8(from.Agent[:min(len(from.Agent), browserAgent)], ""),
	}
}

// start starts a session for an account that was authenticated without its password.
func (b Browsers) start(ctx context.Context, account *accounts.Account, from Client) (secret string, c *Caller, err error) {
	now := time.Now()
	secret = newSecret()
	x := accounts.Session{ID: carillon.NewID(now), AccountID: account.ID, CreatedAt: now, ExpiresAt: now.Add(browserIdle)}
	started, err := b.auth.store.Sessions.StartBrowser(ctx, from.browser(x), secret, account.PasswordHash, account.PasswordHash)
	if err == nil && !started {
		err = overloaded(nil) // the password was changed in the meantime
	}
	if err != nil {
		return "", nil, err
	}
	return secret, &Caller{Account: account, SessionID: x.ID}, nil
}

// Caller resolves the secret in a cookie. Errors: unauthorized, whose reason is missing, invalid, expired or revoked.
func (b Browsers) Caller(ctx context.Context, secret string) (*Caller, error) {
	switch {
	case secret == "":
		return nil, refused("session", reasonMissing)
	case len(secret) > maxKey:
		return nil, refused("session", reasonInvalid)
	}
	x, err := b.auth.store.Sessions.Browser(ctx, secret)
	now := time.Now()
	switch {
	case err != nil:
		return nil, err
	case x == nil:
		return nil, refused("session", reasonInvalid)
	case !x.EndedAt.IsZero():
		return nil, refused("session", reasonRevoked)
	case !now.Before(x.ExpiresAt):
		return nil, refused("session", reasonExpired)
	}
	account, err := b.auth.store.Accounts.Account(ctx, x.AccountID)
	switch {
	case err != nil:
		return nil, err
	case account == nil:
		return nil, refused("session", reasonRevoked)
	}
	if now.Sub(x.UsedAt) >= browserUse {
		until := now.Add(browserIdle)
		if last := x.CreatedAt.Add(maxBrowser); until.After(last) {
			until = last
		}
		if err := b.auth.store.Sessions.UseBrowser(ctx, x.ID, now, until); err != nil {
			return nil, err
		}
	}
	return &Caller{Account: account, SessionID: x.ID}, nil
}

// Sessions lists the caller's active sessions, newest first, including those of the public API.
func (b Browsers) Sessions(ctx context.Context, c *Caller) ([]accounts.Browser, error) {
	return b.auth.store.Sessions.Sessions(ctx, c.Account.ID, time.Now(), maxSessions)
}

// End ends one of the caller's sessions. Errors: not_found.
func (b Browsers) End(ctx context.Context, c *Caller, id string) error {
	ended, err := b.auth.store.Sessions.EndOwnSession(ctx, c.Account.ID, id, time.Now())
	if err == nil && !ended {
		err = carillon.Absent("Session")
	}
	return err
}
