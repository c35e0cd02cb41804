package account_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"carillon/internal/edge/panel/account"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

func TestLinksForAPasswordEndWithTheRightToMakeThem(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	beta := w.Company("beta")
	w.Post.Down = errors.New("550 mailbox full") // so that the link is shown to its creator
	admin := w.As("admin@acme.test")
	var victim string
	link := func(email string) (token string) {
		t.Helper()
		victim = w.ID(email)
		made := w.Want("POST", "/panel/v1/users/"+victim+"/password-link", admin, `{}`, 200, "", "")
		_, token, _ = strings.Cut(made["link"].(string), "#")
		return token
	}
	set := func(token string) int {
		return w.Page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+otherPassword+`"}`).Code
	}
	change := func(do func(ctx context.Context, tx *configure.Tx) error) {
		t.Helper()
		if err := w.Store.Config.Change(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	token := link("viewer@acme.test")
	change(func(ctx context.Context, tx *configure.Tx) error {
		return accounts.AddMembership(ctx, tx, accounts.Membership{AccountID: victim, CompanyID: beta.ID, Role: "viewer"})
	})
	if got := set(token); got != 401 {
		t.Errorf("the member joined another company in the meantime: %d", got)
	}
	token = link("teammate@acme.test")
	change(func(ctx context.Context, tx *configure.Tx) error {
		all, err := accounts.Memberships(ctx, tx, w.ID("admin@acme.test"))
		if err != nil {
			return err
		}
		all[0].Role = "viewer"
		return accounts.PutMembership(ctx, tx, all[0])
	})
	if got := set(token); got != 401 {
		t.Errorf("the link's creator is no longer an administrator: %d", got)
	}
	change(func(ctx context.Context, tx *configure.Tx) error {
		all, err := accounts.Memberships(ctx, tx, w.ID("admin@acme.test"))
		if err != nil {
			return err
		}
		all[0].Role = "admin"
		return accounts.PutMembership(ctx, tx, all[0])
	})
	if got := set(token); got != 204 {
		t.Errorf("the link's creator is an administrator again: %d", got)
	}
}

func TestNobodyFloodsAMailbox(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	x := account.Forgotten{Gate: w.Gate(), Store: w.Store, Letters: account.Letters{Limits: w.Limits}}
	for range 10 {
		if _, err := x.Message(t.Context(), "viewer@acme.test", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := x.Message(t.Context(), "viewer@acme.test", "en"); m != nil || err != nil {
		t.Errorf("after ten requests another e-mail is sent: %v", err)
	}
	if m, err := x.Message(t.Context(), "teammate@acme.test", "en"); m == nil || err != nil {
		t.Errorf("another member gets no e-mail: %v", err)
	}
}

func TestAForgottenPasswordIsSet(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("beta")
	w.Post.All = nil
	if rec := w.Page("POST", "/panel/v1/forgotten", "", `{"email":"nobody@acme.test"}`); rec.Code != 204 || len(w.Post.All) != 0 {
		t.Errorf("for a stranger: %d, %d e-mails", rec.Code, len(w.Post.All))
	}
	ask := func() string {
		t.Helper()
		if rec := w.Page("POST", "/panel/v1/forgotten", "", `{"email":"Viewer@acme.test"}`); rec.Code != 204 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		_, token := w.Post.Last(t)
		return token
	}
	before := w.As("viewer@acme.test")
	first, second := ask(), ask()
	set := func(token, password string) int {
		return w.Page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+password+`"}`).Code
	}
	if got := set("guessed", otherPassword); got != 401 {
		t.Errorf("a guess: %d", got)
	}
	if got := set(second, "short"); got != 400 {
		t.Errorf("a short password: %d", got)
	}
	if got := set(first, otherPassword); got != 204 {
		t.Fatalf("whoever asked once more made the first link invalid: %d", got)
	}
	checkEnded(w, before)
	if err := signIn(w, "viewer@acme.test", otherPassword); err != nil {
		t.Error(err)
	}
	for name, token := range map[string]string{"the link once more": first, "another one of the account": second} {
		if got := set(token, paneltest.Password); got != 401 {
			t.Errorf("%s: %d", name, got)
		}
	}
	if rec := w.Page("POST", "/panel/v1/forgotten", "", `{"email":"viewer@acme.test"}`); rec.Code != 204 {
		t.Errorf("the third: %d", rec.Code)
	}
	if rec := w.Page("POST", "/panel/v1/forgotten", "", `{"email":"viewer@acme.test"}`); rec.Code != 429 {
		t.Errorf("the fourth in a minute: %d", rec.Code)
	}

	// A link made by an administrator becomes invalid when the password is changed another way.
	admin := w.As("admin@acme.test")
	id := w.ID("teammate@acme.test")
	w.Want("POST", "/panel/v1/users/"+id+"/password-link", w.As("owner@beta.test"), `{}`, 404, "not_found", "")
	w.Want("POST", "/panel/v1/users/"+w.ID("owner@acme.test")+"/password-link", admin, `{}`, 403, "forbidden", "")
	if made := w.Want("POST", "/panel/v1/users/"+id+"/password-link", admin, `{}`, 200, "", ""); made["sent"] != true ||
		made["link"] != nil {
		t.Error(made)
	}
	_, token := w.Post.Last(t)
	w.Want("POST", "/panel/v1/users/"+id+"/password", admin, `{"password":"`+otherPassword+`"}`, 204, "", "")
	if got := set(token, paneltest.Password); got != 401 {
		t.Errorf("after another change: %d", got)
	}
}
