package account_test

import (
	"log/slog"
	"strings"
	"testing"

	"carillon/internal/account/sso"
	"carillon/internal/account/sso/ssotest"
	"carillon/internal/edge/panel/account"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/paneltest"
)

// Entra ID never reports whether an e-mail address is verified. It identifies no one unless the operator trusts the
// server's addresses.
func TestAnEmailThatIsNotSaidToBeVerifiedCountsWhereTheOperatorTrustsIt(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	const email = "new@acme.test"
	made := `{"email":"` + email + `","password":"` + paneltest.Password + `","name":"New","role":"teammate"}`
	w.Want("POST", "/panel/v1/users", w.As("owner@acme.test"), made, 201, "", "")
	x := ssotest.Open(t, ssotest.EntraID())
	trust := func(trust bool) {
		w.SSO.Server = sso.New(sso.Options{Issuer: x.URL, ClientID: x.ClientID, TrustEmails: trust, Log: slog.New(slog.DiscardHandler)})
	}
	visit := func() (to, session string) {
		t.Helper()
		begun := w.Page("GET", "/panel/v1/sso", "", "")
		back := ssotest.Visit(t, begun.Header().Get("Location"))
		rec := w.Page("GET", "/panel/v1/sso/callback?"+back.RawQuery, cookieOf(begun, account.AttemptCookie), "")
		return rec.Header().Get("Location"), cookieOf(rec, member.SessionCookie)
	}
	const stranger = "/panel/sign-in?sso=stranger"
	x.Say(map[string]any{"email": email})
	trust(false)
	if to, _ := visit(); to != stranger {
		t.Errorf("without trust: %s", to)
	}
	trust(true)
	for said, want := range map[any]string{false: stranger, "false": stranger} {
		x.Say(map[string]any{"email": email, "email_verified": said})
		if to, _ := visit(); to != want {
			t.Errorf("said to be unverified (%v): %s", said, to)
		}
	}
	x.Say(map[string]any{"email": email})
	to, session := visit()
	if got := w.Page("GET", "/panel/v1/session", session, ""); to != "/panel" || !strings.Contains(got.Body.String(), email) {
		t.Errorf("with trust: %s, %s", to, got.Body)
	}
	// The account was created by someone else, so its password must stop working.
	if err := signIn(w, email, paneltest.Password); err == nil {
		t.Error("the password still signs in")
	}
	// Another subject with the same address cannot take over the account. The first subject is recognized without its
	// address.
	x.Say(map[string]any{"email": email, "sub": "somebody else"})
	if to, _ := visit(); to != stranger {
		t.Errorf("another subject: %s", to)
	}
	trust(false)
	x.Say(map[string]any{"email": nil})
	if to, _ := visit(); to != "/panel" {
		t.Errorf("recognized by its subject: %s", to)
	}
}
