package account_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

func TestAKeyIsMadeShownOnceListedAndRevoked(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	made := w.Want(
		"POST", "/panel/v1/keys", owner, `{"label":"live","scopes":["notify:send"],"expires_at":"2999-01-01T00:00:00Z"}`, 201, "", "",
	)
	key, _ := made["key"].(string)
	if !strings.HasPrefix(key, "ck_") || len(key) != 46 {
		t.Fatalf("the key is %q", key)
	}
	p, err := w.Auth.Principal(t.Context(), auth.PresentedKey{Key: key, Present: true}, "")
	if err != nil || !p.Allows(auth.NotifySend) || p.Allows(auth.NotifyRead) {
		t.Fatalf("the new key: %+v, %v", p, err)
	}
	listed := w.Want("GET", "/panel/v1/keys", w.As("admin@acme.test"), "", 200, "", "")
	row := listed["data"].([]any)[0].(map[string]any)
	want := map[string]any{
		"id": made["id"], "label": "live", "prefix": key[:8], "scopes": []any{"notify:send"}, "is_active": true,
		"expires_at": "2999-01-01T00:00:00Z", "revoked_at": nil, "created_at": made["created_at"], "last_used": row["last_used"],
	}
	if d := cmp.Diff(want, row); d != "" || row["last_used"] == nil {
		t.Errorf("the row (-want +got):\n%s", d)
	}
	id := made["id"].(string)
	w.Want("DELETE", "/panel/v1/keys/"+id, owner, "", 204, "", "")
	w.Want("DELETE", "/panel/v1/keys/"+id, owner, "", 204, "", "")
	if _, err := w.Auth.Principal(
		t.Context(), auth.PresentedKey{Key: key, Present: true}, "",
	); !carillon.IsCode(err, carillon.Unauthorized) {
		t.Errorf("the revoked key: %v", err)
	}
	listed = w.Want("GET", "/panel/v1/keys", owner, "", 200, "", "")
	row = listed["data"].([]any)[0].(map[string]any)
	if row["is_active"] != false || row["revoked_at"] == nil {
		t.Errorf("the revoked row: %v", row)
	}
}

func TestAnotherCompanysKeysAreOutOfReach(t *testing.T) {
	w := paneltest.New(t)
	_, other := w.Company("acme"), w.Company("other")
	key := w.Want("POST", "/panel/v1/keys", w.As("owner@acme.test"), `{"label":"x"}`, 201, "", "")["id"].(string)
	stranger := w.As("owner@other.test")
	w.Want("DELETE", "/panel/v1/keys/"+key+"?company="+other.ID, stranger, "", 404, "not_found", "")
	w.Want("DELETE", "/panel/v1/keys/nothing", stranger, "", 404, "not_found", "")
	if rows := w.Want("GET", "/panel/v1/keys", stranger, "", 200, "", "")["data"].([]any); len(rows) != 0 {
		t.Errorf("another company sees %v", rows)
	}
}

// join makes an account a member of a company, like a set-up does.
func join(w *paneltest.World, email, companyID, role string) {
	w.T.Helper()
	a, err := w.Store.Accounts.AccountByEmail(w.T.Context(), email)
	if err == nil {
		err = w.Store.Config.Update(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.AddMembership(ctx, tx, accounts.Membership{AccountID: a.ID, CompanyID: companyID, Role: role})
		})
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

func TestWhoAdministersSeveralCompaniesNamesOne(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	second := w.Company("second")
	join(w, "owner@acme.test", second.ID, "admin")
	both := w.As("owner@acme.test")
	// An administrator of both companies may add a member of one to the other.
	w.Want("POST", "/panel/v1/users?company="+second.ID, both, `{"email":"teammate@acme.test"}`, 201, "", "")
	w.Want("GET", "/panel/v1/keys", both, "", 400, "validation_failed", "company")
	w.Want("GET", "/panel/v1/keys?company="+second.ID, both, "", 200, "", "")
}

func TestBadKeysAreRefused(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	for body, field := range map[string]string{
		`{}`: "label", `{"label":" "}`: "label", `{"label":1}`: "label", `{"label":"` + strings.Repeat("x", 101) + `"}`: "label",
		`{"label":"a\nb"}`: "label", `{"label":"x","scopes":["nothing"]}`: "scopes.0", `{"label":"x","scopes":[]}`: "scopes",
		`{"label":"x","scopes":"*"}`: "scopes", `{"label":"x","expires_at":"tomorrow"}`: "expires_at",
		`{"label":"x","expires_at":"2020-01-01T00:00:00Z"}`: "expires_at", `{"label":"x","expired_at":"2999-01-01T00:00:00Z"}`: "body",
		`[]`: "body", ``: "body",
	} {
		w.Want("POST", "/panel/v1/keys", owner, body, 400, "validation_failed", field)
	}
}

func TestListsComeInPages(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	seen := map[string]bool{}
	path := "/panel/v1/users?limit=2"
	for pages := 1; ; pages++ {
		got := w.Want("GET", path, owner, "", 200, "", "")
		for _, row := range got["data"].([]any) {
			seen[row.(map[string]any)["email"].(string)] = true
		}
		next, more := got["next_cursor"].(string)
		if !more {
			if pages != 3 || len(seen) != 6 {
				t.Errorf("%d members on %d pages: %v", len(seen), pages, seen)
			}
			break
		}
		path = "/panel/v1/users?limit=2&cursor=" + next
	}
	for query, field := range map[string]string{"limit=0": "limit", "limit=101": "limit", "limit=x": "limit", "cursor=x": "cursor"} {
		w.Want("GET", "/panel/v1/users?"+query, owner, "", 400, "validation_failed", field)
	}
}

func TestAnAddedUserSignsIn(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	got := w.Want(
		"POST", "/panel/v1/users", owner,
		`{"email":"New@Acme.test","password":"`+paneltest.Password+`","name":"New","role":"teammate"}`, 201, "", "",
	)
	if got["email"] != "new@acme.test" || got["role"] != "teammate" || got["name"] != "New" {
		t.Errorf("the answer: %v", got)
	}
	w.As("new@acme.test")
	w.Want("POST", "/panel/v1/users", owner, `{"email":"new@acme.test"}`, 409, "conflict", "")
}

func TestAddingAUserNeverTakesOverAnAccount(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("evil")
	evil := w.As("owner@evil.test")
	w.Want("POST", "/panel/v1/users", evil, `{"email":"owner@acme.test","password":"another-password"}`, 409, "conflict", "")
	w.Want("POST", "/panel/v1/users", evil, `{"email":"owner@acme.test","name":"Renamed"}`, 409, "conflict", "")
	w.As("owner@acme.test") // with the unchanged password
	a, err := w.Store.Accounts.AccountByEmail(t.Context(), "owner@acme.test")
	if err != nil || a.Name != "" {
		t.Errorf("the account is %+v, %v", a, err)
	}
}

func TestRolesAreNotRaisedAboveOnesOwn(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	body := func(name, role string) string {
		return `{"email":"` + name + `@acme.test","password":"` + paneltest.Password + `","role":"` + role + `"}`
	}
	w.Want("POST", "/panel/v1/users", w.As("admin@acme.test"), body("a", "owner"), 403, "forbidden", "")
	w.Want("POST", "/panel/v1/users", w.As("admin@acme.test"), body("b", "admin"), 201, "", "")
	w.Want("POST", "/panel/v1/users", w.As("owner@acme.test"), body("c", "owner"), 201, "", "")
}

func TestBadUsersAreRefusedAndNoPasswordIsRepeated(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	for body, field := range map[string]string{
		`{"password":"` + paneltest.Password + `"}`:                                        "email",
		`{"email":"x","password":"` + paneltest.Password + `"}`:                            "email",
		`{"email":"A <a@acme.test>","password":"` + paneltest.Password + `"}`:              "email",
		`{"email":"a@acme.test"}`:                                                          "password",
		`{"email":"a@acme.test","password":"short-pass1"}`:                                 "password",
		`{"email":"a@acme.test","password":"` + strings.Repeat("x", 1025) + `"}`:           "password",
		`{"email":"a@acme.test","password":123456789012}`:                                  "password",
		`{"email":"a@acme.test","password":"` + paneltest.Password + `","role":"god"}`:     "role",
		`{"email":"a@acme.test","password":"` + paneltest.Password + `","name":" "}`:       "name",
		`{"email":"a@acme.test","password":"` + paneltest.Password + `","company":"Mine"}`: "company",
		`{"email":"a@acme.test","password":"` + paneltest.Password + `","roles":"owner"}`:  "body",
		`{"email":"a@acme.test","password":"` + paneltest.Password + `","first":"yes"}`:    "first",
	} {
		got := w.Want("POST", "/panel/v1/users", owner, body, 400, "validation_failed", field)
		if text, _ := json.Marshal(got); strings.Contains(string(text), "short-pass1") || strings.Contains(string(text), "123456789012") {
			t.Errorf("the answer repeats the password: %s", text)
		}
	}
}

func TestTheFirstTokenMakesOneOwner(t *testing.T) {
	w := paneltest.New(t)
	old, ok, err := w.Auth.FirstToken(t.Context())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	token, _, err := w.Auth.FirstToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"first":true,"email":"first@acme.test","password":"` + paneltest.Password + `","name":"First","company":"Acme"}`
	w.Want("POST", "/panel/v1/users", "Bearer "+old, body, 401, "unauthorized", "")
	w.Want("POST", "/panel/v1/users", "Bearer first_made-up", body, 401, "unauthorized", "")
	w.Want("POST", "/panel/v1/users", "Bearer "+token, `{"email":"first@acme.test"}`, 400, "validation_failed", "first")
	w.Want("POST", "/panel/v1/users", "Bearer "+token, `{"first":true,"email":"first@acme.test"}`, 400, "validation_failed", "name")
	w.Want("GET", "/panel/v1/users", "Bearer "+token, "", 401, "unauthorized", "")
	got := w.Want("POST", "/panel/v1/users", "Bearer "+token, body, 201, "", "")
	if got["role"] != "owner" {
		t.Errorf("the answer: %v", got)
	}
	w.Want("POST", "/panel/v1/users", "Bearer "+token, strings.Replace(body, "first@", "second@", 1), 401, "unauthorized", "")
	if _, ok, err := w.Auth.FirstToken(t.Context()); ok || err != nil {
		t.Errorf("with an account there is still a first token: %t, %v", ok, err)
	}
	users := w.Want("GET", "/panel/v1/users", w.As("first@acme.test"), "", 200, "", "")
	if rows := users["data"].([]any); len(rows) != 1 {
		t.Errorf("users: %v", rows)
	}
	w.Want("POST", "/panel/v1/users", w.As("first@acme.test"), strings.Replace(body, "first@", "third@", 1), 403, "forbidden", "")
}
