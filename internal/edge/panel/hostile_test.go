package panel

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"carillon/internal/base/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/web"
)

// forms are bodies that a page of another site can send without asking first, and what browsers say about where they come from.
func forms() (all [][]string) {
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", ""} {
		for _, from := range [][]string{
			{"Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"},
			{"Origin", "https://evil.panel.test", "Sec-Fetch-Site", "same-site"},
			{"Origin", "null", "Sec-Fetch-Site", "cross-site"},
			{},
			{"Origin", "https://panel.test", "Sec-Fetch-Site", "same-origin"},
		} {
			all = append(all, append([]string{"Content-Type", kind}, from...))
		}
	}
	// And what only a script of a page that may do so can send.
	return append(all, fromPage("Origin", "https://evil.test"), []string{member.PageHeader, "1", "Sec-Fetch-Site", "cross-site"}, []string{member.PageHeader, "1", "Origin", "null"})
}

// TestNoFormOfAnotherSiteChangesAnything takes every route of the panel that is not a GET, those to come too: even a form on the panel's
// own origin lacks the header.
func TestNoFormOfAnotherSiteChangesAnything(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	b := signedIn(w, "owner@acme.test")
	tried := 0
	for _, route := range w.routes {
		method, path, _ := strings.Cut(route.Pattern, " ")
		if method == http.MethodGet {
			continue
		}
		tried++
		path = strings.ReplaceAll(path, "{id}", "0190b4a0-0000-7000-8000-000000000001")
		for _, header := range forms() {
			if status, got := b.send(method, path, `{}`, header...); status != http.StatusForbidden || got["error"] != "forbidden" {
				t.Errorf("%s with %q: %d %v", route.Pattern, header, status, got)
			}
		}
	}
	if tried < 90 {
		t.Errorf("only %d routes were tried", tried)
	}
	if status, got := b.send("GET", "/panel/v1/session", ""); status != http.StatusOK {
		t.Error("the session:", status, got)
	}
}

// A GET changes nothing and its response stays with the panel's pages: no other origin may read it.
func TestNoOtherOriginReadsAnything(t *testing.T) {
	w := newWorld(t)
	for _, route := range w.routes {
		method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "{id}", "nothing"), " ")
		for _, method := range []string{method, http.MethodOptions} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			r.Header.Set("Origin", "https://evil.test")
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", member.PageHeader)
			rec := httptest.NewRecorder()
			w.router.ServeHTTP(rec, r)
			for name := range rec.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s responds with %s", method, path, name)
				}
			}
			if method == http.MethodOptions && rec.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, rec.Code)
			}
		}
	}
}

func TestNoPageOfThePanelIsShownInAFrame(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{"built": {"panel/index.html": {Data: []byte(`<script nonce="CSP_NONCE"></script>`)}}, "not built": {}} {
		pages, root := Pages(web.In(files), func() (string, string) { return "https://panel.test", "https://widgets.test" })
		rt := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, append(pages, httpio.Route{Pattern: "GET /{$}", Access: "none", Handle: root})...)
		for _, path := range []string{"/", "/panel", "/panel/sign-in", "/panel/sign-in?next=//evil.test", "/panel/set-up", "/panel/invitation", "/panel/forgotten", "/panel/keys", "/panel/nowhere"} {
			rec := httptest.NewRecorder()
			rt.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			h := rec.Header()
			if rec.Code != http.StatusOK || h.Get("X-Frame-Options") != "DENY" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
				h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s, %s: %d %v", path, name, rec.Code, h)
			}
		}
	}
}

// hostileNexts lead out of the panel where somebody follows them without care.
var hostileNexts = []string{
	"//evil.test", `\\evil.test`, `/\evil.test`, `\/evil.test`, "https://evil.test", "https:evil.test", "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x",
	"%2f%2fevil.test", "%5c%5cevil.test", "/%5cevil.test/..", "/../..//evil.test", "/..//evil.test", "/./..//evil.test", "/%2e%2e//evil.test", "/%2e%2e/%2fevil.test", "\t//evil.test", "/\t/evil.test",
	"/\r\nLocation: https://evil.test", " //evil.test", "evil.test", "@evil.test", ".evil.test", ":80@evil.test", "?next=//evil.test", "#//evil.test", strings.Repeat("/a", 600),
}

func TestNoNextLeadsToAnotherSite(t *testing.T) {
	for _, next := range hostileNexts {
		if got := ownPath(next); got != "" {
			t.Errorf("%q is followed: %q", next, got)
		}
	}
	for _, next := range []string{"/keys", "/inbox/1?company=2", "/notifications?from=2026-01-01T00%3A00"} {
		if got := ownPath(next); got != next {
			t.Errorf("%q is not: %q", next, got)
		}
	}
}

func TestALinksSecretIsNotGuessed(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	link := w.invite(w.as("owner@acme.test"), "vera@acme.test", "viewer")
	paths := []string{"/panel/v1/invitation", "/panel/v1/invitation/accept", "/panel/v1/forgotten/password"}
	body := func(token string) string {
		return `{"token":"` + token + `","password":"` + goodPassword + `","name":"Eve"}`
	}
	limited := 0
	for i := range 2 * linkTries { // a minute may begin meanwhile
		body := body(fmt.Sprintf("guess-%d", i))
		path := paths[i%3]
		switch path {
		case paths[0]:
			body = fmt.Sprintf(`{"token":"guess-%d"}`, i)
		case paths[2]:
			body = fmt.Sprintf(`{"token":"guess-%d","password":"%s"}`, i, goodPassword)
		}
		switch rec := w.page("POST", path, "", body); rec.Code {
		case http.StatusUnauthorized:
		case http.StatusTooManyRequests:
			limited++
		default:
			t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
	if limited == 0 {
		t.Errorf("%d guesses are not limited", 2*linkTries)
	}
	if rec := w.page("POST", paths[1], "", body(link)); rec.Code != http.StatusTooManyRequests && limited == linkTries {
		t.Errorf("and the right one after them: %d", rec.Code)
	}
}

// invite sends an invitation and returns the secret of its link.
func (w *world) invite(by, email, role string) string {
	w.t.Helper()
	w.want("POST", "/panel/v1/invitations", by, `{"email":"`+email+`","role":"`+role+`"}`, 201, "", "")
	_, secret := w.post.last(w.t)
	return secret
}

func (w *world) accept(secret, cookie string) *httptest.ResponseRecorder {
	return w.page("POST", "/panel/v1/invitation/accept", cookie, `{"token":"`+secret+`","name":"Eve","password":"`+goodPassword+`"}`)
}

func TestAnInvitationEndsWithTheRightOfWhoInvited(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	w.company("other")
	owner := w.as("owner@acme.test")
	secret := func(path, role string) (made string, lose func()) {
		t.Helper()
		w.want("POST", "/panel/v1/users", owner, `{"email":"`+path+`@acme.test","password":"`+goodPassword+`","role":"admin"}`, 201, "", "")
		by := path + "@acme.test"
		made = w.invite(w.as(by), path+"-friend@acme.test", role)
		return made, func() {
			t.Helper()
			switch path {
			case "demoted":
				w.want("PATCH", "/panel/v1/users/"+w.id(by), owner, `{"role":"developer"}`, 204, "", "")
			case "removed":
				w.want("DELETE", "/panel/v1/users/"+w.id(by), owner, "", 204, "", "")
			case "moved": // by a set-up, which asks nobody
				w.member(by, w.companyOf("other"), "owner")
				w.want("DELETE", "/panel/v1/users/"+w.id(by)+"?company="+acme.ID, owner, "", 204, "", "")
			}
		}
	}
	for _, path := range []string{"demoted", "removed", "moved"} {
		link, lose := secret(path, "admin")
		w.invitation(link, http.StatusOK)
		lose()
		if e := w.invitation(link, http.StatusUnauthorized); e["details"].(map[string]any)["reason"] != "invalid" {
			t.Error(path, e)
		}
		if rec := w.accept(link, ""); rec.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
	for _, row := range w.want("GET", "/panel/v1/invitations", owner, "", 200, "", "")["data"].([]any) {
		row := row.(map[string]any)
		if row["expired"] != true {
			t.Errorf("the list shows it as good: %v", row)
		}
		// Somebody who may invite sends it again, and it is good again.
		w.want("POST", "/panel/v1/invitations/"+row["id"].(string)+"/resend", owner, `{}`, 200, "", "")
		_, link := w.post.last(t)
		w.invitation(link, http.StatusOK)
	}
}

func (w *world) companyOf(name string) string {
	w.t.Helper()
	theirs, err := w.store.Memberships(w.t.Context(), w.id("owner@"+name+".test"))
	if err != nil || len(theirs) != 1 {
		w.t.Fatal(theirs, err)
	}
	return theirs[0].CompanyID
}

func TestAnInvitationIsNoBackDoor(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	w.company("other")
	owner := w.as("owner@acme.test")

	// The invited joined otherwise meanwhile, with a smaller role: the link makes them neither a member twice nor an admin.
	link := w.invite(owner, "vera@acme.test", "admin")
	w.want("POST", "/panel/v1/users", owner, `{"email":"vera@acme.test","password":"`+goodPassword+`","role":"viewer"}`, 201, "", "")
	if rec := w.accept(link, ""); rec.Code != http.StatusConflict {
		t.Errorf("an account that came to be: %d %s", rec.Code, rec.Body)
	}
	w.prove("vera@acme.test")
	if rec := w.accept(link, ""); rec.Code != http.StatusUnauthorized { // the account is known now: who holds the link must be signed in with it
		t.Errorf("an account that is proved: %d %s", rec.Code, rec.Body)
	}
	vera := signedIn(w, "vera@acme.test")
	rec := w.accept(link, vera.cookie.Name+"="+vera.cookie.Value)
	if _, got := vera.send("GET", "/panel/v1/session", ""); rec.Code != http.StatusConflict || got["companies"].([]any)[0].(map[string]any)["role"] != "viewer" {
		t.Errorf("a member: %d %s, %v", rec.Code, rec.Body, got)
	}

	// A password that was set from a link for another account's invitation stays that account's.
	stranger := signedIn(w, "owner@other.test")
	link = w.invite(owner, "new@acme.test", "viewer")
	w.accept(link, stranger.cookie.Name+"="+stranger.cookie.Value)
	if status, got := stranger.send("GET", "/panel/v1/session", ""); status == http.StatusOK && len(got["companies"].([]any)) != 1 {
		t.Errorf("the stranger's session became a member of %v", got["companies"])
	}
	if rec := w.accept(link, ""); rec.Code != http.StatusUnauthorized {
		t.Errorf("a link that was used: %d", rec.Code)
	}
	// A link for a password is none for an invitation, nor the other way round.
	w.want("POST", "/panel/v1/users/"+w.id("viewer@acme.test")+"/password-link", owner, `{}`, 200, "", "")
	_, password := w.post.last(t)
	if rec := w.accept(password, ""); rec.Code != http.StatusUnauthorized {
		t.Errorf("a password's link as an invitation: %d", rec.Code)
	}
	link = w.invite(owner, "late@acme.test", "viewer")
	if rec := w.page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+link+`","password":"`+goodPassword+`"}`); rec.Code != http.StatusUnauthorized {
		t.Errorf("an invitation's as a password's: %d", rec.Code)
	}
}

func TestALatePasswordLinkIsRefused(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	now := time.Now()
	if err := w.store.Update(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.PutPasswordLink(ctx, accounts.PasswordLink{AccountID: w.id("viewer@acme.test"), CreatedAt: now.Add(-2 * time.Hour), ExpiresAt: now.Add(-time.Hour)}, "late-secret")
	}); err != nil {
		t.Fatal(err)
	}
	rec := w.page("POST", "/panel/v1/forgotten/password", "", `{"token":"late-secret","password":"`+otherPassword+`"}`)
	if rec.Code != http.StatusUnauthorized || !strings.Contains(rec.Body.String(), "expired") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	w.as("viewer@acme.test") // with the password it had
}
