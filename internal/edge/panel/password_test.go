package panel

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"

	"carillon"
	"carillon/internal/account/auth"
)

const otherPassword = "another-horse-battery"

// id is the id of an account.
func (w *world) id(email string) string {
	w.t.Helper()
	a, err := w.store.Accounts.AccountByEmail(w.t.Context(), email)
	if err != nil || a == nil {
		w.t.Fatal(a, err)
	}
	return a.ID
}

// ended checks that a session has ended.
func (w *world) ended(authorization string) {
	w.t.Helper()
	if _, err := w.auth.Caller(w.t.Context(), authorization); !carillon.IsCode(err, carillon.Unauthorized) {
		w.t.Errorf("a session that should have ended: %v", err)
	}
}

func (w *world) signIn(email, password string) error {
	_, err := w.auth.SignIn(w.t.Context(), auth.Credentials{Email: email, Password: password}, "")
	return err
}

func TestOnesOwnPasswordNeedsThePresentOneAndEndsOtherSessions(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	const path, email = "/panel/v1/user/password", "viewer@acme.test"
	mine, elsewhere := w.as(email), w.as(email)
	for body, field := range map[string]string{
		`{"present":"wrong-horse-battery","password":"` + otherPassword + `"}`: "present", `{"password":"` + otherPassword + `"}`: "present",
		`{"present":"` + goodPassword + `"}`: "password", `{"present":"` + goodPassword + `","password":"short"}`: "password", `{}`: "present",
	} {
		w.want("POST", path, mine, body, 400, "validation_failed", field)
	}
	if _, err := w.auth.Caller(t.Context(), elsewhere); err != nil {
		t.Errorf("after refusals: %v", err)
	}
	w.want("POST", path, mine, `{"present":"`+goodPassword+`","password":"`+otherPassword+`"}`, 204, "", "")
	w.ended(elsewhere)
	if _, err := w.auth.Caller(t.Context(), mine); err != nil {
		t.Errorf("the session that changed it: %v", err)
	}
	if err := w.signIn(email, goodPassword); !carillon.IsCode(err, carillon.Unauthorized) {
		t.Errorf("the old password: %v", err)
	}
	another, err := w.auth.SignIn(t.Context(), auth.Credentials{Email: email, Password: otherPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.want("DELETE", "/panel/v1/user/sessions", mine, "", 204, "", "")
	w.ended("Bearer " + another.AccessToken)
	w.want("DELETE", "/panel/v1/user/sessions", "", "", 401, "unauthorized", "")
}

func TestGuessingThePresentPasswordIsLimited(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	mine := w.as("viewer@acme.test")
	last := 0
	for range 21 { // two minutes may have a part in it
		last, _ = w.do("POST", "/panel/v1/user/password", mine, `{"present":"wrong-horse-battery","password":"`+otherPassword+`"}`)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after many wrong ones: %d", last)
	}
}

func TestAMembersPasswordAndSessionsAreTheirCompanysAlone(t *testing.T) {
	w := newWorld(t)
	acme, _ := w.company("acme"), w.company("other")
	w.member("teammate@other.test", acme.ID, "teammate")
	admin, owner := w.as("admin@acme.test"), w.as("owner@acme.test")
	route := func(email, part string) string { return "/panel/v1/users/" + w.id(email) + part }
	body := `{"password":"` + otherPassword + `"}`
	for email, status := range map[string]int{
		"owner@acme.test": 403, "viewer@other.test": 404, "teammate@other.test": 409, "admin@acme.test": 409,
	} {
		w.want("POST", route(email, "/password"), admin, body, status, "", "")
		if email != "admin@acme.test" {
			w.want("DELETE", route(email, "/sessions"), admin, "", status, "", "")
		}
		if err := w.signIn(email, goodPassword); err != nil {
			t.Errorf("%s: %v", email, err)
		}
	}
	viewer := w.as("viewer@acme.test")
	w.want("POST", route("viewer@acme.test", "/password"), admin, `{"password":"short"}`, 400, "validation_failed", "password")
	w.want("DELETE", route("viewer@acme.test", "/sessions"), admin, "", 204, "", "")
	w.ended(viewer)
	viewer = w.as("viewer@acme.test")
	w.want("POST", route("viewer@acme.test", "/password"), admin, body, 204, "", "")
	w.ended(viewer)
	if err := w.signIn("viewer@acme.test", otherPassword); err != nil {
		t.Error(err)
	}
	w.want("POST", route("admin@acme.test", "/password"), owner, body, 204, "", "")
	w.ended(admin)
}

func TestARemovedMemberLosesTheCompanyAtOnce(t *testing.T) {
	w := newWorld(t)
	acme, other := w.company("acme"), w.company("other")
	w.member("admin@acme.test", other.ID, "admin")
	owner, admin, developer := w.as("owner@acme.test"), w.as("admin@acme.test"), w.as("developer@acme.test")
	remove := func(email string) string { return "/panel/v1/users/" + w.id(email) }
	w.want("POST", "/panel/v1/keys", owner, `{"label":"live"}`, 201, "", "")
	keys := func(authorization string) int {
		c, err := w.auth.Caller(t.Context(), authorization)
		if err != nil {
			t.Fatal(err)
		}
		all, err := w.auth.Keys(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if keys(admin) != 1 {
		t.Error("an admin sees no key")
	}
	w.want("DELETE", remove("owner@acme.test"), owner, "", 409, "conflict", "")
	w.want("DELETE", remove("owner@acme.test"), admin, "", 400, "validation_failed", "company")
	w.want("DELETE", remove("owner@acme.test")+"?company="+acme.ID, admin, "", 403, "forbidden", "")
	w.want("DELETE", remove("viewer@other.test"), owner, "", 404, "not_found", "")
	w.want("DELETE", remove("admin@acme.test"), owner, "", 204, "", "")
	if keys(admin) != 0 {
		t.Error("a removed admin sees a key")
	}
	w.want("GET", "/panel/v1/keys?company="+acme.ID, admin, "", 403, "forbidden", "")
	w.want("GET", "/panel/v1/keys?company="+other.ID, admin, "", 200, "", "")
	w.want("DELETE", remove("developer@acme.test"), owner, "", 204, "", "")
	w.ended(developer)
	if a, err := w.store.Accounts.AccountByEmail(t.Context(), "developer@acme.test"); a != nil || err != nil {
		t.Errorf("an account without a company: %v, %v", a, err)
	}
}

func TestASuspendedCompanyHasNoPanel(t *testing.T) {
	w := newWorld(t)
	first := w.company("first")
	owner := w.as("owner@first.test")
	w.want("GET", "/panel/v1/keys", owner, "", 200, "", "")
	first.Suspended = true
	err := w.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, first, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range w.routes {
		if auth.Permission(route.Permission) == "" {
			continue
		}
		method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "{id}", "nothing"), " ")
		w.want(method, path, owner, "", 403, "forbidden", "")
	}
	w.want("POST", "/panel/v1/maintenance", owner, `{"until":"2999-01-01T00:00:00Z"}`, 403, "forbidden", "")
	w.want("DELETE", "/panel/v1/user/sessions", owner, "", 204, "", "")
}
