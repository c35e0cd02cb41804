package api

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
)

// signIn serves the endpoints of sessions, tokens and keys (docs/reference/signing-in.md).
type signIn struct {
	auth    *auth.Auth
	proxies []netip.Prefix // trusted proxies
}

func (s signIn) routes() []httpio.Route {
	return []httpio.Route{
		{Pattern: "POST " + prefix + "/auth", Access: "none", MaxBody: maxCredentials, Handle: httpio.Value(s.passwordGrant)},
		{Pattern: "POST " + prefix + "/auth/refresh", Access: "none", MaxBody: maxCredentials, Handle: httpio.Value(s.refresh)},
		route("POST "+prefix+"/auth/company", "company", s.companyToken),
		s.userRoute("POST "+prefix+"/auth/logout", s.signOut),
		s.userRoute("GET "+prefix+"/auth/user", s.user),
		s.userRoute("POST "+prefix+"/api_keys", s.apiKeys),
		route("GET /.well-known/jwks.json", "none", s.publicKeys),
	}
}

// userRoute returns a route that requires a user's access token.
func (s signIn) userRoute(pattern string, handle func(ctx context.Context, c *auth.Caller) (any, error)) httpio.Route {
	return route(pattern, "user", httpio.Value(func(r *http.Request) (any, error) {
		c, err := s.auth.Caller(r.Context(), r.Header.Get("Authorization"))
		if err != nil {
			return nil, err
		}
		return handle(r.Context(), c)
	}))
}

// maxCredentials limits request bodies on routes without a credential.
const maxCredentials = 16 << 10

// sessionResponse is a session. Clients rely on the order of its keys.
type sessionResponse struct {
	AccessToken  string     `json:"access_token"`
	TokenType    string     `json:"token_type"`
	ExpiresIn    int        `json:"expires_in"`
	ExpiresAt    int64      `json:"expires_at"`
	RefreshToken string     `json:"refresh_token"`
	User         *auth.User `json:"user"`
}

const bearerType = "bearer"

func responseOf(x *auth.Session, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return sessionResponse{x.AccessToken, bearerType, x.ExpiresIn, x.ExpiresAt.Unix(), x.RefreshToken, x.User}, nil
}

func (s signIn) passwordGrant(r *http.Request) (any, error) {
	if err := checkGrantType(r); err != nil {
		return nil, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	email, err := o.Find("email").Required("email")
	if err != nil {
		return nil, err
	}
	password, err := requiredSecret(o, "password")
	if err != nil {
		return nil, err
	}
	code, _, err := o.String("code", "code")
	if err != nil {
		return nil, err
	}
	with := auth.Credentials{Email: strings.TrimSpace(email), Password: password, Code: code}
	return responseOf(s.auth.SignIn(r.Context(), with, httpio.ClientAddress(r, s.proxies)))
}

// checkGrantType checks grant_type, which has a single valid value.
func checkGrantType(r *http.Request) error {
	const field, only = "grant_type", "password"
	given := r.URL.Query()[field]
	switch {
	case len(given) == 0 || given[0] == "":
		return carillon.Missing(field)
	case len(given) > 1 || given[0] != only:
		return carillon.InvalidValue(field, "Only "+only+" is supported", carillon.Shorten(given[0]))
	}
	return nil
}

// requiredSecret reads a required string that must not appear in errors.
func requiredSecret(o *jsonbody.Object, field string) (string, error) {
	text, _, err := o.String(field, field)
	if err != nil {
		return "", carillon.BadFormat(field, "(not shown)", "string", "text")
	}
	if strings.TrimSpace(text) == "" {
		return "", carillon.Missing(field)
	}
	return text, nil
}

func (s signIn) refresh(r *http.Request) (any, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	token, err := requiredSecret(o, "refresh_token")
	if err != nil {
		return nil, err
	}
	return responseOf(s.auth.Refresh(r.Context(), token))
}

// companyToken exchanges an access key, from the query or from X-Access-Key, for a company token. It does not accept a
// company token, which could then renew itself forever. A response header lists the scopes of the key.
func (s signIn) companyToken(w http.ResponseWriter, r *http.Request) error {
	key := accessKey(r)
	if header := r.Header.Get("X-Access-Key"); !key.Present && header != "" {
		key = auth.PresentedKey{Key: header, Present: true}
	}
	p, err := s.auth.Principal(r.Context(), key, "")
	if err != nil {
		nameKey(r, err)
		return err
	}
	httpio.SetCompany(r.Context(), p.Company.ID)
	httpio.SetKey(r.Context(), p.KeyID)
	if err := p.Company.Refusal(); err != nil {
		return err
	}
	t, err := s.auth.CompanyToken(r.Context(), p)
	if err != nil {
		return err
	}
	type company struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	w.Header().Set("X-Access-Scopes", strings.Join(p.Scopes(), " "))
	return httpio.JSON(w, http.StatusOK, struct {
		AccessToken string  `json:"access_token"`
		TokenType   string  `json:"token_type"`
		ExpiresIn   int     `json:"expires_in"`
		ExpiresAt   int64   `json:"expires_at"`
		Company     company `json:"company"`
	}{t.AccessToken, bearerType, t.ExpiresIn, t.ExpiresAt.Unix(), company{p.Company.ID, p.Company.Name}})
}

func (s signIn) signOut(ctx context.Context, c *auth.Caller) (any, error) {
	return nil, s.auth.SignOut(ctx, c)
}

func (s signIn) user(_ context.Context, c *auth.Caller) (any, error) { return c.User(), nil }

// keyRecord is a company's access key. Clients rely on the order of its keys.
type keyRecord struct {
	CompanyID   string  `json:"company_id"`
	Key         string  `json:"key"`
	IsActive    bool    `json:"is_active"`
	LastUsed    *string `json:"last_used"`
	CompanyName string  `json:"company_name"`
}

func (s signIn) apiKeys(ctx context.Context, c *auth.Caller) (any, error) {
	keys, err := s.auth.Keys(ctx, c)
	if err != nil {
		return nil, err
	}
	records := make([]keyRecord, 0, len(keys))
	for _, k := range keys {
		records = append(records, keyRecord{k.Company.ID, k.Key.Key, true, auth.TimeOrNull(k.Key.LastUsed), k.Company.Name})
	}
	return struct {
		ValidAPIKeys []keyRecord `json:"validApiKeys"`
	}{records}, nil
}

// keySetMaxAge lets verifiers cache the key set for ten minutes. A new key is published a day before it signs.
const keySetMaxAge = "public, max-age=600"

// publicKeys responds with the key set for verifying tokens (RFC 7517).
func (s signIn) publicKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := s.auth.PublicKeys(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", keySetMaxAge)
	return httpio.JSON(w, http.StatusOK, struct {
		Keys []auth.JWK `json:"keys"`
	}{keys})
}
