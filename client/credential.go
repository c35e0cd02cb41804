package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// credential is what calls are made with.
type credential interface {
	// get returns a key for the query, or a token.
	get(ctx context.Context, c *Client) (key, token string, err error)
	// renew forgets a token that was refused, and reports whether another one can be had.
	renew() bool
}

type nobody struct{}

func (nobody) get(context.Context, *Client) (key, token string, err error) { return "", "", nil }
func (nobody) renew() bool                                                 { return false }

// missing is what a call needs and the client was made without.
type missing string

func (m missing) get(context.Context, *Client) (key, token string, err error) {
	return "", "", errors.New("the client was made without " + string(m))
}
func (missing) renew() bool { return false }

type inQuery string

func (k inQuery) get(context.Context, *Client) (key, token string, err error) {
	return string(k), "", nil
}
func (inQuery) renew() bool { return false }

type fixed string

func (t fixed) get(context.Context, *Client) (key, token string, err error) {
	return "", string(t), nil
}
func (fixed) renew() bool { return false }

// renewBefore is how long before its end a token is renewed.
const renewBefore = time.Minute

// until is when a token that is good for some seconds from now is to be renewed. Only this side's clock counts.
func until(c *Client, seconds int) time.Time {
	return c.now().Add(time.Duration(seconds)*time.Second - renewBefore)
}

// exchanged is an access key, and the token that stands in for it.
type exchanged struct {
	key string

	mu    sync.Mutex
	token string
	until time.Time
}

func (x *exchanged) renew() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.token = ""
	return true
}

// get returns the token. Callers that need a new one at the same time wait for one request.
func (x *exchanged) get(ctx context.Context, c *Client) (key, token string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.token != "" && c.now().Before(x.until) {
		return "", x.token, nil
	}
	got, err := companyToken(ctx, c, x.key)
	if err != nil {
		return "", "", err
	}
	x.token, x.until = got.AccessToken, until(c, got.ExpiresIn)
	return "", x.token, nil
}

// companyToken exchanges a key for a token.
func companyToken(ctx context.Context, c *Client, key string) (*CompanyToken, error) {
	var got CompanyToken
	reply, err := c.Do(ctx, Call{Method: http.MethodPost, Path: Prefix + "auth/company", Safe: true, Out: &got, header: http.Header{"X-Access-Key": {key}}})
	if err != nil {
		return nil, err
	}
	got.Scopes = strings.Fields(reply.header.Get("X-Access-Scopes"))
	return &got, nil
}

// KeyOf looks an access key up: whose it is, and what it allows.
func (c *Client) KeyOf(ctx context.Context, key string) (*Key, error) {
	got, err := companyToken(ctx, c, key)
	if err != nil {
		return nil, err
	}
	return &Key{CompanyID: got.Company.ID, CompanyName: got.Company.Name, Scopes: got.Scopes}, nil
}

// Key is what an access key is for.
type Key struct {
	CompanyID, CompanyName string
	Scopes                 []string // * allows all
}

// Allows reports whether the key has one of the scopes.
func (k *Key) Allows(scopes ...string) bool {
	return slices.ContainsFunc(k.Scopes, func(s string) bool { return s == "*" || slices.Contains(scopes, s) })
}

// signedIn is a user's session.
type signedIn struct {
	email, password string

	mu      sync.Mutex
	token   string
	until   time.Time
	refresh string
}

func (s *signedIn) renew() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = ""
	return true
}

// get returns the access token of the session; it renews the session, or signs in where that is refused.
func (s *signedIn) get(ctx context.Context, c *Client) (key, token string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && c.now().Before(s.until) {
		return "", s.token, nil
	}
	var got *Session
	if s.refresh != "" {
		if got, err = c.Users().Refresh(ctx, s.refresh); err != nil && !errors.Is(err, Unauthorized) {
			return "", "", err
		}
	}
	if got == nil {
		if got, err = c.Users().SignIn(ctx, s.email, s.password); err != nil {
			return "", "", err
		}
	}
	s.token, s.until, s.refresh = got.AccessToken, until(c, got.ExpiresIn), got.RefreshToken
	return "", s.token, nil
}

// Users are the calls of a user.
type Users struct{ c *Client }

// Users returns the calls of a user.
func (c *Client) Users() Users { return Users{c} }

// SignIn begins a session of a user. A client made WithSignIn does so by itself.
func (x Users) SignIn(ctx context.Context, email, password string) (*Session, error) {
	return get[Session](ctx, x.c, Call{
		Method: http.MethodPost, Path: Prefix + "auth", Query: url.Values{"grant_type": {"password"}}, Safe: true,
		Body: map[string]string{"email": email, "password": password},
	})
}

// Refresh renews a session. The refresh token is good once.
func (x Users) Refresh(ctx context.Context, refreshToken string) (*Session, error) {
	return get[Session](ctx, x.c, Call{Method: http.MethodPost, Path: Prefix + "auth/refresh", Body: map[string]string{"refresh_token": refreshToken}})
}

// SignOut ends the session of a client made WithSignIn or WithUserToken.
func (x Users) SignOut(ctx context.Context) error {
	_, err := x.c.Do(ctx, Call{Method: http.MethodPost, Path: Prefix + "auth/logout", As: User})
	return err
}

// Me is the user of the session.
func (x Users) Me(ctx context.Context) (*Account, error) {
	return get[Account](ctx, x.c, Call{Method: http.MethodGet, Path: Prefix + "auth/user", As: User})
}

// AccessKeys are the active keys that the user may see.
func (x Users) AccessKeys(ctx context.Context) ([]AccessKey, error) {
	got, err := get[struct {
		Keys []AccessKey `json:"validApiKeys"`
	}](ctx, x.c, Call{Method: http.MethodPost, Path: Prefix + "api_keys", As: User, Safe: true})
	if err != nil {
		return nil, err
	}
	return got.Keys, nil
}

// get sends a request and returns its response.
func get[T any](ctx context.Context, c *Client, call Call) (*T, error) {
	out := new(T)
	call.Out = out
	if _, err := c.Do(ctx, call); err != nil {
		return nil, err
	}
	return out, nil
}
