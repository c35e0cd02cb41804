package api

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/httpio"
	"carillon/internal/jsonbody"
)

// signIn are the endpoints of sessions, tokens and keys (docs/reference/signing-in.md).
type signIn struct {
	auth    *auth.Auth
	proxies []netip.Prefix // trusted proxies
}

func (s signIn) routes() []httpio.Route {
	return []httpio.Route{
		{Pattern: "POST " + prefix + "/auth", Access: "none", MaxBody: maxCredentials, Handle: s.passwordGrant},
		{Pattern: "POST " + prefix + "/auth/refresh", Access: "none", MaxBody: maxCredentials, Handle: s.refresh},
		route("POST "+prefix+"/auth/company", "company", s.companyToken),
		route("POST "+prefix+"/auth/logout", "user", s.signOut),
		route("GET "+prefix+"/auth/user", "user", s.user),
		route("POST "+prefix+"/api_keys", "user", s.apiKeys),
		route("GET /.well-known/jwks.json", "none", s.publicKeys),
	}
}

// maxCredentials is the limit of bodies that need no credential.
const maxCredentials = 16 << 10

// sessionResponse is a session; clients rely on the order of its keys.
type sessionResponse struct {
	AccessToken  string     `json:"access_token"`
	TokenType    string     `json:"token_type"`
	ExpiresIn    int        `json:"expires_in"`
	ExpiresAt    int64      `json:"expires_at"`
	RefreshToken string     `json:"refresh_token"`
	User         *auth.User `json:"user"`
}

const bearerType = "bearer"

func writeSession(w http.ResponseWriter, x *auth.Session) error {
	return httpio.JSON(w, http.StatusOK, sessionResponse{
		x.AccessToken, bearerType, x.ExpiresIn, x.ExpiresAt.Unix(), x.RefreshToken, x.User,
	})
}

func (s signIn) passwordGrant(w http.ResponseWriter, r *http.Request) error {
	if err := checkGrantType(r); err != nil {
		return err
	}
	o, err := bodyObject(w, r)
	if err != nil {
		return err
	}
	email, err := requiredText(o, "email")
	if err != nil {
		return err
	}
	password, err := requiredSecret(o, "password")
	if err != nil {
		return err
	}
	session, err := s.auth.SignIn(r.Context(), strings.TrimSpace(email), password, httpio.ClientAddress(r, s.proxies))
	if err != nil {
		return err
	}
	return writeSession(w, session)
}

// checkGrantType checks grant_type, which has one value.
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

func bodyObject(w http.ResponseWriter, r *http.Request) (*jsonbody.Object, error) {
	body, err := httpio.Body(w, r)
	if err != nil {
		return nil, err
	}
	return jsonbody.Parse(body)
}

// requiredText reads a string that must be present and not blank.
func requiredText(o *jsonbody.Object, field string) (string, error) {
	text, _, err := o.String(field, field)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(text) == "" {
		return "", carillon.Missing(field)
	}
	return text, nil
}

// requiredSecret is requiredText for values that no error may show.
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

func (s signIn) refresh(w http.ResponseWriter, r *http.Request) error {
	o, err := bodyObject(w, r)
	if err != nil {
		return err
	}
	token, err := requiredSecret(o, "refresh_token")
	if err != nil {
		return err
	}
	session, err := s.auth.Refresh(r.Context(), token)
	if err != nil {
		return err
	}
	return writeSession(w, session)
}

// companyToken exchanges an access key, in the query or in X-Access-Key, for a company token. A company token is not
// accepted, because it could then renew itself forever.
func (s signIn) companyToken(w http.ResponseWriter, r *http.Request) error {
	key := accessKey(r)
	if header := r.Header.Get("X-Access-Key"); !key.Present && header != "" {
		key = auth.PresentedKey{Key: header, Present: true}
	}
	p, err := s.auth.Principal(r.Context(), key, "")
	if err != nil {
		return err
	}
	httpio.SetCompany(r.Context(), p.Company.ID)
	if p.Company.Suspended {
		return carillon.Denied("The company is suspended")
	}
	t, err := s.auth.CompanyToken(r.Context(), p)
	if err != nil {
		return err
	}
	type company struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	return httpio.JSON(w, http.StatusOK, struct {
		AccessToken string  `json:"access_token"`
		TokenType   string  `json:"token_type"`
		ExpiresIn   int     `json:"expires_in"`
		ExpiresAt   int64   `json:"expires_at"`
		Company     company `json:"company"`
	}{t.AccessToken, bearerType, t.ExpiresIn, t.ExpiresAt.Unix(), company{p.Company.ID, p.Company.Name}})
}

// caller returns the user whose access token a request carries.
func (s signIn) caller(r *http.Request) (*auth.Caller, error) {
	return s.auth.Caller(r.Context(), r.Header.Get("Authorization"))
}

func (s signIn) signOut(w http.ResponseWriter, r *http.Request) error {
	c, err := s.caller(r)
	if err != nil {
		return err
	}
	if err := s.auth.SignOut(r.Context(), c); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s signIn) user(w http.ResponseWriter, r *http.Request) error {
	c, err := s.caller(r)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, c.User())
}

// keyRecord is a company's access key; clients rely on the order of its keys.
type keyRecord struct {
	CompanyID   string  `json:"company_id"`
	Key         string  `json:"key"`
	IsActive    bool    `json:"is_active"`
	LastUsed    *string `json:"last_used"`
	CompanyName string  `json:"company_name"`
}

func (s signIn) apiKeys(w http.ResponseWriter, r *http.Request) error {
	c, err := s.caller(r)
	if err != nil {
		return err
	}
	keys, err := s.auth.Keys(r.Context(), c)
	if err != nil {
		return err
	}
	records := make([]keyRecord, 0, len(keys))
	for _, k := range keys {
		record := keyRecord{CompanyID: k.Company.ID, Key: k.Key.Key, IsActive: true, CompanyName: k.Company.Name}
		if !k.Key.LastUsed.IsZero() {
			at := carillon.FormatTime(k.Key.LastUsed)
			record.LastUsed = &at
		}
		records = append(records, record)
	}
	return httpio.JSON(w, http.StatusOK, struct {
		ValidAPIKeys []keyRecord `json:"validApiKeys"`
	}{records})
}

// keySetMaxAge is how long a verifier may cache the key set; a new key is published a day before it signs.
const keySetMaxAge = 10 * time.Minute

// publicKeys responds with the key set that verifies tokens (RFC 7517).
func (s signIn) publicKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := s.auth.PublicKeys(r.Context())
	if err != nil {
		return err
	}
	return httpio.Public(w, keySetMaxAge, struct {
		Keys []auth.JWK `json:"keys"`
	}{keys})
}
