package panel

import (
	"log/slog"
	"strings"
	"testing"

	"carillon/internal/account/sso"
	"carillon/internal/account/sso/ssotest"
	"carillon/internal/edge/panel/member"
)

// Entra ID never says whether an e-mail is verified: nobody is known by one unless the operator trusts the server's.
func TestAnEmailThatIsNotSaidToBeVerifiedCountsWhereTheOperatorTrustsIt(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	const email = "new@acme.test"
	made := `{"email":"` + email + `","password":"` + goodPassword + `","name":"New","role":"teammate"}`
	w.want("POST", "/panel/v1/users", w.as("owner@acme.test"), made, 201, "", "")
	x := ssotest.Open(t, ssotest.EntraID())
	trust := func(trust bool) {
		w.sso.Server = sso.New(sso.Options{Issuer: x.URL, ClientID: x.ClientID, TrustEmails: trust, Log: slog.New(slog.DiscardHandler)})
	}
	signIn := func() (to, session string) {
		t.Helper()
		begun := w.page("GET", "/panel/v1/sso", "", "")
		back := ssotest.Visit(t, begun.Header().Get("Location"))
		rec := w.page("GET", "/panel/v1/sso/callback?"+back.RawQuery, cookieOf(begun, attemptCookie), "")
		return rec.Header().Get("Location"), cookieOf(rec, member.SessionCookie)
	}
	const stranger = "/panel/sign-in?sso=stranger"
	x.Say(map[string]any{"email": email})
	trust(false)
	if to, _ := signIn(); to != stranger {
		t.Errorf("without trust: %s", to)
	}
	trust(true)
	for said, want := range map[any]string{false: stranger, "false": stranger} {
		x.Say(map[string]any{"email": email, "email_verified": said})
		if to, _ := signIn(); to != want {
			t.Errorf("said to be unverified (%v): %s", said, to)
		}
	}
	x.Say(map[string]any{"email": email})
	to, session := signIn()
	if got := w.page("GET", "/panel/v1/session", session, ""); to != "/panel" || !strings.Contains(got.Body.String(), email) {
		t.Errorf("with trust: %s, %s", to, got.Body)
	}
	// The account was made by somebody else: nobody signs in with its password any more.
	if err := w.signIn(email, goodPassword); err == nil {
		t.Error("the password still signs in")
	}
	// Another subject with the same e-mail does not take the account over; the first one is known without its e-mail.
	x.Say(map[string]any{"email": email, "sub": "somebody else"})
	if to, _ := signIn(); to != stranger {
		t.Errorf("another subject: %s", to)
	}
	trust(false)
	x.Say(map[string]any{"email": nil})
	if to, _ := signIn(); to != "/panel" {
		t.Errorf("known by its subject: %s", to)
	}
}
