package sso_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon/internal/account/sso"
	"carillon/internal/account/sso/ssotest"
)

// signIn signs a person in through a server.
func signIn(t *testing.T, s *sso.Server) (*sso.Person, error) {
	t.Helper()
	a, address, err := s.Begin(t.Context(), back)
	if err != nil {
		return nil, err
	}
	q := ssotest.Visit(t, address).Query()
	return s.Finish(t.Context(), a, back, q.Get("state"), q.Get("code"))
}

func serverOf(issuer string, trust bool) *sso.Server {
	return sso.New(sso.Options{
		Issuer: issuer, ClientID: "carillon", ClientSecret: "a-secret", TrustEmails: trust, Log: slog.New(slog.DiscardHandler),
	})
}

func TestPeopleSignInByTheUsualServers(t *testing.T) {
	t.Parallel()
	for name, form := range ssotest.Forms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := ssotest.Open(t, form)
			for _, trust := range []bool{false, true} {
				p, err := signIn(t, serverOf(x.URL, trust))
				if err != nil || p.Subject != form.Claims["sub"] || p.Email != "ana@example.org" ||
					p.Verified != (trust || name != "Entra ID") {
					t.Errorf("with trust in e-mails %t: %+v, %v", trust, p, err)
				}
			}
		})
	}
}

// An issuer with and without its trailing slash is the same server, and its accounts have the same issuer.
func TestAnIssuerIsFoundWithAndWithoutItsSlash(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/", "/realms/acme", "/application/o/carillon/"} {
		x := ssotest.Open(t, ssotest.Form{Path: path, Claims: ssotest.Google().Claims})
		bare := strings.TrimRight(x.URL, "/")
		for _, written := range []string{bare, bare + "/"} {
			s := serverOf(written, false)
			if p, err := signIn(t, s); err != nil || !p.Verified || s.Issuer() != bare {
				t.Errorf("%s for %s: %+v, %v; known as %s", written, x.URL, p, err, s.Issuer())
			}
		}
	}
	x := ssotest.Open(t, ssotest.Form{Path: "/realms/acme", Server: map[string]any{"issuer": "https://login.example.org/realms/other"}})
	if _, err := signIn(t, serverOf(x.URL, false)); !errors.Is(err, sso.ErrDown) {
		t.Error("another server's issuer is taken:", err)
	}
}

func TestAnEmailIsVerifiedInEveryFormInWhichServersSayIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claim         any
		plain, trusts bool // whether the e-mail counts as verified, without and with TrustEmails
	}{
		{true, true, true},
		{"true", true, true},
		{false, false, false},
		{"false", false, false},
		{nil, false, true},
		{"TRUE", true, true},
		{"True", true, true},
		{"", false, false},
		{"yes", false, false},
		{1, false, false},
		{map[string]any{"value": true}, false, false},
		{[]any{true}, false, false},
		{json.RawMessage("null"), false, true},
	} {
		for where, form := range map[string]ssotest.Form{
			"token": {}, "userinfo": {Info: map[string]any{}}, "signed userinfo": {Info: map[string]any{}, Signs: true},
		} {
			said := map[string]any{"sub": "ana", "email": "ana@example.org"}
			if c.claim != nil {
				said["email_verified"] = c.claim
			}
			if form.Claims = said; form.Info != nil {
				form.Claims, form.Info = map[string]any{"sub": "ana"}, said
			}
			x := ssotest.Open(t, form)
			for trust, want := range map[bool]bool{false: c.plain, true: c.trusts} {
				if p, err := signIn(t, serverOf(x.URL, trust)); err != nil || p.Verified != want || p.Email != "ana@example.org" {
					t.Errorf("%v in the %s, with trust %t: %+v, %v", c.claim, where, trust, p, err)
				}
			}
		}
	}
}

// Claims of unexpected types are ignored, except the subject.
func TestClaimsOfOddTypesAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, odd := range []any{1, true, map[string]any{"value": "Ana"}, []any{"Ana"}} {
		inToken := ssotest.Form{Claims: map[string]any{"sub": "ana", "email": "ana@example.org", "email_verified": true, "name": odd}}
		inInfo := ssotest.Form{Claims: map[string]any{"sub": "ana", "email": odd, "name": "Ana"}, Info: maps.Clone(inToken.Claims)}
		elsewhere := ssotest.Form{Claims: inInfo.Claims, Info: with(inToken.Claims, "sub", odd)}
		for form, want := range map[*ssotest.Form]sso.Person{
			&inToken: {Subject: "ana", Email: "ana@example.org", Verified: true},
			&inInfo:  {Subject: "ana", Email: "ana@example.org", Verified: true, Name: "Ana"},
		} {
			if p, err := signIn(t, serverOf(ssotest.Open(t, *form).URL, false)); err != nil || *p != want {
				t.Errorf("%v: %+v, %v", odd, p, err)
			}
		}
		if p, err := signIn(t, serverOf(ssotest.Open(t, elsewhere).URL, false)); !errors.Is(err, sso.ErrRefused) {
			t.Errorf("a userinfo of %v: %+v, %v", odd, p, err)
		}
	}
}

func with(all map[string]any, name string, value any) map[string]any {
	all = maps.Clone(all)
	all[name] = value
	return all
}

func TestAUserinfoThatCannotBeReadEndsTheSignIn(t *testing.T) {
	t.Parallel()
	forms := map[string]ssotest.Form{"signed by somebody else": {Info: map[string]any{"sub": "ana"}, Signs: true, Forged: true}}
	for name, respond := range map[string]http.HandlerFunc{
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"a list":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`["ana"]`)) },
		"forbidden": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"sub":"ana"}`, http.StatusForbidden) },
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append([]byte(`{"sub":"ana"}`), bytes.Repeat([]byte(" "), 2<<20)...))
		},
	} {
		other := httptest.NewServer(respond)
		t.Cleanup(other.Close)
		forms[name] = ssotest.Form{Server: map[string]any{"userinfo_endpoint": other.URL}}
	}
	for name, form := range forms {
		form.Claims = map[string]any{"sub": "ana"}
		if p, err := signIn(t, serverOf(ssotest.Open(t, form).URL, true)); !errors.Is(err, sso.ErrDown) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestAKeyThatIsNotKnownHereIsIgnored(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]map[string]any{
		"a curve":              {"kty": "EC", "crv": "secp256k1", "x": "AQAB", "y": "AQAB"},
		"a curve of Brainpool": {"kty": "EC", "crv": "brainpoolP256r1", "use": "sig", "x": "AQAB", "y": "AQAB"},
		"a curve of OKP":       {"kty": "OKP", "crv": "Ed448", "x": "AQAB"},
		"a type":               {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AQAB"},
		"a type without alg":   {"kty": "LWE", "pub": "AQAB"},
		"a broken certificate": {"kty": "RSA", "n": "AQAB", "e": "AQAB", "x5c": []string{"broken"}},
		"a missing member":     {"kty": "RSA", "alg": "RS256", "e": "AQAB"},
	} {
		form := ssotest.Google()
		form.Keys = []any{maps.Clone(key)}
		x := ssotest.Open(t, form)
		if p, err := signIn(t, serverOf(x.URL, false)); err != nil || p.Email != "ana@example.org" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestATokenMayBeWrittenInManyWays(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	for name, c := range map[string]struct {
		change map[string]any
		good   bool
	}{
		"for several":                     {map[string]any{"aud": []string{"carillon", "shop"}, "azp": "carillon"}, true},
		"for it alone, as a list":         {map[string]any{"aud": []string{"carillon"}}, true},
		"with an azp":                     {map[string]any{"azp": "carillon"}, true},
		"by a clock that is ahead":        {map[string]any{"iat": at(30 * time.Second), "nbf": at(30 * time.Second)}, true},
		"by a clock that is behind":       {map[string]any{"iat": at(-30 * time.Second), "exp": at(4 * time.Minute)}, true},
		"with a subject that is a number": {map[string]any{"sub": 110169484474386276}, false},
		"for another application":         {map[string]any{"aud": []string{"shop"}, "azp": "carillon"}, false},
		"without a nonce":                 {map[string]any{"nonce": nil}, false},
	} {
		x := ssotest.Open(t, ssotest.Google())
		x.Say(c.change)
		p, err := signIn(t, serverOf(x.URL, false))
		if good := err == nil; good != c.good || !good && !errors.Is(err, sso.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestAServerWithoutUserinfoSignsInWithoutAnEmail(t *testing.T) {
	t.Parallel()
	x := ssotest.Open(t, ssotest.Form{
		Server: map[string]any{"userinfo_endpoint": nil}, Claims: map[string]any{"sub": "ana", "name": "Ana"},
	})
	if p, err := signIn(t, serverOf(x.URL, true)); err != nil || p.Subject != "ana" || p.Email != "" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestKeysMayChangeBetweenTwoSignIns(t *testing.T) {
	t.Parallel()
	x := ssotest.Open(t, ssotest.Keycloak())
	s := serverOf(x.URL, false)
	for range 3 {
		if p, err := signIn(t, s); err != nil || !p.Verified {
			t.Fatalf("%+v, %v", p, err)
		}
		x.Rotate(t)
	}
}
