package account_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/edge/panel/account"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

func TestNoNextLeadsToAnotherSite(t *testing.T) {
	for _, next := range paneltest.HostileNexts {
		if got := account.OwnPath(next); got != "" {
			t.Errorf("%q is followed: %q", next, got)
		}
	}
	for _, next := range []string{"/keys", "/inbox/1?company=2", "/notifications?from=2026-01-01T00%3A00"} {
		if got := account.OwnPath(next); got != next {
			t.Errorf("%q is not: %q", next, got)
		}
	}
}

func TestALinksSecretIsNotGuessed(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	link := w.Invite(w.As("owner@acme.test"), "vera@acme.test", "viewer")
	paths := []string{"/panel/v1/invitation", "/panel/v1/invitation/accept", "/panel/v1/forgotten/password"}
	body := func(token string) string {
		return `{"token":"` + token + `","password":"` + paneltest.Password + `","name":"Eve"}`
	}
	limited := 0
	for i := range 2 * account.LinkTries { // a new minute may begin in between
		body := body(fmt.Sprintf("guess-%d", i))
		path := paths[i%3]
		switch path {
		case paths[0]:
			body = fmt.Sprintf(`{"token":"guess-%d"}`, i)
		case paths[2]:
			body = fmt.Sprintf(`{"token":"guess-%d","password":"%s"}`, i, paneltest.Password)
		}
		switch rec := w.Page("POST", path, "", body); rec.Code {
		case http.StatusUnauthorized:
		case http.StatusTooManyRequests:
			limited++
		default:
			t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
	if limited == 0 {
		t.Errorf("%d guesses are not limited", 2*account.LinkTries)
	}
	if rec := w.Page("POST", paths[1], "", body(link)); rec.Code != http.StatusTooManyRequests && limited == account.LinkTries {
		t.Errorf("and the right one after them: %d", rec.Code)
	}
}

func TestAnInvitationEndsWithTheRightOfWhoInvited(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	owner := w.As("owner@acme.test")
	secret := func(path, role string) (made string, lose func()) {
		t.Helper()
		w.Want(
			"POST", "/panel/v1/users", owner, `{"email":"`+path+`@acme.test","password":"`+paneltest.Password+`","role":"admin"}`, 201,
			"", "",
		)
		by := path + "@acme.test"
		made = w.Invite(w.As(by), path+"-friend@acme.test", role)
		return made, func() {
			t.Helper()
			switch path {
			case "demoted":
				w.Want("PATCH", "/panel/v1/users/"+w.ID(by), owner, `{"role":"developer"}`, 204, "", "")
			case "removed":
				w.Want("DELETE", "/panel/v1/users/"+w.ID(by), owner, "", 204, "", "")
			case "moved": // through a set-up, which needs no consent
				join(w, by, w.CompanyOf("other"), "owner")
				w.Want("DELETE", "/panel/v1/users/"+w.ID(by)+"?company="+acme.ID, owner, "", 204, "", "")
			}
		}
	}
	for _, path := range []string{"demoted", "removed", "moved"} {
		link, lose := secret(path, "admin")
		invitation(w, link, http.StatusOK)
		lose()
		if e := invitation(w, link, http.StatusUnauthorized); e["details"].(map[string]any)["reason"] != "invalid" {
			t.Error(path, e)
		}
		if rec := w.Accept(link, ""); rec.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
	for _, row := range w.Want("GET", "/panel/v1/invitations", owner, "", 200, "", "")["data"].([]any) {
		row := row.(map[string]any)
		if row["expired"] != true {
			t.Errorf("the list shows it as good: %v", row)
		}
		// Another member with the permission sends the invitation again, which makes it valid again.
		w.Want("POST", "/panel/v1/invitations/"+row["id"].(string)+"/resend", owner, `{}`, 200, "", "")
		_, link := w.Post.Last(t)
		invitation(w, link, http.StatusOK)
	}
}

func TestAnInvitationIsNoBackDoor(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner := w.As("owner@acme.test")

	// The invited person joins another way in the meantime, with a lower role: the link makes them neither a member
	// twice nor an admin.
	link := w.Invite(owner, "vera@acme.test", "admin")
	w.Want("POST", "/panel/v1/users", owner, `{"email":"vera@acme.test","password":"`+paneltest.Password+`","role":"viewer"}`, 201, "", "")
	if rec := w.Accept(link, ""); rec.Code != http.StatusConflict {
		t.Errorf("an account created in the meantime: %d %s", rec.Code, rec.Body)
	}
	prove(w, "vera@acme.test")
	// the account is proved now, so the link requires its sign-in
	if rec := w.Accept(link, ""); rec.Code != http.StatusUnauthorized {
		t.Errorf("an account that is proved: %d %s", rec.Code, rec.Body)
	}
	vera := paneltest.SignedIn(w, "vera@acme.test")
	rec := w.Accept(link, vera.Cookie.Name+"="+vera.Cookie.Value)
	if _, got := vera.Send("GET", "/panel/v1/session", ""); rec.Code != http.StatusConflict ||
		got["companies"].([]any)[0].(map[string]any)["role"] != "viewer" {
		t.Errorf("a member: %d %s, %v", rec.Code, rec.Body, got)
	}

	// An invitation accepted in a browser that is signed in with another account does not affect that account.
	stranger := paneltest.SignedIn(w, "owner@other.test")
	link = w.Invite(owner, "new@acme.test", "viewer")
	w.Accept(link, stranger.Cookie.Name+"="+stranger.Cookie.Value)
	if status, got := stranger.Send("GET", "/panel/v1/session", ""); status == http.StatusOK && len(got["companies"].([]any)) != 1 {
		t.Errorf("the stranger's session became a member of %v", got["companies"])
	}
	if rec := w.Accept(link, ""); rec.Code != http.StatusUnauthorized {
		t.Errorf("a link that was used: %d", rec.Code)
	}
	// A password link does not work as an invitation, or vice versa.
	w.Want("POST", "/panel/v1/users/"+w.ID("viewer@acme.test")+"/password-link", owner, `{}`, 200, "", "")
	_, password := w.Post.Last(t)
	if rec := w.Accept(password, ""); rec.Code != http.StatusUnauthorized {
		t.Errorf("a password's link as an invitation: %d", rec.Code)
	}
	link = w.Invite(owner, "late@acme.test", "viewer")
	if rec := w.Page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+link+`","password":"`+paneltest.Password+
		`"}`); rec.Code != http.StatusUnauthorized {
		t.Errorf("an invitation's as a password's: %d", rec.Code)
	}
}

func TestALatePasswordLinkIsRefused(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	now := time.Now()
	if err := w.Store.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutPasswordLink(
			ctx, tx,
			accounts.PasswordLink{AccountID: w.ID("viewer@acme.test"), CreatedAt: now.Add(-2 * time.Hour), ExpiresAt: now.Add(-time.Hour)},
			"late-secret",
		)
	}); err != nil {
		t.Fatal(err)
	}
	rec := w.Page("POST", "/panel/v1/forgotten/password", "", `{"token":"late-secret","password":"`+otherPassword+`"}`)
	if rec.Code != http.StatusUnauthorized || !strings.Contains(rec.Body.String(), "expired") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	w.As("viewer@acme.test") // with the unchanged password
}
