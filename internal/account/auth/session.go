package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/base/config"
	"carillon/internal/base/share"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

// Session is the result of a sign-in or a refresh.
type Session struct {
	Token
	RefreshToken string
	User         *User
}

// refreshGrace is the time that a used refresh token is accepted once more, because the client may have lost the response.
const refreshGrace = 10 * time.Second

const (
	addressRate = "sign-in/address/"
	emailRate   = "sign-in/email/"
)

// Credentials are the credentials of a person who signs in.
type Credentials struct {
	Email    string
	Password string
	Code     string // for the second factor, if the account has one: from its authenticator, or a recovery code
}

// SignIn starts a session. address is the client's. Errors: unauthorized, rate_limit_exceeded after too many failures,
// service_unavailable if too many sign-ins are waiting. An unknown e-mail and a wrong password get the same error
// after the same work. Only if the password was right, the reason is code_required or code_invalid for the second
// factor.
func (a *Auth) SignIn(ctx context.Context, with Credentials, address string) (*Session, error) {
	refresh := newSecret()
	account, session, err := a.begin(ctx, with, address, sessionLife, func(x accounts.Session, checked, rehashed string) (bool, error) {
		return a.store.Sessions.StartSession(ctx, x, refresh, checked, rehashed)
	})
	if err != nil {
		return nil, err
	}
	return a.session(ctx, account, session, refresh, session.CreatedAt)
}

// begin checks credentials and starts a session with start, which reports whether the password is still the checked
// one. Errors: those of SignIn.
func (a *Auth) begin(ctx context.Context, with Credentials, address string, life time.Duration,
	start func(x accounts.Session, checked, rehashed string) (bool, error),
) (*accounts.Account, accounts.Session, error) {
	if len(with.Password) > MaxPassword {
		return nil, accounts.Session{}, tooLong()
	}
	rates := []string{addressRate + configure.Digest(Network(address)), emailRate + configure.Digest(config.FoldEmail(with.Email))}
	passed := false // a code can be used only once, but the rest may be retried
	for range signInTries {
		account, rehashed, err := a.authenticate(ctx, with.Email, with.Password, Network(address), rates)
		if err == nil && !passed {
			err = Factors{a}.atSignIn(ctx, account.ID, with.Code, rates)
		}
		if err != nil {
			return nil, accounts.Session{}, err
		}
		passed = true
		now := time.Now()
		session := accounts.Session{ID: carillon.NewID(now), AccountID: account.ID, CreatedAt: now, ExpiresAt: now.Add(life)}
		started, err := start(session, account.PasswordHash, rehashed)
		if err != nil {
			return nil, session, err
		}
		if started {
			account.LastSignInAt = now
			return account, session, nil
		}
	}
	return nil, accounts.Session{}, overloaded(nil)
}

// signInTries bounds the tries of one sign-in. A concurrent change or rehash of the password requires another try.
const signInTries = 3

// Network returns the part of a client's address by which failures are counted, because an IPv6 customer can use any
// address of a /64.
func Network(address string) string { return share.Network(address) }

// authenticate checks the password. It returns the account with the checked hash, and the hash to store: the same one,
// or a new one if the parameters changed. The rates are checked again once the permit for the hash is acquired. So if
// many attempts waited together, only as many as the limit get a verdict on their password.
func (a *Auth) authenticate(
	ctx context.Context, email, password, client string, rates []string,
) (account *accounts.Account, rehashed string, err error) {
	f := failures{a.limits, a.o.FailedSignIns, rates}
	if err := f.room(ctx); err != nil {
		return nil, "", err
	}
	release, err := a.hasher.acquire(ctx, client)
	if err != nil {
		return nil, "", err
	}
	defer release()
	if err := f.room(ctx); err != nil {
		return nil, "", err
	}
	account, err = a.store.Accounts.AccountByEmail(ctx, email)
	if err != nil {
		return nil, "", err
	}
	stored := a.hasher.dummy
	if account != nil {
		stored = account.PasswordHash
	}
	ok, stale, err := a.hasher.check(password, stored)
	if err != nil {
		return nil, "", err
	}
	if !ok || account == nil {
		return nil, "", f.count(ctx)
	}
	if stale {
		return account, a.hasher.hash(password), nil
	}
	return account, stored, nil
}

// CheckPassword checks a caller's password. Failures count as failed sign-ins with the e-mail. Errors:
// validation_failed, rate_limit_exceeded, service_unavailable.
func (a *Auth) CheckPassword(ctx context.Context, c *Caller, password string) error {
	if len(password) > MaxPassword {
		return tooLong()
	}
	_, _, err := a.authenticate(ctx, c.Account.Email, password, "", []string{emailRate + configure.Digest(c.Account.Email)})
	if carillon.IsCode(err, carillon.Unauthorized) {
		return carillon.Invalid("present", "Is not the present password")
	}
	return err
}

// failures counts failed sign-ins under the names of their rates.
type failures struct {
	limits *limit.Limits
	most   int // per minute
	rates  []string
}

func (f failures) room(ctx context.Context) error {
	for _, name := range f.rates {
		if _, err := f.limits.Check(ctx, name, f.most); err != nil {
			return err
		}
	}
	return nil
}

// count counts a failure and returns its error.
func (f failures) count(ctx context.Context) error {
	for _, name := range f.rates {
		if _, err := f.limits.Allow(ctx, name, f.most, 1); err != nil {
			return err
		}
	}
	return carillon.NoAccess("Invalid login credentials", reasonInvalid)
}

// Refresh exchanges a refresh token for a new one of the same family. Errors: unauthorized, whose reason is invalid,
// expired or revoked.
func (a *Auth) Refresh(ctx context.Context, token string) (*Session, error) {
	now := time.Now()
	next := newSecret()
	session, end, err := a.store.Sessions.Refresh(ctx, token, next, now, refreshGrace, sessionLife)
	if err != nil {
		return nil, err
	}
	switch end {
	case accounts.RefreshUnknown:
		return nil, refused("refresh token", reasonInvalid)
	case accounts.RefreshExpired:
		return nil, refused("refresh token", reasonExpired)
	case accounts.RefreshRevoked:
		return nil, refused("refresh token", reasonRevoked)
	case accounts.RefreshDone:
	}
	account, err := a.store.Accounts.Account(ctx, session.AccountID)
	if err != nil {
		return nil, err
	}
	if account == nil {
		return nil, refused("refresh token", reasonRevoked)
	}
	return a.session(ctx, account, session, next, now)
}

func (a *Auth) session(ctx context.Context, account *accounts.Account, session accounts.Session, refresh string,
	now time.Time,
) (*Session, error) {
	token, err := a.userToken(ctx, account, session, now)
	if err != nil {
		return nil, err
	}
	return &Session{Token: token, RefreshToken: refresh, User: userObject(account)}, nil
}

// SignOut ends the caller's session.
func (a *Auth) SignOut(ctx context.Context, c *Caller) error {
	return a.store.Sessions.EndSession(ctx, c.SessionID, time.Now())
}

// newSecret returns 32 random bytes in base64url.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand crashes the program instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// NewLink returns the secret of a one-time link.
func NewLink() string { return newSecret() }

// keyPrefix is the prefix of every generated access key.
const keyPrefix = "ck_"

// NewKey returns a new access key.
func NewKey() string { return keyPrefix + newSecret() }
