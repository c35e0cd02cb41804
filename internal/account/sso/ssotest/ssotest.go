// Package ssotest runs a single sign-on server in tests: the example of Zitadel's OpenID library, with its two users.
package ssotest

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The password of both users, and the name, e-mail and subject of one.
const (
	Password = "verysecure"
	User     = "test-user2"
	Email    = "test-user2@zitadel.ch"
	Subject  = "id2"
)

// allowing guards the library's global map of clients, which all servers share.
var allowing sync.RWMutex //nolint:gochecknoglobals // guards a global map

// Allow registers a client with all servers.
func Allow(clientID, secret, redirect string) {
	allowing.Lock()
	defer allowing.Unlock()
	storage.RegisterClients(storage.WebClient(clientID, secret, redirect))
}

// Start runs a server until the test ends, and returns its issuer.
func Start(t testing.TB) string {
	t.Helper()
	var handler http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowing.RLock()
		defer allowing.RUnlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	handler = exampleop.SetupServer(s.URL, storage.NewStorage(storage.NewUserStore(s.URL)), nil, false, op.WithAllowInsecure())
	return s.URL
}

var loginForm = regexp.MustCompile(`name="id" value="([^"]+)"`)

// SignIn follows a URL of a server like a browser whose user signs in there, and returns the URL to which the server
// redirects back.
func SignIn(t testing.TB, address, user, password string) *url.URL {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	first, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var back *url.URL
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == first.Host {
			return nil
		}
		back = r.URL
		return http.ErrUseLastResponse
	}}
	page := do(t, client, mustRequest(t, http.MethodGet, address, nil))
	found := loginForm.FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no page to sign in on: %s", page)
	}
	do(t, client, mustRequest(t, http.MethodPost, first.Scheme+"://"+first.Host+"/login/username",
		url.Values{"username": {user}, "password": {password}, "id": {found[1]}}))
	if back == nil {
		t.Fatal("the server sent nobody back")
	}
	return back
}

func mustRequest(t testing.TB, method, address string, form url.Values) *http.Request {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func do(t testing.TB, client *http.Client, r *http.Request) string {
	t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
