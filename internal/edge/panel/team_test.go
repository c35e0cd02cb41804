package panel

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"carillon/internal/account/mail"
	"carillon/internal/account/sso"
	"carillon/internal/account/sso/ssotest"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// postbox keeps e-mails, or refuses them.
type postbox struct {
	mu   sync.Mutex
	all  []mail.Message
	down error
}

func (p *postbox) Send(_ context.Context, x mail.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down == nil {
		p.all = append(p.all, x)
	}
	return p.down
}

func (p *postbox) Post(job mail.Job) bool {
	x, err := job(context.Background())
	return err == nil && (x == nil || p.Send(context.Background(), *x) == nil)
}

var linkIn = regexp.MustCompile(`https://panel\.test/panel/[a-z]+#([\w-]{43})`)

// last returns the newest e-mail and the secret of its link.
func (p *postbox) last(t *testing.T) (mail.Message, string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) == 0 {
		t.Fatal("no e-mail was sent")
	}
	x := p.all[len(p.all)-1]
	found := linkIn.FindStringSubmatch(x.Text)
	if found == nil || !strings.Contains(x.HTML, found[0]) {
		t.Fatalf("no link in %+v", x)
	}
	return x, found[1]
}

// page sends a request as a page of the panel does, with a cookie.
func (w *world) page(method, path, cookie, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Carillon-Panel", "1")
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, r)
	return rec
}

// invitation asks for what the page of an invitation shows.
func (w *world) invitation(token string, status int) (shown map[string]any) {
	w.t.Helper()
	rec := w.page("POST", "/panel/v1/invitation", "", `{"token":"`+token+`"}`)
	if err := json.Unmarshal(rec.Body.Bytes(), &shown); err != nil || rec.Code != status {
		w.t.Errorf("the invitation: %d %s, want %d", rec.Code, rec.Body, status)
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
	w := newWorld(t)
	w.company("acme")
	admin := w.as("admin@acme.test")
	w.want("POST", "/panel/v1/invitations", admin, `{"email":"vera@acme.test","role":"owner"}`, 403, "forbidden", "")
	w.want("POST", "/panel/v1/invitations", admin, `{"email":"vera@acme.test","role":"queen"}`, 400, "validation_failed", "role")
	w.want("POST", "/panel/v1/invitations", admin, `{"email":"vera","role":"viewer"}`, 400, "validation_failed", "email")
	w.want("POST", "/panel/v1/invitations", admin, `{"email":"viewer@acme.test","role":"viewer"}`, 409, "conflict", "")
	made := w.want("POST", "/panel/v1/invitations", admin, `{"email":"Vera@acme.test","role":"teammate","language":"es"}`, 201, "", "")
	m, token := w.post.last(t)
	if m.To != "vera@acme.test" || !strings.Contains(m.Subject, "invita a acme") || made["link"] != nil || made["sent_at"] == nil {
		t.Fatalf("%+v, %v", m, made)
	}
	seen := w.invitation(token, 200)
	if seen["company"] != "acme" || seen["email"] != "vera@acme.test" || seen["known"] != false {
		t.Errorf("the invitation shows %v", seen)
	}

	// Sent again, the first link is no longer good.
	w.want("POST", "/panel/v1/invitations/"+made["id"].(string)+"/resend", admin, `{}`, 200, "", "")
	if e := w.invitation(token, 401); e["details"].(map[string]any)["reason"] != "invalid" {
		t.Error(e)
	}
	_, token = w.post.last(t)
	accept := func(more string) *httptest.ResponseRecorder {
		return w.page("POST", "/panel/v1/invitation/accept", "", `{"token":"`+token+`"`+more+`}`)
	}
	for _, more := range []string{``, `,"name":"Vera"`, `,"name":"Vera","password":"short"`, `,"name":"","password":"a-long-enough-password"`, `,"name":"V","password":"a-long-enough-password","role":"owner"`} {
		if rec := accept(more); rec.Code != 400 {
			t.Errorf("%s: %d %s", more, rec.Code, rec.Body)
		}
	}
	if code, _ := w.do("POST", "/panel/v1/invitation/accept", "", `{"token":"`+token+`","name":"Vera","password":"a-long-enough-password"}`); code != 403 {
		t.Errorf("from another site: %d", code)
	}
	rec := accept(`,"name":"Vera","password":"a-long-enough-password"`)
	var me me
	if err := json.Unmarshal(rec.Body.Bytes(), &me); err != nil || rec.Code != 200 || me.Account.Email != "vera@acme.test" || len(me.Companies) != 1 || me.Companies[0].Role != "teammate" {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if got := w.page("GET", "/panel/v1/session", cookieOf(rec, member.SessionCookie), ""); got.Code != 200 {
		t.Errorf("the new account is not signed in: %d", got.Code)
	}
	if rec := accept(`,"name":"Eve","password":"a-long-enough-password"`); rec.Code != 401 {
		t.Errorf("the link once more: %d", rec.Code)
	}
	if all := w.want("GET", "/panel/v1/invitations", admin, "", 200, "", ""); len(all["data"].([]any)) != 0 {
		t.Errorf("still open: %v", all)
	}
}

func TestAnAccountIsInvitedToAnotherCompany(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	w.company("beta")
	w.want("POST", "/panel/v1/invitations", w.as("owner@acme.test"), `{"email":"viewer@beta.test","role":"admin"}`, 201, "", "")
	_, token := w.post.last(t)
	body := `{"token":"` + token + `"}`
	if seen := w.invitation(token, 200); seen["known"] != true {
		t.Error(seen)
	}
	w.want("POST", "/panel/v1/invitation/accept", "", body, 403, "forbidden", "") // no page of the panel
	signIn := func(email string) string {
		return cookieOf(w.page("POST", "/panel/v1/session", "", `{"email":"`+email+`","password":"`+goodPassword+`"}`), member.SessionCookie)
	}
	if rec := w.page("POST", "/panel/v1/invitation/accept", "", body); rec.Code != 401 {
		t.Errorf("nobody: %d", rec.Code)
	}
	if rec := w.page("POST", "/panel/v1/invitation/accept", signIn("owner@beta.test"), body); rec.Code != 403 {
		t.Errorf("somebody else: %d", rec.Code)
	}
	if rec := w.page("POST", "/panel/v1/invitation/accept", signIn("viewer@beta.test"), body); rec.Code != 200 || !strings.Contains(rec.Body.String(), `"role":"admin"`) {
		t.Errorf("the invited: %d %s", rec.Code, rec.Body)
	}
	if rec := w.page("POST", "/panel/v1/invitation/accept", signIn("viewer@beta.test"), body); rec.Code != 401 {
		t.Errorf("once more: %d", rec.Code)
	}
}

func TestInvitationsAreOneCompanysAndEnd(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	w.company("beta")
	now := time.Now()
	late := &accounts.Invitation{CompanyID: acme.ID, Email: "late@acme.test", Role: "owner", InvitedBy: "Owner", CreatedAt: now.Add(-8 * 24 * time.Hour), ExpiresAt: now.Add(-time.Hour)}
	if err := w.store.Update(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.PutInvitation(ctx, late, "the-secret") }); err != nil {
		t.Fatal(err)
	}
	if e := w.invitation("the-secret", 401); e["details"].(map[string]any)["reason"] != "expired" {
		t.Error(e)
	}
	if rec := w.page("POST", "/panel/v1/invitation/accept", "", `{"token":"the-secret","name":"L","password":"a-long-enough-password"}`); rec.Code != 401 {
		t.Errorf("%d", rec.Code)
	}
	stranger, admin := w.as("owner@beta.test"), w.as("admin@acme.test")
	w.want("POST", "/panel/v1/invitations/"+late.ID+"/resend", stranger, `{}`, 404, "not_found", "")
	w.want("DELETE", "/panel/v1/invitations/"+late.ID, stranger, "", 404, "not_found", "")
	w.want("DELETE", "/panel/v1/invitations/"+late.ID, admin, "", 403, "forbidden", "") // an owner's
	w.want("POST", "/panel/v1/invitations/"+late.ID+"/resend", admin, `{}`, 403, "forbidden", "")
	w.want("DELETE", "/panel/v1/invitations/"+late.ID, w.as("owner@acme.test"), "", 204, "", "")

	w.post.down = errors.New("550 mailbox full")
	made := w.want("POST", "/panel/v1/invitations", admin, `{"email":"new@acme.test","role":"viewer"}`, 201, "", "")
	link, _ := made["link"].(string)
	if !linkIn.MatchString(link) || made["problem"] != "550 mailbox full" || made["sent_at"] != nil {
		t.Errorf("without the e-mail it shows %v", made)
	}
}

func TestLinksForAPasswordEndWithTheRightToMakeThem(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	beta := w.company("beta")
	w.post.down = errors.New("550 mailbox full") // so that the link is shown to who made it
	admin := w.as("admin@acme.test")
	var victim string
	link := func(email string) (token string) {
		t.Helper()
		victim = w.id(email)
		made := w.want("POST", "/panel/v1/users/"+victim+"/password-link", admin, `{}`, 200, "", "")
		_, token, _ = strings.Cut(made["link"].(string), "#")
		return token
	}
	set := func(token string) int {
		return w.page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+otherPassword+`"}`).Code
	}
	change := func(do func(ctx context.Context, tx *store.Tx) error) {
		t.Helper()
		if err := w.store.Configure(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	token := link("viewer@acme.test")
	change(func(ctx context.Context, tx *store.Tx) error {
		return tx.AddMembership(ctx, accounts.Membership{AccountID: victim, CompanyID: beta.ID, Role: "viewer"})
	})
	if got := set(token); got != 401 {
		t.Errorf("for somebody who joined another company meanwhile: %d", got)
	}
	token = link("teammate@acme.test")
	change(func(ctx context.Context, tx *store.Tx) error {
		all, err := tx.Memberships(ctx, w.id("admin@acme.test"))
		if err != nil {
			return err
		}
		all[0].Role = "viewer"
		return tx.PutMembership(ctx, all[0])
	})
	if got := set(token); got != 401 {
		t.Errorf("by somebody who administers no more: %d", got)
	}
	change(func(ctx context.Context, tx *store.Tx) error {
		all, err := tx.Memberships(ctx, w.id("admin@acme.test"))
		if err != nil {
			return err
		}
		all[0].Role = "admin"
		return tx.PutMembership(ctx, all[0])
	})
	if got := set(token); got != 204 {
		t.Errorf("by somebody who administers again: %d", got)
	}
}

func TestNobodyFloodsAMailbox(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	x := forgotten{Gate: w.gate(), Store: w.store, Letters: letters{Limits: w.limits}}
	for range 10 {
		if _, err := x.message(t.Context(), "viewer@acme.test", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := x.message(t.Context(), "viewer@acme.test", "en"); m != nil || err != nil {
		t.Errorf("after ten requests another e-mail is sent: %v", err)
	}
	if m, err := x.message(t.Context(), "teammate@acme.test", "en"); m == nil || err != nil {
		t.Errorf("somebody else gets none: %v", err)
	}
}

func TestAForgottenPasswordIsSet(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	w.company("beta")
	w.post.all = nil
	if rec := w.page("POST", "/panel/v1/forgotten", "", `{"email":"nobody@acme.test"}`); rec.Code != 204 || len(w.post.all) != 0 {
		t.Errorf("for a stranger: %d, %d e-mails", rec.Code, len(w.post.all))
	}
	ask := func() string {
		t.Helper()
		if rec := w.page("POST", "/panel/v1/forgotten", "", `{"email":"Viewer@acme.test"}`); rec.Code != 204 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		_, token := w.post.last(t)
		return token
	}
	before := w.as("viewer@acme.test")
	first, second := ask(), ask()
	set := func(token, password string) int {
		return w.page("POST", "/panel/v1/forgotten/password", "", `{"token":"`+token+`","password":"`+password+`"}`).Code
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
	w.ended(before)
	if err := w.signIn("viewer@acme.test", otherPassword); err != nil {
		t.Error(err)
	}
	for name, token := range map[string]string{"the link once more": first, "another one of the account": second} {
		if got := set(token, goodPassword); got != 401 {
			t.Errorf("%s: %d", name, got)
		}
	}
	if rec := w.page("POST", "/panel/v1/forgotten", "", `{"email":"viewer@acme.test"}`); rec.Code != 204 {
		t.Errorf("the third: %d", rec.Code)
	}
	if rec := w.page("POST", "/panel/v1/forgotten", "", `{"email":"viewer@acme.test"}`); rec.Code != 429 {
		t.Errorf("the fourth in a minute: %d", rec.Code)
	}

	// Made by an administrator, where a password that is changed otherwise makes it invalid.
	admin := w.as("admin@acme.test")
	id := w.id("teammate@acme.test")
	w.want("POST", "/panel/v1/users/"+id+"/password-link", w.as("owner@beta.test"), `{}`, 404, "not_found", "")
	w.want("POST", "/panel/v1/users/"+w.id("owner@acme.test")+"/password-link", admin, `{}`, 403, "forbidden", "")
	if made := w.want("POST", "/panel/v1/users/"+id+"/password-link", admin, `{}`, 200, "", ""); made["sent"] != true || made["link"] != nil {
		t.Error(made)
	}
	_, token := w.post.last(t)
	w.want("POST", "/panel/v1/users/"+id+"/password", admin, `{"password":"`+otherPassword+`"}`, 204, "", "")
	if got := set(token, goodPassword); got != 401 {
		t.Errorf("after another change: %d", got)
	}
}

func TestASecondFactorIsTurnedOnAndOff(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	viewer := w.as("viewer@acme.test")
	w.want("POST", "/panel/v1/user/second-factor", viewer, `{"present":"wrong-password"}`, 400, "validation_failed", "present")
	p := w.want("POST", "/panel/v1/user/second-factor", viewer, `{"present":"`+goodPassword+`"}`, 200, "", "")
	w.want("POST", "/panel/v1/user/second-factor/confirm", viewer, `{"code":"000000"}`, 400, "validation_failed", "code")
	code, err := totp.GenerateCode(p["secret"].(string), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	done := w.want("POST", "/panel/v1/user/second-factor/confirm", viewer, `{"code":"`+code+`"}`, 200, "", "")
	codes := done["recovery_codes"].([]any)
	if state := w.want("GET", "/panel/v1/user/second-factor", viewer, "", 200, "", ""); state["enabled"] != true || state["recovery_codes"] != 10.0 || state["secret"] != nil {
		t.Error(state)
	}
	signIn := func(more string) *httptest.ResponseRecorder {
		return w.page("POST", "/panel/v1/session", "", `{"email":"viewer@acme.test","password":"`+goodPassword+`"`+more+`}`)
	}
	if rec := signIn(""); rec.Code != 401 || !strings.Contains(rec.Body.String(), "code_required") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if rec := signIn(`,"code":"` + codes[0].(string) + `"`); rec.Code != 200 || cookieOf(rec, member.SessionCookie) == "" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	fresh := w.want("POST", "/panel/v1/user/second-factor/recovery-codes", viewer, `{"code":"`+codes[1].(string)+`"}`, 200, "", "")["recovery_codes"].([]any)
	w.want("POST", "/panel/v1/user/second-factor/remove", viewer, `{"present":"`+goodPassword+`","code":"`+codes[2].(string)+`"}`, 400, "validation_failed", "code")
	w.want("POST", "/panel/v1/user/second-factor/remove", viewer, `{"present":"`+goodPassword+`","code":"`+fresh[0].(string)+`"}`, 204, "", "")
	if rec := signIn(""); rec.Code != 200 {
		t.Errorf("without it: %d", rec.Code)
	}

	// Somebody who lost theirs is helped by who administers the users.
	p = w.want("POST", "/panel/v1/user/second-factor", viewer, `{"present":"`+goodPassword+`"}`, 200, "", "")
	if code, err = totp.GenerateCode(p["secret"].(string), time.Now()); err != nil {
		t.Fatal(err)
	}
	w.want("POST", "/panel/v1/user/second-factor/confirm", viewer, `{"code":"`+code+`"}`, 200, "", "")
	admin, id := w.as("admin@acme.test"), w.id("viewer@acme.test")
	if rows := w.want("GET", "/panel/v1/users", admin, "", 200, "", "")["data"].([]any); !strings.Contains(strings.ReplaceAll(string(must(json.Marshal(rows))), " ", ""), `"second_factor":true`) {
		t.Error("the list does not say who has one")
	}
	w.want("DELETE", "/panel/v1/users/"+w.id("owner@acme.test")+"/second-factor", admin, "", 403, "forbidden", "")
	w.want("DELETE", "/panel/v1/users/"+w.id("admin@acme.test")+"/second-factor", admin, "", 409, "conflict", "")
	w.want("DELETE", "/panel/v1/users/"+id+"/second-factor", admin, "", 204, "", "")
	w.ended(viewer)
	if rec := signIn(""); rec.Code != 200 {
		t.Errorf("once it is off: %d", rec.Code)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// ssoThere is the server for single sign-on of a test, once it has one.
type ssoThere struct{ *sso.Server }

func (s ssoThere) Name() string {
	if s.Server == nil {
		return ""
	}
	return s.Server.Name()
}

func TestSingleSignOn(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	issuer := ssotest.Start(t)
	ssotest.Allow("panel-test", "a-secret", "https://panel.test/panel/v1/sso/callback")
	w.sso.Server = sso.New(sso.Options{Issuer: issuer, ClientID: "panel-test", ClientSecret: "a-secret", Name: "Acme ID", Log: slog.New(slog.DiscardHandler)})
	begin := func(next string) (cookie, address string) {
		t.Helper()
		rec := w.page("GET", "/panel/v1/sso?next="+url.QueryEscape(next), "", "")
		if rec.Code != 302 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		return cookieOf(rec, attemptCookie), rec.Header().Get("Location")
	}
	finish := func(cookie string, back *url.URL) *httptest.ResponseRecorder {
		return w.page("GET", "/panel/v1/sso/callback?"+back.RawQuery, cookie, "")
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
	i := &accounts.Invitation{CompanyID: acme.ID, Email: ssotest.Email, Role: "marketer", InvitedBy: "Owner", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	if err := w.store.Update(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.PutInvitation(ctx, i, "x") }); err != nil {
		t.Fatal(err)
	}
	for next, to := range map[string]string{
		"/keys?a=b": "/panel/keys?a=b", "": "/panel", "https://evil.test/": "/panel", "//evil.test": "/panel", `/\evil.test`: "/panel", "evil": "/panel", "/../..//evil.test": "/panel", "/keys\r\nX: y": "/panel",
	} {
		cookie, address := begin(next)
		rec := finish(cookie, ssotest.SignIn(t, address, ssotest.User, ssotest.Password))
		leads(rec, to)
		if got := w.page("GET", "/panel/v1/session", cookieOf(rec, member.SessionCookie), ""); got.Code != 200 || !strings.Contains(got.Body.String(), `"role":"marketer"`) {
			t.Errorf("%s: %d %s", next, got.Code, got.Body)
		}
	}
	// The cookie of the attempt may be planted: what it names as the next page is checked again.
	for _, next := range hostileNexts {
		cookie, address := begin("/keys")
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(cookie, attemptCookie+"="))
		var a attempt
		if err == nil {
			err = json.Unmarshal(raw, &a)
		}
		if err != nil {
			t.Fatal(err)
		}
		a.Next = next
		cookie = attemptCookie + "=" + base64.RawURLEncoding.EncodeToString(must(json.Marshal(a)))
		leads(finish(cookie, ssotest.SignIn(t, address, ssotest.User, ssotest.Password)), "/panel")
	}
	// Another browser's response, a response without an attempt, and one that was used.
	mine, _ := begin("")
	theirs, address := begin("")
	back = ssotest.SignIn(t, address, ssotest.User, ssotest.Password)
	leads(finish(mine, back), "/panel/sign-in?sso=refused")
	leads(finish("", back), "/panel/sign-in?sso=refused")
	leads(finish(attemptCookie+"=%%%", back), "/panel/sign-in?sso=refused")
	leads(finish(theirs, &url.URL{RawQuery: "error=access_denied"}), "/panel/sign-in?sso=refused")
	w.sso.Server = sso.New(sso.Options{Issuer: "http://127.0.0.1:1", ClientID: "panel-test", Log: slog.New(slog.DiscardHandler)})
	leads(w.page("GET", "/panel/v1/sso", "", ""), "/panel/sign-in?sso=down")
	for range attemptRate {
		w.page("GET", "/panel/v1/sso", "", "")
	}
	leads(w.page("GET", "/panel/v1/sso", "", ""), "/panel/sign-in?sso=often")
	leads(finish(mine, back), "/panel/sign-in?sso=often")
}
