package sso_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/account/sso"
	"carillon/internal/account/sso/ssotest"
)

const back = "http://panel.localhost/panel/v1/sso/callback"

func open(t *testing.T, secret string) *sso.Server {
	t.Helper()
	issuer := ssotest.Start(t)
	ssotest.Allow("carillon", "a-secret", back)
	return sso.New(sso.Options{Issuer: issuer, ClientID: "carillon", ClientSecret: secret, Log: slog.New(slog.DiscardHandler)})
}

func TestAPersonSignsIn(t *testing.T) {
	s := open(t, "a-secret")
	a, address, err := s.Begin(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	q := ssotest.SignIn(t, address, ssotest.User, ssotest.Password).Query()
	got, err := s.Finish(t.Context(), a, back, q.Get("state"), q.Get("code"))
	want := &sso.Person{Subject: ssotest.Subject, Email: ssotest.Email, Verified: true, Name: "Test User2"}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	if _, err := s.Finish(t.Context(), a, back, q.Get("state"), q.Get("code")); !errors.Is(err, sso.ErrRefused) {
		t.Errorf("the code once more: %v", err)
	}
}

func TestAnotherResponseIsRefused(t *testing.T) {
	s := open(t, "a-secret")
	for name, change := range map[string]func(a *sso.Attempt, state, code *string){
		"no attempt":       func(a *sso.Attempt, _, _ *string) { *a = sso.Attempt{} },
		"another state":    func(_ *sso.Attempt, state, _ *string) { *state += "x" },
		"no state":         func(a *sso.Attempt, state, _ *string) { a.State, *state = "", "" },
		"another verifier": func(a *sso.Attempt, _, _ *string) { a.Verifier += "x" },
		"another nonce":    func(a *sso.Attempt, _, _ *string) { a.Nonce += "x" },
		"another code":     func(_ *sso.Attempt, _, code *string) { *code = "guessed" },
	} {
		t.Run(name, func(t *testing.T) {
			a, address, err := s.Begin(t.Context(), back)
			if err != nil {
				t.Fatal(err)
			}
			q := ssotest.SignIn(t, address, ssotest.User, ssotest.Password).Query()
			state, code := q.Get("state"), q.Get("code")
			change(&a, &state, &code)
			if p, err := s.Finish(t.Context(), a, back, state, code); !errors.Is(err, sso.ErrRefused) {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

func TestAWrongSecretIsRefused(t *testing.T) {
	s := open(t, "another-secret")
	a, address, err := s.Begin(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	q := ssotest.SignIn(t, address, ssotest.User, ssotest.Password).Query()
	if p, err := s.Finish(t.Context(), a, back, q.Get("state"), q.Get("code")); !errors.Is(err, sso.ErrRefused) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestAServerThatIsDownIsTriedAgain(t *testing.T) {
	handler := http.NotFoundHandler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	defer server.Close()
	s := sso.New(sso.Options{Issuer: server.URL, ClientID: "carillon", Log: slog.New(slog.DiscardHandler)})
	if _, _, err := s.Begin(t.Context(), back); !errors.Is(err, sso.ErrDown) {
		t.Fatal(err)
	}
	handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"` + server.URL + `","authorization_endpoint":"` + server.URL + `/a","token_endpoint":"` +
			server.URL + `/t","jwks_uri":"` + server.URL + `/j"}`))
	})
	if _, _, err := s.Begin(t.Context(), back); err != nil {
		t.Error(err)
	}
}

func TestAServerThatIsSilentHoldsNobodyPastTheirContext(t *testing.T) {
	release, asked := make(chan struct{}), make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	s := sso.New(sso.Options{Issuer: server.URL, ClientID: "carillon", Log: slog.New(slog.DiscardHandler)})
	first := make(chan error, 1)
	waiting, leave := context.WithCancel(t.Context())
	go func() {
		_, _, err := s.Begin(waiting, back)
		first <- err
	}()
	<-asked // the first caller waits for the server
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Begin(gone, back); !errors.Is(err, sso.ErrDown) {
		t.Error(err)
	}
	leave()
	if err := <-first; !errors.Is(err, sso.ErrDown) {
		t.Error(err)
	}
	if n := len(asked); n != 0 {
		t.Errorf("the server was asked %d more times", n)
	}
}
