package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

const otherPassword = "another-horse-battery"

// checkEnded checks that a session has ended.
func checkEnded(w *paneltest.World, authorization string) {
	w.T.Helper()
	if _, err := w.Auth.Caller(w.T.Context(), authorization); !carillon.IsCode(err, carillon.Unauthorized) {
		w.T.Errorf("a session that should have ended: %v", err)
	}
}

func signIn(w *paneltest.World, email, password string) error {
	_, err := w.Auth.SignIn(w.T.Context(), auth.Credentials{Email: email, Password: password}, "")
	return err
}

func TestOnesOwnPasswordNeedsThePresentOneAndEndsOtherSessions(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	const path, email = "/panel/v1/user/password", "viewer@acme.test"
	mine, elsewhere := w.As(email), w.As(email)
	for body, field := range map[string]string{
		`{"present":"wrong-horse-battery","password":"` + otherPassword + `"}`: "present",
		`{"password":"` + otherPassword + `"}`:                                 "present",
		`{"present":"` + paneltest.Password + `"}`:                             "password",
		`{"present":"` + paneltest.Password + `","password":"short"}`:          "password", `{}`: "present",
	} {
		w.Want("POST", path, mine, body, 400, "validation_failed", field)
	}
	if _, err := w.Auth.Caller(t.Context(), elsewhere); err != nil {
		t.Errorf("after refusals: %v", err)
	}
	w.Want("POST", path, mine, `{"present":"`+paneltest.Password+`","password":"`+otherPassword+`"}`, 204, "", "")
	checkEnded(w, elsewhere)
	if _, err := w.Auth.Caller(t.Context(), mine); err != nil {
		t.Errorf("the session that changed it: %v", err)
	}
	if err := signIn(w, email, paneltest.Password); !carillon.IsCode(err, carillon.Unauthorized) {
		t.Errorf("the old password: %v", err)
	}
	another, err := w.Auth.SignIn(t.Context(), auth.Credentials{Email: email, Password: otherPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.Want("DELETE", "/panel/v1/user/sessions", mine, "", 204, "", "")
	checkEnded(w, "Bearer "+another.AccessToken)
	w.Want("DELETE", "/panel/v1/user/sessions", "", "", 401, "unauthorized", "")
}

func TestGuessingThePresentPasswordIsLimited(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	mine := w.As("viewer@acme.test")
	last := 0
	for range 21 { // enough even if a new minute begins in between
		last, _ = w.Do("POST", "/panel/v1/user/password", mine, `{"present":"wrong-horse-battery","password":"`+otherPassword+`"}`)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after many wrong ones: %d", last)
	}
}

func TestAMembersPasswordAndSessionsAreTheirCompanysAlone(t *testing.T) {
	w := paneltest.New(t)
	acme, _ := w.Company("acme"), w.Company("other")
	join(w, "teammate@other.test", acme.ID, "teammate")
	admin, owner := w.As("admin@acme.test"), w.As("owner@acme.test")
	route := func(email, part string) string { return "/panel/v1/users/" + w.ID(email) + part }
	body := `{"password":"` + otherPassword + `"}`
	for email, status := range map[string]int{
		"owner@acme.test": 403, "viewer@other.test": 404, "teammate@other.test": 409, "admin@acme.test": 409,
	} {
		w.Want("POST", route(email, "/password"), admin, body, status, "", "")
		if email != "admin@acme.test" {
			w.Want("DELETE", route(email, "/sessions"), admin, "", status, "", "")
		}
		if err := signIn(w, email, paneltest.Password); err != nil {
			t.Errorf("%s: %v", email, err)
		}
	}
	viewer := w.As("viewer@acme.test")
	w.Want("POST", route("viewer@acme.test", "/password"), admin, `{"password":"short"}`, 400, "validation_failed", "password")
	w.Want("DELETE", route("viewer@acme.test", "/sessions"), admin, "", 204, "", "")
	checkEnded(w, viewer)
	viewer = w.As("viewer@acme.test")
	w.Want("POST", route("viewer@acme.test", "/password"), admin, body, 204, "", "")
	checkEnded(w, viewer)
	if err := signIn(w, "viewer@acme.test", otherPassword); err != nil {
		t.Error(err)
	}
	w.Want("POST", route("admin@acme.test", "/password"), owner, body, 204, "", "")
	checkEnded(w, admin)
}

func TestARemovedMemberLosesTheCompanyAtOnce(t *testing.T) {
	w := paneltest.New(t)
	acme, other := w.Company("acme"), w.Company("other")
	join(w, "admin@acme.test", other.ID, "admin")
	owner, admin, developer := w.As("owner@acme.test"), w.As("admin@acme.test"), w.As("developer@acme.test")
	remove := func(email string) string { return "/panel/v1/users/" + w.ID(email) }
	w.Want("POST", "/panel/v1/keys", owner, `{"label":"live"}`, 201, "", "")
	keys := func(authorization string) int {
		c, err := w.Auth.Caller(t.Context(), authorization)
		if err != nil {
			t.Fatal(err)
		}
		all, err := w.Auth.Keys(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if keys(admin) != 1 {
		t.Error("an admin sees no key")
	}
	w.Want("DELETE", remove("owner@acme.test"), owner, "", 409, "conflict", "")
	w.Want("DELETE", remove("owner@acme.test"), admin, "", 400, "validation_failed", "company")
	w.Want("DELETE", remove("owner@acme.test")+"?company="+acme.ID, admin, "", 403, "forbidden", "")
	w.Want("DELETE", remove("viewer@other.test"), owner, "", 404, "not_found", "")
	w.Want("DELETE", remove("admin@acme.test"), owner, "", 204, "", "")
	if keys(admin) != 0 {
		t.Error("a removed admin sees a key")
	}
	w.Want("GET", "/panel/v1/keys?company="+acme.ID, admin, "", 403, "forbidden", "")
	w.Want("GET", "/panel/v1/keys?company="+other.ID, admin, "", 200, "", "")
	w.Want("DELETE", remove("developer@acme.test"), owner, "", 204, "", "")
	checkEnded(w, developer)
	if a, err := w.Store.Accounts.AccountByEmail(t.Context(), "developer@acme.test"); a != nil || err != nil {
		t.Errorf("an account without a company: %v, %v", a, err)
	}
}

func TestASuspendedCompanyHasNoPanel(t *testing.T) {
	w := paneltest.New(t)
	first := w.Company("first")
	owner := w.As("owner@first.test")
	w.Want("GET", "/panel/v1/keys", owner, "", 200, "", "")
	first.Suspended = true
	err := w.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, first, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range w.Routes {
		if auth.Permission(route.Permission) == "" {
			continue
		}
		method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "{id}", "nothing"), " ")
		w.Want(method, path, owner, "", 403, "forbidden", "")
	}
	w.Want("POST", "/panel/v1/maintenance", owner, `{"until":"2999-01-01T00:00:00Z"}`, 403, "forbidden", "")
	w.Want("DELETE", "/panel/v1/user/sessions", owner, "", 204, "", "")
}

func TestACompanyThatIsMovedHasNoPanelMeanwhile(t *testing.T) {
	w := paneltest.New(t)
	first := w.Company("first")
	owner := w.As("owner@first.test")
	set := func(state string) {
		t.Helper()
		err := w.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			tx.Changes(first.ID)
			_, err := tx.Exec(ctx, `INSERT INTO company_move (company_id, state, at, code) VALUES ($1, $2, 1, '')
				ON CONFLICT (company_id) DO UPDATE SET state = excluded.state`, first.ID, state)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for state, want := range map[string]struct {
		status int
		code   string
	}{
		"moving": {503, "service_unavailable"}, "arrived": {503, "service_unavailable"}, "moved": {403, "forbidden"},
	} {
		set(state)
		for _, route := range w.Routes {
			if auth.Permission(route.Permission) == "" {
				continue
			}
			method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "{id}", "nothing"), " ")
			w.Want(method, path, owner, "", want.status, want.code, "")
		}
		w.Want("GET", "/panel/v1/session", owner, "", 200, "", "")
	}
}
