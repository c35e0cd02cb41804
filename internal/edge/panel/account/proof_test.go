package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"carillon/internal/account/auth"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

const squattersPassword = "the-squatters-battery"

// squat lets a company's administrator create an account with someone else's e-mail address, sign in with it and turn
// on a second factor. It returns the squatter's session and recovery codes.
func squat(w *paneltest.World, admin, email string) (session string, codes []string) {
	w.T.Helper()
	w.Want("POST", "/panel/v1/users", admin, `{"email":"`+email+`","password":"`+squattersPassword+`","role":"viewer"}`, 201, "", "")
	x, err := w.Auth.SignIn(w.T.Context(), auth.Credentials{Email: email, Password: squattersPassword}, "")
	if err != nil {
		w.T.Fatal(err)
	}
	session = "Bearer " + x.AccessToken
	p := w.Want("POST", "/panel/v1/user/second-factor", session, `{"present":"`+squattersPassword+`"}`, 200, "", "")
	code, err := totp.GenerateCode(p["secret"].(string), time.Now())
	if err != nil {
		w.T.Fatal(err)
	}
	done := w.Want("POST", "/panel/v1/user/second-factor/confirm", session, `{"code":"`+code+`"}`, 200, "", "")
	for _, c := range done["recovery_codes"].([]any) {
		codes = append(codes, c.(string))
	}
	return session, codes
}

// shut checks that the squatter's session, password and second factor no longer work.
func shut(w *paneltest.World, email, session string, codes []string) {
	w.T.Helper()
	checkEnded(w, session)
	with := auth.Credentials{Email: email, Password: squattersPassword, Code: codes[0]}
	if _, err := w.Auth.SignIn(w.T.Context(), with, ""); err == nil {
		w.T.Error("the squatter's password signs in")
	}
	if f, err := w.Store.Factors.Factor(w.T.Context(), w.ID(email)); f != nil || err != nil {
		w.T.Errorf("the squatter's second factor stays: %v, %v", f, err)
	}
}

// acceptAs accepts an invitation like the page does.
func acceptAs(w *paneltest.World, token, cookie, more string) *httptest.ResponseRecorder {
	return w.Page("POST", "/panel/v1/invitation/accept", cookie, `{"token":"`+token+`"`+more+`}`)
}

const cfo = "cfo@beta.test"

func TestSingleSignOnTakesAnAccountFromWhoMadeIt(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	w.Company("beta")
	session, codes := squat(w, w.As("admin@alpha.test"), cfo)
	w.Post.Down = errors.New("550 mailbox full")
	made := w.Want("POST", "/panel/v1/users/"+w.ID(cfo)+"/password-link", w.As("admin@alpha.test"), `{}`, 200, "", "")
	_, link, _ := strings.Cut(made["link"].(string), "#")

	_, c, err := auth.NewBrowsers(w.Auth).SignInVouched(
		t.Context(), auth.Vouched{Issuer: "https://id.test", Subject: "7", Email: "CFO@beta.test"}, auth.Client{},
	)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	shut(w, cfo, session, codes)
	if rec := w.Page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+link+`","password":"`+otherPassword+`"}`); rec.Code != 401 {
		t.Errorf("the squatter's link: %d %s", rec.Code, rec.Body)
	}
}

func TestAPasswordOfAnAdministratorEndsWithTheNextSingleSignOn(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	const email = "viewer@alpha.test"
	person := auth.Vouched{Issuer: "https://id.test", Subject: "7", Email: email}
	browsers := auth.NewBrowsers(w.Auth)
	if _, c, err := browsers.SignInVouched(t.Context(), person, auth.Client{}); c == nil || err != nil {
		t.Fatal(c, err)
	}
	if err := signIn(w, email, paneltest.Password); err != nil {
		t.Errorf("single sign-on ended the person's own password: %v", err)
	}
	w.Want(
		"POST", "/panel/v1/users/"+w.ID(email)+"/password", w.As("admin@alpha.test"), `{"password":"`+squattersPassword+`"}`, 204, "",
		"",
	)
	x, err := w.Auth.SignIn(t.Context(), auth.Credentials{Email: email, Password: squattersPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, c, err := browsers.SignInVouched(t.Context(), person, auth.Client{}); c == nil || err != nil {
			t.Fatal(c, err)
		}
	}
	checkEnded(w, "Bearer "+x.AccessToken)
	if err := signIn(w, email, squattersPassword); err == nil {
		t.Error("the administrator's password signs in after the person's single sign-on")
	}
}

func TestAnInvitationByEmailTakesAnAccountFromWhoMadeIt(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	w.Company("beta")
	session, codes := squat(w, w.As("admin@alpha.test"), cfo)
	w.Want("POST", "/panel/v1/invitations", w.As("owner@beta.test"), `{"email":"`+cfo+`","role":"admin"}`, 201, "", "")
	_, token := w.Post.Last(t)
	if seen := invitation(w, token, 200); seen["known"] != false {
		t.Errorf("whoever has the invitation is to sign in with the squatter's password: %v", seen)
	}
	cookie := cookieOf(
		w.Page("POST", "/panel/v1/session", "", `{"email":"`+cfo+`","password":"`+squattersPassword+`","code":"`+codes[1]+`"}`),
		member.SessionCookie,
	)
	if rec := acceptAs(w, token, cookie, ""); rec.Code != 400 {
		t.Errorf("the squatter accepts the invitation: %d %s", rec.Code, rec.Body)
	}
	rec := acceptAs(w, token, "", `,"name":"Carla","password":"`+otherPassword+`"`)
	var me struct {
		Account   struct{ Name, Email string }
		Companies []struct{ Role string }
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &me); err != nil || rec.Code != 200 || me.Account.Name != "Carla" || len(me.Companies) != 2 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	shut(w, cfo, session, codes)
	if rec := w.Page("GET", "/panel/v1/session", cookie, ""); rec.Code != 401 {
		t.Errorf("the squatter's browser: %d", rec.Code)
	}
	if err := signIn(w, cfo, otherPassword); err != nil {
		t.Errorf("the person: %v", err)
	}
}

func TestALinkThatTheInviterSawProvesNothing(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	w.Company("beta")
	session, _ := squat(w, w.As("admin@alpha.test"), cfo)
	w.Post.Down = errors.New("550 mailbox full")
	made := w.Want("POST", "/panel/v1/invitations", w.As("owner@beta.test"), `{"email":"`+cfo+`","role":"admin"}`, 201, "", "")
	_, token, _ := strings.Cut(made["link"].(string), "#")
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"the page":        w.Page("POST", "/panel/v1/invitation", "", `{"token":"`+token+`"}`),
		"a new password":  acceptAs(w, token, "", `,"name":"Eve","password":"`+otherPassword+`"`),
		"the link, alone": acceptAs(w, token, "", ""),
	} {
		if rec.Code != 409 || !strings.Contains(rec.Body.String(), `"unproved"`) {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
	if _, err := w.Auth.Caller(t.Context(), session); err != nil {
		t.Errorf("the account does not work in its own company any more: %v", err)
	}

	// The inviter saw the link and may have created the account with it, so the account stays unproved.
	made = w.Want("POST", "/panel/v1/invitations", w.As("owner@beta.test"), `{"email":"new@beta.test","role":"viewer"}`, 201, "", "")
	_, token, _ = strings.Cut(made["link"].(string), "#")
	if rec := acceptAs(w, token, "", `,"name":"New","password":"`+squattersPassword+`"`); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if a, err := w.Store.Accounts.AccountByEmail(t.Context(), "new@beta.test"); err != nil || !a.ProvedAt.IsZero() {
		t.Errorf("proved at %v, %v", a.ProvedAt, err)
	}
}

func TestWhoeverSetsAPasswordForAnotherUnprovesTheAccount(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	const email = "viewer@alpha.test"
	admin, id := w.As("admin@alpha.test"), w.ID(email)
	proved := func(when string, want bool) {
		t.Helper()
		a, err := w.Store.Accounts.Account(t.Context(), id)
		if err != nil || a.ProvedAt.IsZero() == want {
			t.Errorf("%s: proved at %v, %v", when, a.ProvedAt, err)
		}
	}
	set := func(token string) {
		t.Helper()
		if rec := w.Page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+otherPassword+
			`"}`); rec.Code != 204 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}
	w.Want("POST", "/panel/v1/users/"+id+"/password", admin, `{"password":"`+otherPassword+`"}`, 204, "", "")
	proved("by an administrator", false)
	if rec := w.Page("POST", "/panel/v1/forgotten", "", `{"email":"`+email+`"}`); rec.Code != 204 {
		t.Fatal(rec.Code)
	}
	_, token := w.Post.Last(t)
	set(token)
	proved("by a link to the mailbox", true)
	w.Post.Down = errors.New("550 mailbox full")
	made := w.Want("POST", "/panel/v1/users/"+id+"/password-link", admin, `{}`, 200, "", "")
	_, token, _ = strings.Cut(made["link"].(string), "#")
	set(token)
	proved("by a link that the administrator saw", false)
	w.Post.Down = nil
	w.Want("POST", "/panel/v1/users/"+id+"/password-link", admin, `{}`, 200, "", "")
	_, token = w.Post.Last(t)
	set(token)
	proved("by an administrator's link that went to the mailbox alone", true)
}

func TestAnInvitationIsAcceptedOnlyWhileTheAccountIsProved(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	beta := w.Company("beta")
	const email = "viewer@alpha.test"
	w.Want("POST", "/panel/v1/invitations", w.As("owner@beta.test"), `{"email":"`+email+`","role":"admin"}`, 201, "", "")
	_, token := w.Post.Last(t)
	if seen := invitation(w, token, 200); seen["known"] != true {
		t.Error(seen)
	}
	w.Want(
		"POST", "/panel/v1/users/"+w.ID(email)+"/password", w.As("admin@alpha.test"), `{"password":"`+squattersPassword+`"}`, 204, "",
		"",
	)
	cookie := cookieOf(
		w.Page("POST", "/panel/v1/session", "", `{"email":"`+email+`","password":"`+squattersPassword+`"}`), member.SessionCookie,
	)
	if rec := acceptAs(w, token, cookie, ""); rec.Code != 400 {
		t.Errorf("with the administrator's password: %d %s", rec.Code, rec.Body)
	}
	all, err := accounts.Memberships(t.Context(), w.Store.DB, w.ID(email))
	if err != nil || len(all) != 1 || all[0].CompanyID == beta.ID {
		t.Errorf("%v, %v", all, err)
	}
}

func TestTheFirstOwnerIsProvedAndUsersOfAnAdministratorAreNot(t *testing.T) {
	w := paneltest.New(t)
	token, _, err := w.Auth.FirstToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Want(
		"POST", "/panel/v1/users", "Bearer "+token,
		`{"email":"first@alpha.test","name":"First","password":"`+paneltest.Password+`","first":true,"company":"alpha"}`, 201, "", "",
	)
	w.Want(
		"POST", "/panel/v1/users", w.As("first@alpha.test"), `{"email":"second@alpha.test","password":"`+paneltest.Password+`"}`, 201,
		"", "",
	)
	for email, want := range map[string]bool{"first@alpha.test": true, "second@alpha.test": false} {
		if err := w.Store.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			if got, err := accounts.Proved(ctx, tx, w.ID(email)); got != want || err != nil {
				t.Errorf("%s: %t, %v", email, got, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALetterThatFoldsToAnotherAddressIsNotFolded(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	w.Want(
		"POST", "/panel/v1/users", w.As("admin@alpha.test"), `{"email":"Kim@alpha.test","password":"`+paneltest.Password+`"}`, 201, "",
		"",
	)
	if err := signIn(w, "KIM@ALPHA.TEST", paneltest.Password); err != nil {
		t.Errorf("in capitals: %v", err)
	}
	for _, other := range []string{"\u212Aim@alpha.test", "k\u0130m@alpha.test"} { // the Kelvin sign, and a capital I with a dot
		_, c, err := auth.NewBrowsers(w.Auth).SignInVouched(
			t.Context(), auth.Vouched{Issuer: "https://id.test", Subject: other, Email: other}, auth.Client{},
		)
		if c != nil || err != nil {
			t.Errorf("%q signs in as Kim: %v, %v", other, c, err)
		}
	}
}

// A password link sent to the mailbox sets the password of an account created by someone else, and keeps its second
// factor. An invitation by e-mail still takes over the whole account.
func TestAnotherOnesSecondFactorKeepsNobodyOutForGood(t *testing.T) {
	w := paneltest.New(t)
	w.Company("alpha")
	w.Company("beta")
	session, codes := squat(w, w.As("admin@alpha.test"), cfo)
	if rec := w.Page("POST", "/panel/v1/forgotten", "", `{"email":"`+cfo+`"}`); rec.Code != 204 {
		t.Fatal(rec.Code)
	}
	_, token := w.Post.Last(t)
	if rec := w.Page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+otherPassword+`"}`); rec.Code != 204 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if err := signIn(w, cfo, otherPassword); err == nil {
		t.Error("the mailbox stands in for the second factor")
	}
	w.Want("POST", "/panel/v1/invitations", w.As("owner@beta.test"), `{"email":"`+cfo+`","role":"admin"}`, 201, "", "")
	_, token = w.Post.Last(t)
	if rec := acceptAs(w, token, "", `,"name":"Carla","password":"`+paneltest.Password+`"`); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	shut(w, cfo, session, codes)
}

// prove marks an account as proved, as if its mailbox had confirmed it.
func prove(w *paneltest.World, email string) {
	w.T.Helper()
	if err := w.Store.Config.Update(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.SetProof(ctx, tx, w.ID(email), time.Now())
	}); err != nil {
		w.T.Fatal(err)
	}
}
