package panel

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon/internal/account/auth"
	"carillon/internal/edge/panel/member"
)

// browser is a browser with the panel open: it keeps its cookie and sends what the panel's pages send.
type browser struct {
	*world
	cookie *http.Cookie
	last   *http.Response
}

// send sends a request with the cookie and these headers, in pairs, and gives the status and the answer.
func (b *browser) send(method, path, body string, header ...string) (int, map[string]any) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, "https://panel.test"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if b.cookie != nil {
		r.AddCookie(&http.Cookie{Name: b.cookie.Name, Value: b.cookie.Value})
	}
	rec := httptest.NewRecorder()
	b.router.ServeHTTP(rec, r)
	b.last = rec.Result()
	for _, c := range b.last.Cookies() {
		b.cookie = c
	}
	got := map[string]any{}
	if rec.Body.Len() > 0 {
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
			b.t.Fatalf("%s %s: %d %s: %v", method, path, rec.Code, rec.Body, err)
		}
	}
	return rec.Code, got
}

// fromPage is the headers of a request by the panel's own page.
func fromPage(more ...string) []string {
	return append([]string{member.PageHeader, "1", "Origin", "https://panel.test", "Sec-Fetch-Site", "same-origin"}, more...)
}

func (b *browser) signIn(email, password string) (int, map[string]any) {
	b.t.Helper()
	body, _ := json.Marshal(map[string]string{"email": email, "password": password})
	return b.send("POST", "/panel/v1/session", string(body), fromPage("User-Agent", "Testing/1.0")...)
}

func signedIn(w *world, email string) *browser {
	w.t.Helper()
	b := &browser{world: w}
	if status, got := b.signIn(email, goodPassword); status != http.StatusOK {
		w.t.Fatal(status, got)
	}
	return b
}

func TestABrowserSignsInWithACookieThatScriptsAndOtherSitesDoNotGet(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	b := &browser{world: w}
	status, got := b.signIn(" Admin@acme.test ", goodPassword)
	if status != http.StatusOK {
		t.Fatal(status, got)
	}
	c := b.cookie
	if c.Name != "carillon_session" || len(c.Value) < 43 || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/panel" || c.Domain != "" {
		t.Errorf("the cookie is %+v", c)
	}
	if account := got["account"].(map[string]any); account["email"] != "admin@acme.test" || account["id"] != w.id("admin@acme.test") {
		t.Error(got)
	}
	company := got["companies"].([]any)[0].(map[string]any)
	if company["id"] != acme.ID || company["role"] != "admin" || company["suspended"] != false || len(company["permissions"].([]any)) != len(auth.Admin.Permissions()) {
		t.Error(company)
	}
	if text, _ := json.Marshal(got); strings.Contains(string(text), c.Value) {
		t.Error("the body shows the secret")
	}
	for _, path := range []string{"/panel/v1/session", "/panel/v1/keys", "/panel/v1/users"} {
		if status, got := b.send("GET", path, ""); status != http.StatusOK {
			t.Error(path, status, got)
		}
	}
	if status, got := b.send("POST", "/panel/v1/keys", `{"label":"x"}`, fromPage()...); status != http.StatusCreated {
		t.Error(status, got)
	}
	old := b.cookie
	if status, _ := b.send("DELETE", "/panel/v1/session", "", fromPage()...); status != http.StatusNoContent || b.cookie.MaxAge >= 0 || b.cookie.Value != "" {
		t.Errorf("signed out: %d, cookie %+v", status, b.cookie)
	}
	b.cookie = old
	if status, got := b.send("GET", "/panel/v1/session", ""); status != http.StatusUnauthorized {
		t.Error("after signing out:", status, got)
	}
}

func TestAnotherSiteChangesNothingWithThePanelsCookie(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	b := signedIn(w, "owner@acme.test")
	for name, header := range map[string][]string{
		"a form":                       {"Content-Type", "text/plain", "Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"},
		"without the header":           {},
		"with an empty header":         {member.PageHeader, ""},
		"from another site":            fromPage("Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"),
		"from another site, by origin": {member.PageHeader, "1", "Origin", "https://evil.test"},
		"from another subdomain":       {member.PageHeader, "1", "Sec-Fetch-Site", "same-site"},
		"from another port":            {member.PageHeader, "1", "Origin", "https://panel.test:8443"},
		"from a sandbox":               {member.PageHeader, "1", "Origin", "null"},
		"typed in":                     {member.PageHeader, "1", "Sec-Fetch-Site", "none"},
	} {
		for _, call := range [][2]string{
			{"POST", "/panel/v1/keys"},
			{"PUT", "/panel/v1/agents/0190b4a0-0000-7000-8000-000000000001"},
			{"DELETE", "/panel/v1/session"},
			{"DELETE", "/panel/v1/user/sessions"},
			{"POST", "/panel/v1/user/password"},
			{"PATCH", "/panel/v1/users/" + w.id("viewer@acme.test")},
			{"POST", "/panel/v1/session"},
		} {
			if status, got := b.send(call[0], call[1], `{"label":"stolen"}`, header...); status != http.StatusForbidden || got["error"] != "forbidden" {
				t.Errorf("%s: %s %s: %d %v", name, call[0], call[1], status, got)
			}
		}
	}
	if rows := w.want("GET", "/panel/v1/keys", w.as("owner@acme.test"), "", 200, "", "")["data"].([]any); len(rows) != 0 {
		t.Errorf("another site made %v", rows)
	}
	// Behind a proxy that replaces the host, the public address is the panel's own.
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://10.0.0.7:8080/panel/v1/keys", strings.NewReader(`{"label":"x"}`))
	for i, h := 0, fromPage("Content-Type", "application/json"); i < len(h); i += 2 {
		r.Header.Set(h[i], h[i+1])
	}
	r.AddCookie(&http.Cookie{Name: b.cookie.Name, Value: b.cookie.Value})
	rec := httptest.NewRecorder()
	if w.router.ServeHTTP(rec, r); rec.Code != http.StatusCreated {
		t.Errorf("behind a proxy: %d %s", rec.Code, rec.Body)
	}
}

func TestASignInNeverKeepsTheSecretThatTheBrowserBrought(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	b := &browser{world: w, cookie: &http.Cookie{Name: member.SessionCookie, Value: strings.Repeat("x", 43)}}
	planted := b.cookie.Value
	if status, got := b.signIn("owner@acme.test", goodPassword); status != http.StatusOK || b.cookie.Value == planted {
		t.Fatal(status, got, b.cookie)
	}
	first := b.cookie
	if status, _ := b.signIn("viewer@acme.test", goodPassword); status != http.StatusOK || b.cookie.Value == first.Value {
		t.Fatal("the second sign-in:", status, b.cookie)
	}
	for name, value := range map[string]string{"the planted one": planted, "the first one": first.Value, "an empty one": "", "a long one": strings.Repeat("x", 4000)} {
		old := &browser{world: w, cookie: &http.Cookie{Name: member.SessionCookie, Value: value}}
		if status, got := old.send("GET", "/panel/v1/session", ""); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", name, status, got)
		}
	}
}

func TestAWrongPasswordSetsNoCookieAndIsLimited(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	b := &browser{world: w}
	for _, c := range []struct{ body, code, field string }{
		{`{}`, "validation_failed", "email"},
		{`{"email":"owner@acme.test"}`, "validation_failed", "password"},
		{`{"email":"owner@acme.test","password":5}`, "validation_failed", "password"},
		{`{"email":"a","password":"b","next":"https://evil.test"}`, "validation_failed", "body"},
	} {
		status, got := b.send("POST", "/panel/v1/session", c.body, fromPage()...)
		if details, _ := got["details"].(map[string]any); status != http.StatusBadRequest || got["error"] != c.code || details["field"] != c.field {
			t.Errorf("%s: %d %v", c.body, status, got)
		}
	}
	last := 0
	for range 21 {
		last, _ = b.signIn("owner@acme.test", "wrong-horse-battery")
	}
	if last != http.StatusTooManyRequests || b.cookie != nil {
		t.Errorf("after many wrong ones: %d, %v", last, b.cookie)
	}
}

func TestBrowserSessionsAreListedAndEndAsOthersDo(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	const email = "viewer@acme.test"
	here, there, token := signedIn(w, email), signedIn(w, email), w.as(email)
	_, got := here.send("GET", "/panel/v1/sessions", "")
	rows := got["data"].([]any)
	if len(rows) != 3 {
		t.Fatal(rows)
	}
	ids := map[bool]string{}
	for _, row := range rows {
		row := row.(map[string]any)
		if row["created_at"] == nil || row["used_at"] == nil || row["expires_at"] == nil {
			t.Error(row)
		}
		if row["agent"] == "Testing/1.0" {
			ids[row["current"].(bool)] = row["id"].(string)
			if row["address"] == "" {
				t.Error(row)
			}
		}
	}
	stranger := signedIn(w, "owner@acme.test")
	for _, id := range []string{ids[true], ids[false], "nothing"} {
		if status, _ := stranger.send("DELETE", "/panel/v1/sessions/"+id, "", fromPage()...); status != http.StatusNotFound {
			t.Errorf("another account ended %s: %d", id, status)
		}
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if status, _ := here.send("DELETE", "/panel/v1/sessions/"+ids[false], "", fromPage()...); status != want {
			t.Errorf("ending it: %d, want %d", status, want)
		}
	}
	gone := func(b *browser, what string) {
		t.Helper()
		if status, _ := b.send("GET", "/panel/v1/session", ""); status != http.StatusUnauthorized {
			t.Errorf("after %s: %d", what, status)
		}
	}
	gone(there, "it was ended")
	there = signedIn(w, email)
	if status, _ := here.send("DELETE", "/panel/v1/user/sessions", "", fromPage()...); status != http.StatusNoContent {
		t.Error(status)
	}
	gone(there, "the others were ended")
	w.ended(token)
	there = signedIn(w, email)
	if status, got := here.send("POST", "/panel/v1/user/password", `{"present":"`+goodPassword+`","password":"`+otherPassword+`"}`, fromPage()...); status != http.StatusNoContent {
		t.Fatal(status, got)
	}
	gone(there, "the password changed elsewhere")
	if status, _ := here.send("GET", "/panel/v1/session", ""); status != http.StatusOK {
		t.Error("the session that changed the password:", status)
	}
	w.want("POST", "/panel/v1/users/"+w.id(email)+"/password", w.as("owner@acme.test"), `{"password":"`+goodPassword+`"}`, 204, "", "")
	gone(here, "an owner set the password")
	here = signedIn(w, email)
	w.want("DELETE", "/panel/v1/users/"+w.id(email)+"/sessions", w.as("owner@acme.test"), "", 204, "", "")
	gone(here, "an owner ended the sessions")
	here = signedIn(w, email)
	w.want("DELETE", "/panel/v1/users/"+w.id(email), w.as("owner@acme.test"), "", 204, "", "")
	gone(here, "the member was removed")
}

func TestSetUpIsOpenWhileThereIsNoAccount(t *testing.T) {
	w := newWorld(t)
	b := &browser{world: w}
	if status, got := b.send("GET", "/panel/v1/session/setup", ""); status != http.StatusOK || got["first"] != true {
		t.Error(status, got)
	}
	w.company("acme")
	if status, got := b.send("GET", "/panel/v1/session/setup", ""); status != http.StatusOK || got["first"] != false {
		t.Error(status, got)
	}
}

func TestRolesChangeWithinOnesOwnAndAnOwnerStays(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	w.company("other")
	owner, admin := w.as("owner@acme.test"), w.as("admin@acme.test")
	path := func(email string) string { return "/panel/v1/users/" + w.id(email) }
	w.want("PATCH", path("viewer@acme.test"), admin, `{"role":"teammate"}`, 204, "", "")
	w.want("PATCH", path("viewer@acme.test"), admin, `{"role":"owner"}`, 403, "forbidden", "")
	w.want("PATCH", path("owner@acme.test"), admin, `{"role":"viewer"}`, 403, "forbidden", "")
	w.want("PATCH", path("owner@acme.test"), owner, `{"role":"viewer"}`, 409, "conflict", "")
	w.want("PATCH", path("owner@other.test"), owner, `{"role":"viewer"}`, 404, "not_found", "")
	w.want("PATCH", "/panel/v1/users/nobody", owner, `{"role":"viewer"}`, 404, "not_found", "")
	w.want("PATCH", path("viewer@acme.test"), owner, `{"role":"god"}`, 400, "validation_failed", "role")
	w.want("PATCH", path("viewer@acme.test"), owner, `{}`, 400, "validation_failed", "role")
	w.want("PATCH", path("viewer@acme.test"), owner, `{"role":"owner"}`, 204, "", "")
	w.want("PATCH", path("owner@acme.test"), owner, `{"role":"viewer"}`, 204, "", "")
	w.want("GET", "/panel/v1/keys", owner, "", 403, "forbidden", "")
}
