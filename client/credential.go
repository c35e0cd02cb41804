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
	renew(refused string) bool
}

type nobody struct{}

func (nobody) get(context.Context, *Client) (key, token string, err error) { return "", "", nil }
func (nobody) renew(string) bool                                           { return false }

// missing is what a call needs and the client was made without.
type missing string

func (m missing) get(context.Context, *Client) (key, token string, err error) {
	return "", "", errors.New("the client was made without " + string(m))
}
func (missing) renew(string) bool { return false }

type inQuery string

func (k inQuery) get(context.Context, *Client) (key, token string, err error) {
	return string(k), "", nil
}
func (inQuery) renew(string) bool { return false }

type fixed string

func (t fixed) get(context.Context, *Client) (key, token string, err error) {
	return "", string(t), nil
}
func (fixed) renew(string) bool { return false }

// renewBefore is how long before its end a token is renewed.
const renewBefore = time.Minute

// until is when a token that is good for some seconds from now is to be renewed. Only this side's clock counts.
func until(c *Client, seconds int) time.Time {
	return c.now().Add(time.Duration(seconds)*time.Second - renewBefore)
}

// tokens keep a token until it is to be renewed. Callers that need another one at the same time wait for one request.
type tokens struct {
	fetching chan struct{} // has room for the one caller that fetches

	mu    sync.Mutex
	token string
	until time.Time
}

func newTokens() tokens { return tokens{fetching: make(chan struct{}, 1)} }

func (x *tokens) current(c *Client) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.now().Before(x.until) {
		return x.token
	}
	return ""
}

// renew forgets the token, unless another one has come meanwhile.
func (x *tokens) renew(refused string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.token == refused {
		x.token = ""
	}
	return true
}

// fetch returns the token, or one that is good for some seconds.
func (x *tokens) fetch(ctx context.Context, c *Client, another func() (token string, seconds int, err error)) (string, error) {
	if token := x.current(c); token != "" {
		return token, nil
	}
	select {
	case x.fetching <- struct{}{}:
		defer func() { <-x.fetching }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if token := x.current(c); token != "" {
		return token, nil
	}
	token, seconds, err := another()
	if err != nil {
		return "", err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.token, x.until = token, until(c, seconds)
	return token, nil
}

// exchanged is an access key, and the token that stands in for it.
type exchanged struct {
	tokens
	key string
}

func (x *exchanged) get(ctx context.Context, c *Client) (key, token string, err error) {
	token, err = x.fetch(ctx, c, func() (string, int, error) {
		got, err := companyToken(ctx, c, x.key)
		if err != nil {
			return "", 0, err
		}
		return got.AccessToken, got.ExpiresIn, nil
	})
	return "", token, err
}

// companyToken exchanges a key for a token.
func companyToken(ctx context.Context, c *Client, key string) (*CompanyToken, error) {
	var got CompanyToken
	reply, err := c.Do(ctx, Call{
		Method: http.MethodPost, Path: Prefix + "auth/company", Safe: true, Out: &got, header: http.Header{"X-Access-Key": {key}},
	})
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
	tokens
	email, password string
	refresh         string // used by whoever fetches
}

// get returns the access token of the session; it renews the session, or signs in where that is refused.
func (s *signedIn) get(ctx context.Context, c *Client) (key, token string, err error) {
	token, err = s.fetch(ctx, c, func() (string, int, error) {
		var got *Session
		var err error
		if s.refresh != "" {
			if got, err = c.Users().Refresh(ctx, s.refresh); err != nil && !errors.Is(err, Unauthorized) {
				return "", 0, err
			}
		}
		if got == nil {
			if got, err = c.Users().SignIn(ctx, s.email, s.password); err != nil {
				return "", 0, err
			}
		}
		s.refresh = got.RefreshToken
		return got.AccessToken, got.ExpiresIn, nil
	})
	return "", token, err
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
	return get[Session](ctx, x.c, Call{
		Method: http.MethodPost, Path: Prefix + "auth/refresh", Body: map[string]string{"refresh_token": refreshToken},
	})
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
