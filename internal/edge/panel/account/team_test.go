package account_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"carillon/internal/account/sso"
	"carillon/internal/account/sso/ssotest"
	"carillon/internal/edge/panel/account"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

// invitation requests the data that the invitation page shows.
func invitation(w *paneltest.World, token string, status int) (shown map[string]any) {
	w.T.Helper()
	rec := w.Page("POST", "/panel/v1/invitation", "", `{"token":"`+token+`"}`)
	if err := json.Unmarshal(rec.Body.Bytes(), &shown); err != nil || rec.Code != status {
		w.T.Errorf("the invitation: %d %s, want %d", rec.Code, rec.Body, status)
	}
	return shown
}

func cookieOf(rec *httptest.ResponseRecorder, name string) string {
	for _, c := range rec.Result().Cookies() {
		if c.Name == name && c.Value != "" {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

func TestSomebodyIsInvited(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	admin := w.As("admin@acme.test")
	w.Want("POST", "/panel/v1/invitations", admin, `{"email":"vera@acme.test","role":"owner"}`, 403, "forbidden", "")
	w.Want("POST", "/panel/v1/invitations", admin, `{"email":"vera@acme.test","role":"queen"}`, 400, "validation_failed", "role")
	w.Want("POST", "/panel/v1/invitations", admin, `{"email":"vera","role":"viewer"}`, 400, "validation_failed", "email")
	w.Want("POST", "/panel/v1/invitations", admin, `{"email":"viewer@acme.test","role":"viewer"}`, 409, "conflict", "")
	made := w.Want("POST", "/panel/v1/invitations", admin, `{"email":"Vera@acme.test","role":"teammate","language":"es"}`, 201, "", "")
	m, token := w.Post.Last(t)
	if m.To != "vera@acme.test" || !strings.Contains(m.Subject, "le ha invitado a acme") || made["link"] != nil || made["sent_at"] == nil {
		t.Fatalf("%+v, %v", m, made)
	}
	seen := invitation(w, token, 200)
	if seen["company"] != "acme" || seen["email"] != "vera@acme.test" || seen["known"] != false {
		t.Errorf("the invitation shows %v", seen)
	}

	// After a resend, the first link is no longer valid.
	w.Want("POST", "/panel/v1/invitations/"+made["id"].(string)+"/resend", admin, `{}`, 200, "", "")
	if e := invitation(w, token, 401); e["details"].(map[string]any)["reason"] != "invalid" {
		t.Error(e)
	}
	_, token = w.Post.Last(t)
	accept := func(more string) *httptest.ResponseRecorder {
		return w.Page("POST", "/panel/v1/invitation/accept", "", `{"token":"`+token+`"`+more+`}`)
	}
	for _, more := range []string{
		``, `,"name":"Vera"`, `,"name":"Vera","password":"short"`, `,"name":"","password":"a-long-enough-password"`,
		`,"name":"V","password":"a-long-enough-password","role":"owner"`,
	} {
		if rec := accept(more); rec.Code != 400 {
			t.Errorf("%s: %d %s", more, rec.Code, rec.Body)
		}
	}
	if code, _ := w.Do("POST", "/panel/v1/invitation/accept", "", `{"token":"`+token+
		`","name":"Vera","password":"a-long-enough-password"}`); code != 403 {
		t.Errorf("from another site: %d", code)
	}
	rec := accept(`,"name":"Vera","password":"a-long-enough-password"`)
	var me struct {
		Account   struct{ Name, Email string }
		Companies []struct{ Role string }
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &me); err != nil || rec.Code != 200 || me.Account.Email != "vera@acme.test" ||
		len(me.Companies) != 1 || me.Companies[0].Role != "teammate" {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if got := w.Page("GET", "/panel/v1/session", cookieOf(rec, member.SessionCookie), ""); got.Code != 200 {
		t.Errorf("the new account is not signed in: %d", got.Code)
	}
	if rec := accept(`,"name":"Eve","password":"a-long-enough-password"`); rec.Code != 401 {
		t.Errorf("the link once more: %d", rec.Code)
	}
	if all := w.Want("GET", "/panel/v1/invitations", admin, "", 200, "", ""); len(all["data"].([]any)) != 0 {
		t.Errorf("still open: %v", all)
	}
}

func TestAnAccountIsInvitedToAnotherCompany(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("beta")
	w.Want("POST", "/panel/v1/invitations", w.As("owner@acme.test"), `{"email":"viewer@beta.test","role":"admin"}`, 201, "", "")
	_, token := w.Post.Last(t)
	body := `{"token":"` + token + `"}`
	if seen := invitation(w, token, 200); seen["known"] != true {
		t.Error(seen)
	}
	w.Want("POST", "/panel/v1/invitation/accept", "", body, 403, "forbidden", "") // not sent by a page of the panel
	signIn := func(email string) string {
		return cookieOf(
			w.Page("POST", "/panel/v1/session", "", `{"email":"`+email+`","password":"`+paneltest.Password+`"}`), member.SessionCookie,
		)
	}
	if rec := w.Page("POST", "/panel/v1/invitation/accept", "", body); rec.Code != 401 {
		t.Errorf("nobody: %d", rec.Code)
	}
	if rec := w.Page("POST", "/panel/v1/invitation/accept", signIn("owner@beta.test"), body); rec.Code != 403 {
		t.Errorf("somebody else: %d", rec.Code)
	}
	if rec := w.Page("POST", "/panel/v1/invitation/accept", signIn("viewer@beta.test"), body); rec.Code != 200 ||
		!strings.Contains(rec.Body.String(), `"role":"admin"`) {
		t.Errorf("the invited: %d %s", rec.Code, rec.Body)
	}
	if rec := w.Page("POST", "/panel/v1/invitation/accept", signIn("viewer@beta.test"), body); rec.Code != 401 {
		t.Errorf("once more: %d", rec.Code)
	}
}

func TestInvitationsAreOneCompanysAndEnd(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("beta")
	now := time.Now()
	late := &accounts.Invitation{
		CompanyID: acme.ID, Email: "late@acme.test", Role: "owner", InvitedBy: "Owner", CreatedAt: now.Add(-8 * 24 * time.Hour),
		ExpiresAt: now.Add(-time.Hour),
	}
	if err := w.Store.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutInvitation(ctx, tx, late, "the-secret")
	}); err != nil {
		t.Fatal(err)
	}
	if e := invitation(w, "the-secret", 401); e["details"].(map[string]any)["reason"] != "expired" {
		t.Error(e)
	}
	if rec := w.Page(
		"POST", "/panel/v1/invitation/accept", "", `{"token":"the-secret","name":"L","password":"a-long-enough-password"}`,
	); rec.Code != 401 {
		t.Errorf("%d", rec.Code)
	}
	stranger, admin := w.As("owner@beta.test"), w.As("admin@acme.test")
	w.Want("POST", "/panel/v1/invitations/"+late.ID+"/resend", stranger, `{}`, 404, "not_found", "")
	w.Want("DELETE", "/panel/v1/invitations/"+late.ID, stranger, "", 404, "not_found", "")
	w.Want("DELETE", "/panel/v1/invitations/"+late.ID, admin, "", 403, "forbidden", "") // an owner's invitation
	w.Want("POST", "/panel/v1/invitations/"+late.ID+"/resend", admin, `{}`, 403, "forbidden", "")
	w.Want("DELETE", "/panel/v1/invitations/"+late.ID, w.As("owner@acme.test"), "", 204, "", "")

	w.Post.Down = errors.New("550 mailbox full")
	made := w.Want("POST", "/panel/v1/invitations", admin, `{"email":"new@acme.test","role":"viewer"}`, 201, "", "")
	link, _ := made["link"].(string)
	if !paneltest.LinkIn.MatchString(link) || made["problem"] != "550 mailbox full" || made["sent_at"] != nil {
		t.Errorf("without the e-mail it shows %v", made)
	}
}

func TestASecondFactorIsTurnedOnAndOff(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	viewer := w.As("viewer@acme.test")
	w.Want("POST", "/panel/v1/user/second-factor", viewer, `{"present":"wrong-password"}`, 400, "validation_failed", "present")
	p := w.Want("POST", "/panel/v1/user/second-factor", viewer, `{"present":"`+paneltest.Password+`"}`, 200, "", "")
	w.Want("POST", "/panel/v1/user/second-factor/confirm", viewer, `{"code":"000000"}`, 400, "validation_failed", "code")
	code, err := totp.GenerateCode(p["secret"].(string), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	done := w.Want("POST", "/panel/v1/user/second-factor/confirm", viewer, `{"code":"`+code+`"}`, 200, "", "")
	codes := done["recovery_codes"].([]any)
	if state := w.Want("GET", "/panel/v1/user/second-factor", viewer, "", 200, "", ""); state["enabled"] != true ||
		state["recovery_codes"] != 10.0 || state["secret"] != nil {
		t.Error(state)
	}
	signIn := func(more string) *httptest.ResponseRecorder {
		return w.Page("POST", "/panel/v1/session", "", `{"email":"viewer@acme.test","password":"`+paneltest.Password+`"`+more+`}`)
	}
	if rec := signIn(""); rec.Code != 401 || !strings.Contains(rec.Body.String(), "code_required") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if rec := signIn(`,"code":"` + codes[0].(string) + `"`); rec.Code != 200 || cookieOf(rec, member.SessionCookie) == "" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	fresh := w.Want(
		"POST", "/panel/v1/user/second-factor/recovery-codes", viewer, `{"code":"`+codes[1].(string)+`"}`, 200, "", "",
	)["recovery_codes"].([]any)
	w.Want(
		"POST", "/panel/v1/user/second-factor/remove", viewer, `{"present":"`+paneltest.Password+`","code":"`+codes[2].(string)+`"}`,
		400, "validation_failed", "code",
	)
	w.Want(
		"POST", "/panel/v1/user/second-factor/remove", viewer, `{"present":"`+paneltest.Password+`","code":"`+fresh[0].(string)+`"}`,
		204, "", "",
	)
	if rec := signIn(""); rec.Code != 200 {
		t.Errorf("without it: %d", rec.Code)
	}

	// A user administrator helps someone who lost their second factor.
	p = w.Want("POST", "/panel/v1/user/second-factor", viewer, `{"present":"`+paneltest.Password+`"}`, 200, "", "")
	if code, err = totp.GenerateCode(p["secret"].(string), time.Now()); err != nil {
		t.Fatal(err)
	}
	w.Want("POST", "/panel/v1/user/second-factor/confirm", viewer, `{"code":"`+code+`"}`, 200, "", "")
	admin, id := w.As("admin@acme.test"), w.ID("viewer@acme.test")
	if rows := w.Want("GET", "/panel/v1/users", admin, "", 200, "", "")["data"].([]any); !strings.Contains(
		strings.ReplaceAll(string(must(json.Marshal(rows))), " ", ""), `"second_factor":true`,
	) {
		t.Error("the list does not show the second factor")
	}
	w.Want("DELETE", "/panel/v1/users/"+w.ID("owner@acme.test")+"/second-factor", admin, "", 403, "forbidden", "")
	w.Want("DELETE", "/panel/v1/users/"+w.ID("admin@acme.test")+"/second-factor", admin, "", 409, "conflict", "")
	w.Want("DELETE", "/panel/v1/users/"+id+"/second-factor", admin, "", 204, "", "")
	checkEnded(w, viewer)
	if rec := signIn(""); rec.Code != 200 {
		t.Errorf("without the second factor: %d", rec.Code)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func TestSingleSignOn(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	issuer := ssotest.Start(t)
	ssotest.Allow("panel-test", "a-secret", "https://panel.test/panel/v1/sso/callback")
	w.SSO.Server = sso.New(sso.Options{
		Issuer: issuer, ClientID: "panel-test", ClientSecret: "a-secret", Name: "Acme ID", Log: slog.New(slog.DiscardHandler),
	})
	begin := func(next string) (cookie, address string) {
		t.Helper()
		rec := w.Page("GET", "/panel/v1/sso?next="+url.QueryEscape(next), "", "")
		if rec.Code != 302 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		return cookieOf(rec, account.AttemptCookie), rec.Header().Get("Location")
	}
	finish := func(cookie string, back *url.URL) *httptest.ResponseRecorder {
		return w.Page("GET", "/panel/v1/sso/callback?"+back.RawQuery, cookie, "")
	}
	leads := func(rec *httptest.ResponseRecorder, to string) {
		t.Helper()
		if got := rec.Header().Get("Location"); rec.Code != http.StatusSeeOther || got != to {
			t.Errorf("%d to %s, want %s", rec.Code, got, to)
		}
	}
	cookie, address := begin("/keys")
	back := ssotest.SignIn(t, address, ssotest.User, ssotest.Password)
	leads(finish(cookie, back), "/panel/sign-in?sso=stranger")

	now := time.Now()
	i := &accounts.Invitation{
		CompanyID: acme.ID, Email: ssotest.Email, Role: "marketer", InvitedBy: "Owner", CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	if err := w.Store.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutInvitation(ctx, tx, i, "x")
	}); err != nil {
		t.Fatal(err)
	}
	for next, to := range map[string]string{
		"/keys?a=b": "/panel/keys?a=b", "": "/panel", "https://evil.test/": "/panel", "//evil.test": "/panel", `/\evil.test`: "/panel",
		"evil": "/panel", "/../..//evil.test": "/panel", "/keys\r\nX: y": "/panel",
	} {
		cookie, address := begin(next)
		rec := finish(cookie, ssotest.SignIn(t, address, ssotest.User, ssotest.Password))
		leads(rec, to)
		if got := w.Page("GET", "/panel/v1/session", cookieOf(rec, member.SessionCookie), ""); got.Code != 200 ||
			!strings.Contains(got.Body.String(), `"role":"marketer"`) {
			t.Errorf("%s: %d %s", next, got.Code, got.Body)
		}
	}
	// The attempt's cookie may be planted, so its next page is checked again.
	for _, next := range paneltest.HostileNexts {
		cookie, address := begin("/keys")
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(cookie, account.AttemptCookie+"="))
		var a account.Attempt
		if err == nil {
			err = json.Unmarshal(raw, &a)
		}
		if err != nil {
			t.Fatal(err)
		}
		a.Next = next
		cookie = account.AttemptCookie + "=" + base64.RawURLEncoding.EncodeToString(must(json.Marshal(a)))
		leads(finish(cookie, ssotest.SignIn(t, address, ssotest.User, ssotest.Password)), "/panel")
	}
	// Rejected: another browser's response, a response without an attempt, and a reused response.
	mine, _ := begin("")
	theirs, address := begin("")
	back = ssotest.SignIn(t, address, ssotest.User, ssotest.Password)
	leads(finish(mine, back), "/panel/sign-in?sso=refused")
	leads(finish("", back), "/panel/sign-in?sso=refused")
	leads(finish(account.AttemptCookie+"=%%%", back), "/panel/sign-in?sso=refused")
	leads(finish(theirs, &url.URL{RawQuery: "error=access_denied"}), "/panel/sign-in?sso=refused")
	w.SSO.Server = sso.New(sso.Options{Issuer: "http://127.0.0.1:1", ClientID: "panel-test", Log: slog.New(slog.DiscardHandler)})
	leads(w.Page("GET", "/panel/v1/sso", "", ""), "/panel/sign-in?sso=down")
	for range account.AttemptRate {
		w.Page("GET", "/panel/v1/sso", "", "")
	}
	leads(w.Page("GET", "/panel/v1/sso", "", ""), "/panel/sign-in?sso=often")
	leads(finish(mine, back), "/panel/sign-in?sso=often")
}
