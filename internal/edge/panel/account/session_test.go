package account_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon/internal/account/auth"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/paneltest"
)

func TestABrowserSignsInWithACookieThatScriptsAndOtherSitesDoNotGet(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	b := &paneltest.Browser{World: w}
	status, got := b.SignIn(" Admin@acme.test ", paneltest.Password)
	if status != http.StatusOK {
		t.Fatal(status, got)
	}
	c := b.Cookie
	if c.Name != "carillon_session" || len(c.Value) < 43 || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode ||
		c.Path != "/panel" || c.Domain != "" {
		t.Errorf("the cookie is %+v", c)
	}
	if account := got["account"].(map[string]any); account["email"] != "admin@acme.test" || account["id"] != w.ID("admin@acme.test") {
		t.Error(got)
	}
	company := got["companies"].([]any)[0].(map[string]any)
	if company["id"] != acme.ID || company["role"] != "admin" || company["suspended"] != false ||
		len(company["permissions"].([]any)) != len(auth.Admin.Permissions()) {
		t.Error(company)
	}
	if text, _ := json.Marshal(got); strings.Contains(string(text), c.Value) {
		t.Error("the body shows the secret")
	}
	for _, path := range []string{"/panel/v1/session", "/panel/v1/keys", "/panel/v1/users"} {
		if status, got := b.Send("GET", path, ""); status != http.StatusOK {
			t.Error(path, status, got)
		}
	}
	if status, got := b.Send("POST", "/panel/v1/keys", `{"label":"x"}`, paneltest.FromPage()...); status != http.StatusCreated {
		t.Error(status, got)
	}
	old := b.Cookie
	if status, _ := b.Send("DELETE", "/panel/v1/session", "", paneltest.FromPage()...); status != http.StatusNoContent ||
		b.Cookie.MaxAge >= 0 || b.Cookie.Value != "" {
		t.Errorf("signed out: %d, cookie %+v", status, b.Cookie)
	}
	b.Cookie = old
	if status, got := b.Send("GET", "/panel/v1/session", ""); status != http.StatusUnauthorized {
		t.Error("after signing out:", status, got)
	}
}

func TestAnotherSiteChangesNothingWithThePanelsCookie(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	b := paneltest.SignedIn(w, "owner@acme.test")
	for name, header := range map[string][]string{
		"a form":                       {"Content-Type", "text/plain", "Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"},
		"without the header":           {},
		"with an empty header":         {member.PageHeader, ""},
		"from another site":            paneltest.FromPage("Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"),
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
			{"PATCH", "/panel/v1/users/" + w.ID("viewer@acme.test")},
			{"POST", "/panel/v1/session"},
		} {
			if status, got := b.Send(call[0], call[1], `{"label":"stolen"}`, header...); status != http.StatusForbidden ||
				got["error"] != "forbidden" {
				t.Errorf("%s: %s %s: %d %v", name, call[0], call[1], status, got)
			}
		}
	}
	if rows := w.Want("GET", "/panel/v1/keys", w.As("owner@acme.test"), "", 200, "", "")["data"].([]any); len(rows) != 0 {
		t.Errorf("another site made %v", rows)
	}
	// Behind a proxy that replaces the Host header, the public address is still the panel's own.
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://10.0.0.7:8080/panel/v1/keys", strings.NewReader(`{"label":"x"}`))
	for i, h := 0, paneltest.FromPage("Content-Type", "application/json"); i < len(h); i += 2 {
		r.Header.Set(h[i], h[i+1])
	}
	r.AddCookie(&http.Cookie{Name: b.Cookie.Name, Value: b.Cookie.Value})
	rec := httptest.NewRecorder()
	if w.Router.ServeHTTP(rec, r); rec.Code != http.StatusCreated {
		t.Errorf("behind a proxy: %d %s", rec.Code, rec.Body)
	}
}

func TestASignInNeverKeepsTheSecretThatTheBrowserBrought(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	b := &paneltest.Browser{World: w, Cookie: &http.Cookie{Name: member.SessionCookie, Value: strings.Repeat("x", 43)}}
	planted := b.Cookie.Value
	if status, got := b.SignIn("owner@acme.test", paneltest.Password); status != http.StatusOK || b.Cookie.Value == planted {
		t.Fatal(status, got, b.Cookie)
	}
	first := b.Cookie
	if status, _ := b.SignIn("viewer@acme.test", paneltest.Password); status != http.StatusOK || b.Cookie.Value == first.Value {
		t.Fatal("the second sign-in:", status, b.Cookie)
	}
	for name, value := range map[string]string{
		"the planted one": planted, "the first one": first.Value, "an empty one": "", "a long one": strings.Repeat("x", 4000),
	} {
		old := &paneltest.Browser{World: w, Cookie: &http.Cookie{Name: member.SessionCookie, Value: value}}
		if status, got := old.Send("GET", "/panel/v1/session", ""); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", name, status, got)
		}
	}
}

func TestAWrongPasswordSetsNoCookieAndIsLimited(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	b := &paneltest.Browser{World: w}
	for _, c := range []struct{ body, code, field string }{
		{`{}`, "validation_failed", "email"},
		{`{"email":"owner@acme.test"}`, "validation_failed", "password"},
		{`{"email":"owner@acme.test","password":5}`, "validation_failed", "password"},
		{`{"email":"a","password":"b","next":"https://evil.test"}`, "validation_failed", "body"},
	} {
		status, got := b.Send("POST", "/panel/v1/session", c.body, paneltest.FromPage()...)
		if details, _ := got["details"].(map[string]any); status != http.StatusBadRequest || got["error"] != c.code ||
			details["field"] != c.field {
			t.Errorf("%s: %d %v", c.body, status, got)
		}
	}
	last := 0
	for range 21 {
		last, _ = b.SignIn("owner@acme.test", "wrong-horse-battery")
	}
	if last != http.StatusTooManyRequests || b.Cookie != nil {
		t.Errorf("after many wrong ones: %d, %v", last, b.Cookie)
	}
}

func TestBrowserSessionsAreListedAndEndAsOthersDo(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	const email = "viewer@acme.test"
	here, there, token := paneltest.SignedIn(w, email), paneltest.SignedIn(w, email), w.As(email)
	_, got := here.Send("GET", "/panel/v1/sessions", "")
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
	stranger := paneltest.SignedIn(w, "owner@acme.test")
	for _, id := range []string{ids[true], ids[false], "nothing"} {
		if status, _ := stranger.Send("DELETE", "/panel/v1/sessions/"+id, "", paneltest.FromPage()...); status != http.StatusNotFound {
			t.Errorf("another account ended %s: %d", id, status)
		}
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if status, _ := here.Send("DELETE", "/panel/v1/sessions/"+ids[false], "", paneltest.FromPage()...); status != want {
			t.Errorf("ending it: %d, want %d", status, want)
		}
	}
	gone := func(b *paneltest.Browser, what string) {
		t.Helper()
		if status, _ := b.Send("GET", "/panel/v1/session", ""); status != http.StatusUnauthorized {
			t.Errorf("after %s: %d", what, status)
		}
	}
	gone(there, "it was ended")
	there = paneltest.SignedIn(w, email)
	if status, _ := here.Send("DELETE", "/panel/v1/user/sessions", "", paneltest.FromPage()...); status != http.StatusNoContent {
		t.Error(status)
	}
	gone(there, "the others were ended")
	checkEnded(w, token)
	there = paneltest.SignedIn(w, email)
	if status, got := here.Send("POST", "/panel/v1/user/password", `{"present":"`+paneltest.Password+`","password":"`+otherPassword+
		`"}`, paneltest.FromPage()...); status != http.StatusNoContent {
		t.Fatal(status, got)
	}
	gone(there, "the password changed elsewhere")
	if status, _ := here.Send("GET", "/panel/v1/session", ""); status != http.StatusOK {
		t.Error("the session that changed the password:", status)
	}
	w.Want(
		"POST", "/panel/v1/users/"+w.ID(email)+"/password", w.As("owner@acme.test"), `{"password":"`+paneltest.Password+`"}`, 204, "",
		"",
	)
	gone(here, "an owner set the password")
	here = paneltest.SignedIn(w, email)
	w.Want("DELETE", "/panel/v1/users/"+w.ID(email)+"/sessions", w.As("owner@acme.test"), "", 204, "", "")
	gone(here, "an owner ended the sessions")
	here = paneltest.SignedIn(w, email)
	w.Want("DELETE", "/panel/v1/users/"+w.ID(email), w.As("owner@acme.test"), "", 204, "", "")
	gone(here, "the member was removed")
}

func TestSetUpIsOpenWhileThereIsNoAccount(t *testing.T) {
	w := paneltest.New(t)
	b := &paneltest.Browser{World: w}
	if status, got := b.Send("GET", "/panel/v1/session/setup", ""); status != http.StatusOK || got["first"] != true {
		t.Error(status, got)
	}
	w.Company("acme")
	if status, got := b.Send("GET", "/panel/v1/session/setup", ""); status != http.StatusOK || got["first"] != false {
		t.Error(status, got)
	}
}

func TestRolesChangeWithinOnesOwnAndAnOwnerStays(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner, admin := w.As("owner@acme.test"), w.As("admin@acme.test")
	path := func(email string) string { return "/panel/v1/users/" + w.ID(email) }
	w.Want("PATCH", path("viewer@acme.test"), admin, `{"role":"teammate"}`, 204, "", "")
	w.Want("PATCH", path("viewer@acme.test"), admin, `{"role":"owner"}`, 403, "forbidden", "")
	w.Want("PATCH", path("owner@acme.test"), admin, `{"role":"viewer"}`, 403, "forbidden", "")
	w.Want("PATCH", path("owner@acme.test"), owner, `{"role":"viewer"}`, 409, "conflict", "")
	w.Want("PATCH", path("owner@other.test"), owner, `{"role":"viewer"}`, 404, "not_found", "")
	w.Want("PATCH", "/panel/v1/users/nobody", owner, `{"role":"viewer"}`, 404, "not_found", "")
	w.Want("PATCH", path("viewer@acme.test"), owner, `{"role":"god"}`, 400, "validation_failed", "role")
	w.Want("PATCH", path("viewer@acme.test"), owner, `{}`, 400, "validation_failed", "role")
	w.Want("PATCH", path("viewer@acme.test"), owner, `{"role":"owner"}`, 204, "", "")
	w.Want("PATCH", path("owner@acme.test"), owner, `{"role":"viewer"}`, 204, "", "")
	w.Want("GET", "/panel/v1/keys", owner, "", 403, "forbidden", "")
}
