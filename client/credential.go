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

// credential authenticates calls.
type credential interface {
	// get returns a key for the query, or a token.
	get(ctx context.Context, c *Client) (key, token string, err error)
	// renew drops a refused token, and reports whether another one can be obtained.
	renew(refused string) bool
}

type nobody struct{}

func (nobody) get(context.Context, *Client) (key, token string, err error) { return "", "", nil }
func (nobody) renew(string) bool                                           { return false }

// missing names a credential that the client lacks.
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

// renewBefore is the remaining validity at which a token is renewed.
const renewBefore = time.Minute

// until returns when a token that is valid for some seconds must be renewed. It uses only the local clock.
func until(c *Client, seconds int) time.Time {
	return c.now().Add(time.Duration(seconds)*time.Second - renewBefore)
}

// tokens caches a token until it must be renewed. Concurrent callers wait for a single request.
type tokens struct {
	fetching chan struct{} // semaphore of the fetching caller

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

// renew drops the token, unless it was already replaced.
func (x *tokens) renew(refused string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.token == refused {
		x.token = ""
	}
	return true
}

// fetch returns the cached token, or obtains one with another, which also returns its validity in seconds.
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

// exchanged is an access key, with the token obtained for it.
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

// KeyOf looks up the company and the scopes of an access key.
func (c *Client) KeyOf(ctx context.Context, key string) (*Key, error) {
	got, err := companyToken(ctx, c, key)
	if err != nil {
		return nil, err
	}
	return &Key{CompanyID: got.Company.ID, CompanyName: got.Company.Name, Scopes: got.Scopes}, nil
}

// Key describes an access key.
type Key struct {
	CompanyID, CompanyName string
	Scopes                 []string // * allows everything
}

// Allows reports whether the key has one of the scopes.
func (k *Key) Allows(scopes ...string) bool {
	return slices.ContainsFunc(k.Scopes, func(s string) bool { return s == "*" || slices.Contains(scopes, s) })
}

// signedIn is a user's session.
type signedIn struct {
	tokens
	email, password string
	refresh         string // only used by the fetching caller
}

// get returns the access token of the session. It renews the session, or signs in if that is refused.
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

// Users has the methods for users.
type Users struct{ c *Client }

// Users returns the methods for users.
func (c *Client) Users() Users { return Users{c} }

// SignIn begins a session of a user. A client with WithSignIn signs in automatically.
func (x Users) SignIn(ctx context.Context, email, password string) (*Session, error) {
	return get[Session](ctx, x.c, Call{
		Method: http.MethodPost, Path: Prefix + "auth", Query: url.Values{"grant_type": {"password"}}, Safe: true,
		Body: map[string]string{"email": email, "password": password},
	})
}

// Refresh renews a session. A refresh token can be used once.
func (x Users) Refresh(ctx context.Context, refreshToken string) (*Session, error) {
	return get[Session](ctx, x.c, Call{
		Method: http.MethodPost, Path: Prefix + "auth/refresh", Body: map[string]string{"refresh_token": refreshToken},
	})
}

// SignOut ends the session of a client with WithSignIn or WithUserToken.
func (x Users) SignOut(ctx context.Context) error {
	_, err := x.c.Do(ctx, Call{Method: http.MethodPost, Path: Prefix + "auth/logout", As: User})
	return err
}

// Me returns the user of the session.
func (x Users) Me(ctx context.Context) (*Account, error) {
	return get[Account](ctx, x.c, Call{Method: http.MethodGet, Path: Prefix + "auth/user", As: User})
}

// AccessKeys returns the active keys visible to the user.
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
