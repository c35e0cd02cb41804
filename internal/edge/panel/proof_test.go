package panel

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
	"carillon/internal/store"
)

const squattersPassword = "the-squatters-battery"

// squat has the administrator of a company make an account with somebody else's e-mail, sign in with it and turn a second factor on. It
// returns the squatter's session and recovery codes.
func (w *world) squat(admin, email string) (session string, codes []string) {
	w.t.Helper()
	w.want("POST", "/panel/v1/users", admin, `{"email":"`+email+`","password":"`+squattersPassword+`","role":"viewer"}`, 201, "", "")
	x, err := w.auth.SignIn(w.t.Context(), auth.Credentials{Email: email, Password: squattersPassword}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	session = "Bearer " + x.AccessToken
	p := w.want("POST", "/panel/v1/user/second-factor", session, `{"present":"`+squattersPassword+`"}`, 200, "", "")
	code, err := totp.GenerateCode(p["secret"].(string), time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	done := w.want("POST", "/panel/v1/user/second-factor/confirm", session, `{"code":"`+code+`"}`, 200, "", "")
	for _, c := range done["recovery_codes"].([]any) {
		codes = append(codes, c.(string))
	}
	return session, codes
}

// shut checks that nothing of a squatter's gets into an account any more.
func (w *world) shut(email, session string, codes []string) {
	w.t.Helper()
	w.ended(session)
	with := auth.Credentials{Email: email, Password: squattersPassword, Code: codes[0]}
	if _, err := w.auth.SignIn(w.t.Context(), with, ""); err == nil {
		w.t.Error("the squatter's password signs in")
	}
	if f, err := w.store.Factor(w.t.Context(), w.id(email)); f != nil || err != nil {
		w.t.Errorf("the squatter's second factor stays: %v, %v", f, err)
	}
}

// acceptAs accepts an invitation as a page does.
func (w *world) acceptAs(token, cookie, more string) *httptest.ResponseRecorder {
	return w.page("POST", "/panel/v1/invitation/accept", cookie, `{"token":"`+token+`"`+more+`}`)
}

const cfo = "cfo@beta.test"

func TestSingleSignOnTakesAnAccountFromWhoMadeIt(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	w.company("beta")
	session, codes := w.squat(w.as("admin@alpha.test"), cfo)
	w.post.down = errors.New("550 mailbox full")
	made := w.want("POST", "/panel/v1/users/"+w.id(cfo)+"/password-link", w.as("admin@alpha.test"), `{}`, 200, "", "")
	_, link, _ := strings.Cut(made["link"].(string), "#")

	_, c, err := auth.NewBrowsers(w.auth).SignInVouched(t.Context(), auth.Vouched{Issuer: "https://id.test", Subject: "7", Email: "CFO@beta.test"}, auth.Client{})
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	w.shut(cfo, session, codes)
	if rec := w.page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+link+`","password":"`+otherPassword+`"}`); rec.Code != 401 {
		t.Errorf("the squatter's link: %d %s", rec.Code, rec.Body)
	}
}

func TestAPasswordOfAnAdministratorEndsWithTheNextSingleSignOn(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	const email = "viewer@alpha.test"
	person := auth.Vouched{Issuer: "https://id.test", Subject: "7", Email: email}
	browsers := auth.NewBrowsers(w.auth)
	if _, c, err := browsers.SignInVouched(t.Context(), person, auth.Client{}); c == nil || err != nil {
		t.Fatal(c, err)
	}
	if err := w.signIn(email, goodPassword); err != nil {
		t.Errorf("single sign-on ended the person's own password: %v", err)
	}
	w.want("POST", "/panel/v1/users/"+w.id(email)+"/password", w.as("admin@alpha.test"), `{"password":"`+squattersPassword+`"}`, 204, "", "")
	x, err := w.auth.SignIn(t.Context(), auth.Credentials{Email: email, Password: squattersPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, c, err := browsers.SignInVouched(t.Context(), person, auth.Client{}); c == nil || err != nil {
			t.Fatal(c, err)
		}
	}
	w.ended("Bearer " + x.AccessToken)
	if err := w.signIn(email, squattersPassword); err == nil {
		t.Error("the administrator's password signs in after the person's single sign-on")
	}
}

func TestAnInvitationByEmailTakesAnAccountFromWhoMadeIt(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	w.company("beta")
	session, codes := w.squat(w.as("admin@alpha.test"), cfo)
	w.want("POST", "/panel/v1/invitations", w.as("owner@beta.test"), `{"email":"`+cfo+`","role":"admin"}`, 201, "", "")
	_, token := w.post.last(t)
	if seen := w.invitation(token, 200); seen["known"] != false {
		t.Errorf("whoever has the invitation is to sign in with the squatter's password: %v", seen)
	}
	cookie := cookieOf(w.page("POST", "/panel/v1/session", "", `{"email":"`+cfo+`","password":"`+squattersPassword+`","code":"`+codes[1]+`"}`), member.SessionCookie)
	if rec := w.acceptAs(token, cookie, ""); rec.Code != 400 {
		t.Errorf("the squatter accepts the invitation: %d %s", rec.Code, rec.Body)
	}
	rec := w.acceptAs(token, "", `,"name":"Carla","password":"`+otherPassword+`"`)
	var me me
	if err := json.Unmarshal(rec.Body.Bytes(), &me); err != nil || rec.Code != 200 || me.Account.Name != "Carla" || len(me.Companies) != 2 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	w.shut(cfo, session, codes)
	if rec := w.page("GET", "/panel/v1/session", cookie, ""); rec.Code != 401 {
		t.Errorf("the squatter's browser: %d", rec.Code)
	}
	if err := w.signIn(cfo, otherPassword); err != nil {
		t.Errorf("the person: %v", err)
	}
}

func TestALinkThatTheInviterSawProvesNothing(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	w.company("beta")
	session, _ := w.squat(w.as("admin@alpha.test"), cfo)
	w.post.down = errors.New("550 mailbox full")
	made := w.want("POST", "/panel/v1/invitations", w.as("owner@beta.test"), `{"email":"`+cfo+`","role":"admin"}`, 201, "", "")
	_, token, _ := strings.Cut(made["link"].(string), "#")
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"the page":        w.page("POST", "/panel/v1/invitation", "", `{"token":"`+token+`"}`),
		"a new password":  w.acceptAs(token, "", `,"name":"Eve","password":"`+otherPassword+`"`),
		"the link, alone": w.acceptAs(token, "", ""),
	} {
		if rec.Code != 409 || !strings.Contains(rec.Body.String(), `"unproved"`) {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
	if _, err := w.auth.Caller(t.Context(), session); err != nil {
		t.Errorf("the account does not work in its own company any more: %v", err)
	}

	// Who made an account by such a link may have been the inviter.
	made = w.want("POST", "/panel/v1/invitations", w.as("owner@beta.test"), `{"email":"new@beta.test","role":"viewer"}`, 201, "", "")
	_, token, _ = strings.Cut(made["link"].(string), "#")
	if rec := w.acceptAs(token, "", `,"name":"New","password":"`+squattersPassword+`"`); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if a, err := w.store.AccountByEmail(t.Context(), "new@beta.test"); err != nil || !a.ProvedAt.IsZero() {
		t.Errorf("proved at %v, %v", a.ProvedAt, err)
	}
}

func TestWhoeverSetsAPasswordForAnotherUnprovesTheAccount(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	const email = "viewer@alpha.test"
	admin, id := w.as("admin@alpha.test"), w.id(email)
	proved := func(when string, want bool) {
		t.Helper()
		a, err := w.store.Account(t.Context(), id)
		if err != nil || a.ProvedAt.IsZero() == want {
			t.Errorf("%s: proved at %v, %v", when, a.ProvedAt, err)
		}
	}
	set := func(token string) {
		t.Helper()
		if rec := w.page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+otherPassword+`"}`); rec.Code != 204 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}
	w.want("POST", "/panel/v1/users/"+id+"/password", admin, `{"password":"`+otherPassword+`"}`, 204, "", "")
	proved("by an administrator", false)
	if rec := w.page("POST", "/panel/v1/forgotten", "", `{"email":"`+email+`"}`); rec.Code != 204 {
		t.Fatal(rec.Code)
	}
	_, token := w.post.last(t)
	set(token)
	proved("by a link to the mailbox", true)
	w.post.down = errors.New("550 mailbox full")
	made := w.want("POST", "/panel/v1/users/"+id+"/password-link", admin, `{}`, 200, "", "")
	_, token, _ = strings.Cut(made["link"].(string), "#")
	set(token)
	proved("by a link that the administrator saw", false)
	w.post.down = nil
	w.want("POST", "/panel/v1/users/"+id+"/password-link", admin, `{}`, 200, "", "")
	_, token = w.post.last(t)
	set(token)
	proved("by an administrator's link that went to the mailbox alone", true)
}

func TestAnInvitationIsAcceptedOnlyWhileTheAccountIsProved(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	beta := w.company("beta")
	const email = "viewer@alpha.test"
	w.want("POST", "/panel/v1/invitations", w.as("owner@beta.test"), `{"email":"`+email+`","role":"admin"}`, 201, "", "")
	_, token := w.post.last(t)
	if seen := w.invitation(token, 200); seen["known"] != true {
		t.Error(seen)
	}
	w.want("POST", "/panel/v1/users/"+w.id(email)+"/password", w.as("admin@alpha.test"), `{"password":"`+squattersPassword+`"}`, 204, "", "")
	cookie := cookieOf(w.page("POST", "/panel/v1/session", "", `{"email":"`+email+`","password":"`+squattersPassword+`"}`), member.SessionCookie)
	if rec := w.acceptAs(token, cookie, ""); rec.Code != 400 {
		t.Errorf("with the administrator's password: %d %s", rec.Code, rec.Body)
	}
	all, err := w.store.Memberships(t.Context(), w.id(email))
	if err != nil || len(all) != 1 || all[0].CompanyID == beta.ID {
		t.Errorf("%v, %v", all, err)
	}
}

func TestTheFirstOwnerIsProvedAndUsersOfAnAdministratorAreNot(t *testing.T) {
	w := newWorld(t)
	token, _, err := w.auth.FirstToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.want("POST", "/panel/v1/users", "Bearer "+token, `{"email":"first@alpha.test","name":"First","password":"`+goodPassword+`","first":true,"company":"alpha"}`, 201, "", "")
	w.want("POST", "/panel/v1/users", w.as("first@alpha.test"), `{"email":"second@alpha.test","password":"`+goodPassword+`"}`, 201, "", "")
	for email, want := range map[string]bool{"first@alpha.test": true, "second@alpha.test": false} {
		if err := w.store.Update(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			if got, err := tx.Proved(ctx, w.id(email)); got != want || err != nil {
				t.Errorf("%s: %t, %v", email, got, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALetterThatFoldsToAnotherAddressIsNotFolded(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	w.want("POST", "/panel/v1/users", w.as("admin@alpha.test"), `{"email":"Kim@alpha.test","password":"`+goodPassword+`"}`, 201, "", "")
	if err := w.signIn("KIM@ALPHA.TEST", goodPassword); err != nil {
		t.Errorf("in capitals: %v", err)
	}
	for _, other := range []string{"\u212Aim@alpha.test", "k\u0130m@alpha.test"} { // the Kelvin sign, a capital I with a dot
		_, c, err := auth.NewBrowsers(w.auth).SignInVouched(t.Context(), auth.Vouched{Issuer: "https://id.test", Subject: other, Email: other}, auth.Client{})
		if c != nil || err != nil {
			t.Errorf("%q signs in as Kim: %v, %v", other, c, err)
		}
	}
}

// A link to the mailbox sets the password of an account that somebody else made, and leaves its second factor: an invitation by e-mail
// still takes the whole account.
func TestAnotherOnesSecondFactorKeepsNobodyOutForGood(t *testing.T) {
	w := newWorld(t)
	w.company("alpha")
	w.company("beta")
	session, codes := w.squat(w.as("admin@alpha.test"), cfo)
	if rec := w.page("POST", "/panel/v1/forgotten", "", `{"email":"`+cfo+`"}`); rec.Code != 204 {
		t.Fatal(rec.Code)
	}
	_, token := w.post.last(t)
	if rec := w.page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+otherPassword+`"}`); rec.Code != 204 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if err := w.signIn(cfo, otherPassword); err == nil {
		t.Error("the mailbox stands in for the second factor")
	}
	w.want("POST", "/panel/v1/invitations", w.as("owner@beta.test"), `{"email":"`+cfo+`","role":"admin"}`, 201, "", "")
	_, token = w.post.last(t)
	if rec := w.acceptAs(token, "", `,"name":"Carla","password":"`+goodPassword+`"`); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	w.shut(cfo, session, codes)
}

// prove records that an account's mailbox answered.
func (w *world) prove(email string) {
	w.t.Helper()
	if err := w.store.Update(w.t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.SetProof(ctx, w.id(email), time.Now())
	}); err != nil {
		w.t.Fatal(err)
	}
}
