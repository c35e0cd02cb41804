package sso_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"carillon/internal/account/sso"
)

// issuer is a single sign-on server that returns the token of a test for any code.
type issuer struct {
	*httptest.Server
	key    *rsa.PrivateKey
	claims jwt.MapClaims // claims of its next token
	info   map[string]any
	signer *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	x := &issuer{key: key, signer: key}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond := map[string]func() any{
			"/.well-known/openid-configuration": func() any {
				return map[string]any{
					"issuer": x.URL, "authorization_endpoint": x.URL + "/authorize", "token_endpoint": x.URL + "/token",
					"userinfo_endpoint": x.URL + "/userinfo", "jwks_uri": x.URL + "/keys",
					"id_token_signing_alg_values_supported": []string{"RS256"},
				}
			},
			"/keys": func() any {
				encode := base64.RawURLEncoding.EncodeToString
				public := map[string]string{
					"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "n": encode(key.N.Bytes()),
					"e": encode(big.NewInt(int64(key.E)).Bytes()),
				}
				return map[string]any{"keys": []any{public}}
			},
			"/token": func() any {
				token := jwt.NewWithClaims(jwt.SigningMethodRS256, x.claims)
				token.Header["kid"] = "one"
				signed, err := token.SignedString(x.signer)
				if err != nil {
					t.Error(err)
				}
				return map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": signed}
			},
			"/userinfo": func() any { return x.info },
		}[r.URL.Path]
		if respond == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(respond())
	}))
	t.Cleanup(x.Close)
	return x
}

func TestATokenIsForThisProgramFromItsServerAndOfNow(t *testing.T) {
	t.Parallel()
	x := newIssuer(t)
	another, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := sso.New(sso.Options{Issuer: x.URL, ClientID: "carillon", Log: slog.New(slog.DiscardHandler)})
	for name, c := range map[string]struct {
		change func(claims jwt.MapClaims)
		signer *rsa.PrivateKey
		good   bool
	}{
		"as it should be":         {func(jwt.MapClaims) {}, x.key, true},
		"for it among others":     {func(claims jwt.MapClaims) { claims["aud"] = []string{"shop", "carillon"} }, x.key, true},
		"for another application": {func(claims jwt.MapClaims) { claims["aud"] = "shop" }, x.key, false},
		"of another server":       {func(claims jwt.MapClaims) { claims["iss"] = "https://login.example.com" }, x.key, false},
		"expired":                 {func(claims jwt.MapClaims) { claims["exp"] = time.Now().Add(-time.Hour).Unix() }, x.key, false},
		"signed by another key":   {func(jwt.MapClaims) {}, another, false},
		"without a subject":       {func(claims jwt.MapClaims) { delete(claims, "sub") }, x.key, false},
		"with an empty subject":   {func(claims jwt.MapClaims) { claims["sub"] = "" }, x.key, false},
		"with a blank subject":    {func(claims jwt.MapClaims) { claims["sub"] = " " }, x.key, false},
		"with a subject of null":  {func(claims jwt.MapClaims) { claims["sub"] = nil }, x.key, false},
		"with a number":           {func(claims jwt.MapClaims) { claims["sub"] = 7 }, x.key, false},
		"with a NUL":              {func(claims jwt.MapClaims) { claims["sub"] = "a\x00" }, x.key, false},
		"with a long subject":     {func(claims jwt.MapClaims) { claims["sub"] = strings.Repeat("a", 256) }, x.key, false},
	} {
		a, state := x.begin(t, s)
		x.signer = c.signer
		c.change(x.claims)
		p, err := s.Finish(t.Context(), a, back, state, "code")
		if good := err == nil; good != c.good || !good && !errors.Is(err, sso.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// begin starts a sign-in whose token has valid claims. It returns the attempt and its state.
func (x *issuer) begin(t *testing.T, s *sso.Server) (a sso.Attempt, state string) {
	t.Helper()
	a, address, err := s.Begin(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	x.claims, x.signer = jwt.MapClaims{
		"iss": x.URL, "aud": "carillon", "sub": "ana", "email": "ana@example.org", "nonce": u.Query().Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}, x.key
	return a, u.Query().Get("state")
}

func TestAnEmailIsVerifiedOnlyWhereItIsSaid(t *testing.T) {
	t.Parallel()
	x := newIssuer(t)
	s := sso.New(sso.Options{Issuer: x.URL, ClientID: "carillon", Log: slog.New(slog.DiscardHandler)})
	for name, c := range map[string]struct {
		claims, info map[string]any
		want         bool
	}{
		"in the token":                       {map[string]any{"email": "ana@example.org", "email_verified": true}, nil, true},
		"not at all":                         {map[string]any{"email": "ana@example.org"}, nil, false},
		"in the userinfo":                    {nil, map[string]any{"email": "ana@example.org", "email_verified": true}, true},
		"in the token, and the e-mail later": {map[string]any{"email_verified": true}, map[string]any{"email": "cfo@example.org"}, false},
	} {
		a, state := x.begin(t, s)
		delete(x.claims, "email")
		maps.Copy(x.claims, c.claims)
		x.info = map[string]any{"sub": "ana"}
		maps.Copy(x.info, c.info)
		if p, err := s.Finish(t.Context(), a, back, state, "code"); err != nil || p.Verified != c.want || p.Email == "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}
