package ssotest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Form is a kind of server: the parts of its discovery document and claims that differ between servers.
type Form struct {
	Path   string         // path of the issuer: empty, or with a trailing slash if the server's issuers have one
	Server map[string]any // changes to the discovery document; nil removes a standard entry
	Claims map[string]any // claims of its tokens
	Info   map[string]any // claims of the userinfo
	Signs  bool           // the userinfo is signed
	Forged bool           // with a key that is not the server's
	Keys   []any          // keys in its key set before its own
}

// Issuer is a single sign-on server that signs every visitor in as the person of its form.
type Issuer struct {
	URL      string // the issuer
	ClientID string // audience of its tokens

	mu    sync.Mutex
	form  Form
	nonce string
	more  map[string]any // additional claims of the next tokens
	keys  []*rsa.PrivateKey
}

// Open runs a server of a form until the test ends.
func Open(t testing.TB, f Form) *Issuer {
	t.Helper()
	x := &Issuer{ClientID: "carillon", form: f, keys: []*rsa.PrivateKey{first(t)}}
	s := httptest.NewServer(x)
	t.Cleanup(s.Close)
	x.URL = s.URL + f.Path
	return x
}

// firstKey is shared by all servers, because generating a key is slow.
var firstKey = sync.OnceValues(newKey) //nolint:gochecknoglobals // read-only

func newKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }

func first(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := firstKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Rotate makes the server sign with a new key from now on.
func (x *Issuer) Rotate(t testing.TB) {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.keys = append(x.keys, key)
}

// Say adds claims to the next tokens. nil removes a claim.
func (x *Issuer) Say(claims map[string]any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.more = claims
}

// ServeHTTP implements http.Handler.
func (x *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	root := strings.TrimRight(x.URL, "/")
	host := strings.TrimSuffix(x.URL, x.form.Path)
	var body map[string]any
	switch host + r.URL.Path {
	case root + "/.well-known/openid-configuration":
		body = with(map[string]any{
			"issuer": x.URL, "authorization_endpoint": host + "/authorize", "token_endpoint": host + "/token",
			"userinfo_endpoint": host + "/userinfo", "jwks_uri": host + "/keys",
			"response_types_supported": []string{"code"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		}, x.form.Server)
	case host + "/keys":
		body = map[string]any{"keys": append(slices.Clip(x.form.Keys), public(x.keys[len(x.keys)-1], len(x.keys)))}
	case host + "/authorize":
		q := r.URL.Query()
		x.nonce = q.Get("nonce")
		answer := url.Values{"state": {q.Get("state")}, "code": {"code"}}
		//nolint:gosec // a stand-in for tests
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
		return
	case host + "/token":
		now := time.Now()
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims(with(with(map[string]any{
			"iss": x.URL, "aud": x.ClientID, "nonce": x.nonce, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		}, x.form.Claims), x.more)))
		token.Header["kid"] = strconv.Itoa(len(x.keys))
		signed, err := token.SignedString(x.keys[len(x.keys)-1])
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body = map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 3600, "id_token": signed}
	case host + "/userinfo":
		if body = x.form.Info; x.form.Signs {
			x.sign(w, body)
			return
		}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// sign responds with a signed userinfo.
func (x *Issuer) sign(w http.ResponseWriter, info map[string]any) {
	key := x.keys[len(x.keys)-1]
	if x.form.Forged {
		var err error
		if key, err = newKey(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims(info))
	token.Header["kid"] = strconv.Itoa(len(x.keys))
	signed, err := token.SignedString(key)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/jwt; charset=utf-8")
	_, _ = w.Write([]byte(signed))
}

// with adds members to an object. nil removes a member.
func with(all, more map[string]any) map[string]any {
	for name, value := range more {
		if value == nil {
			delete(all, name)
			continue
		}
		all[name] = value
	}
	return all
}

func public(key *rsa.PrivateKey, n int) map[string]any {
	encode := base64.RawURLEncoding.EncodeToString
	return map[string]any{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": strconv.Itoa(n),
		"n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes()),
	}
}

// Visit follows the URL of a sign-in like a browser, and returns the URL to which the server redirects back.
func Visit(t testing.TB, address string) *url.URL {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(mustRequest(t, http.MethodGet, address, nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	return back
}
