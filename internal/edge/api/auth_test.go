package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/edge/api/apitest"
	"carillon/internal/edge/httpio"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

const (
	testEmail    = "owner@acme.test"
	testPassword = "correct-horse-battery"
)

// signInWorld is a server with the sign-in routes. Every response is checked against the description.
type signInWorld struct {
	t      *testing.T
	base   string
	client *http.Client
	store  *store.Store
	acme   *carillon.Company
	log    *strings.Builder
}

func newSignInWorld(t *testing.T) *signInWorld {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &signInWorld{t: t, store: s, log: &strings.Builder{}}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	one := time.Now() // all requests of a test count in one minute
	limits := limit.New(s.Rates, log)
	limits.Now = func() time.Time { return one }
	a := auth.New(s, limits, auth.Options{Params: auth.Params{Memory: 64, Passes: 1, Threads: 1}})
	hash, err := a.HashPassword(t.Context(), testPassword)
	if err != nil {
		t.Fatal(err)
	}
	w.acme = &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Acme"}
	err = s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		now, all := time.Now(), []error{accounts.PutCompany(ctx, tx, w.acme, time.Now())}
		for email, role := range map[string]string{testEmail: "owner", "dev@acme.test": "developer", "agent@acme.test": "teammate"} {
			u := &accounts.Account{Email: email, Name: "Acme " + role, PasswordHash: hash}
			all = append(all, accounts.PutAccount(ctx, tx, u, now),
				accounts.PutMembership(ctx, tx, accounts.Membership{AccountID: u.ID, CompanyID: w.acme.ID, Role: role}))
		}
		for _, k := range []accounts.AccessKey{
			{Key: "ck_test_live", Scopes: []string{"*"}},
			{Key: "ck_test_expired", ExpiresAt: now.Add(-time.Hour)},
			{Key: "ck_test_revoked", RevokedAt: now},
		} {
			k.CompanyID = w.acme.ID
			all = append(all, accounts.PutKey(ctx, tx, &k, now))
		}
		return errors.Join(all...)
	})
	if err != nil {
		t.Fatal(err)
	}
	checker, err := description()
	if err != nil {
		t.Fatal(err)
	}
	routes := Routes(Deps{Store: s, Auth: a, Limits: limits, Log: log})
	server := httptest.NewServer(httpio.NewRouter(log, nil, routes...))
	t.Cleanup(server.Close)
	w.base = server.URL
	w.client = &http.Client{Transport: &apitest.Transport{Test: t, Checker: checker, Next: server.Client().Transport}}
	return w
}

type reply struct {
	status int
	header http.Header
	text   string
}

func (r reply) object(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(r.text), &o); err != nil {
		t.Fatalf("%q: %v", r.text, err)
	}
	return o
}

func (w *signInWorld) send(method, path, body string, headers ...string) reply {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(text)}
}

const signInPath = "/functions/v1/auth?grant_type=password"

func (w *signInWorld) signIn(email string) map[string]any {
	w.t.Helper()
	got := w.send("POST", signInPath, `{"email":"`+email+`","password":"`+testPassword+`"}`)
	if got.status != http.StatusOK {
		w.t.Fatalf("sign in: %d %s", got.status, got.text)
	}
	return got.object(w.t)
}

// shape replaces values that vary between runs with names.
func shape(text string) string {
	for _, r := range []struct{ pattern, name string }{
		{`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`, "JWT"},
		{`"refresh_token":"[A-Za-z0-9_-]{43}"`, `"refresh_token":R`},
		{`[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`, "UUID"},
		{`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`, "TIME"},
		{`"expires_at":\d{10}`, `"expires_at":UNIX`},
		{`req_[A-Za-z0-9_-]{22}`, "REQ"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.name)
	}
	return text
}

func TestSignInAnswersTheSessionOfTheContract(t *testing.T) {
	w := newSignInWorld(t)
	got := w.send("POST", signInPath, `{"email":"`+testEmail+`","password":"`+testPassword+`"}`)
	const identity = `{"identity_id":"UUID","id":"UUID","user_id":"UUID",` +
		`"identity_data":{"email":"owner@acme.test","email_verified":true,` +
		`"phone_verified":false,"sub":"UUID"},"provider":"email","last_sign_in_at":TIME,"created_at":TIME,"updated_at":TIME,` +
		`"email":"owner@acme.test"}`
	const user = `{"id":"UUID","aud":"authenticated","role":"authenticated","email":"owner@acme.test","email_confirmed_at":TIME,` +
		`"phone":"",` +
		`"confirmed_at":TIME,"last_sign_in_at":TIME,"app_metadata":{"provider":"email","providers":["email"]},` +
		`"user_metadata":{"email_verified":true,"name":"Acme owner"},"identities":[` + identity +
		`],"created_at":TIME,"updated_at":TIME,"is_anonymous":false}`
	const want = `{"access_token":"JWT","token_type":"bearer","expires_in":3600,"expires_at":UNIX,"refresh_token":R,"user":` + user + `}`
	if d := cmp.Diff(want, shape(got.text)); got.status != http.StatusOK || d != "" {
		t.Errorf("%d (-want +got):\n%s", got.status, d)
	}
	token := got.object(t)["access_token"].(string)
	mine := w.send("GET", "/functions/v1/auth/user", "", "Authorization", "Bearer "+token)
	if d := cmp.Diff(user, shape(mine.text)); mine.status != http.StatusOK || d != "" {
		t.Errorf("own user: %d (-want +got):\n%s", mine.status, d)
	}
}

func TestSignInRefusesWhatIsNotSo(t *testing.T) {
	w := newSignInWorld(t)
	body := `{"email":"` + testEmail + `","password":"` + testPassword + `"}`
	const missing, format = "Required field missing", "Invalid parameter format"
	for name, tt := range map[string]struct{ path, body, message, field string }{
		"no grant type":      {"/functions/v1/auth", body, missing, "grant_type"},
		"empty grant type":   {"/functions/v1/auth?grant_type=", body, missing, "grant_type"},
		"another grant type": {"/functions/v1/auth?grant_type=refresh_token", body, "Invalid value", "grant_type"},
		"letter case":        {"/functions/v1/auth?grant_type=Password", body, "Invalid value", "grant_type"},
		"no e-mail":          {signInPath, `{"password":"x"}`, missing, "email"},
		"null e-mail":        {signInPath, `{"email":null,"password":"x"}`, missing, "email"},
		"no password":        {signInPath, `{"email":"x"}`, missing, "password"},
		"blank password":     {signInPath, `{"email":"x","password":"  "}`, missing, "password"},
		"e-mail of a number": {signInPath, `{"email":1,"password":"x"}`, format, "email"},
		"password a number":  {signInPath, `{"email":"x","password":987654321}`, format, "password"},
		"long password":      {signInPath, `{"email":"x","password":"` + strings.Repeat("p", 1025) + `"}`, "Invalid value", "password"},
		"broken JSON":        {signInPath, `{`, "Invalid value", "body"},
		"no body":            {signInPath, ``, missing, "Content-Type"},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.send("POST", tt.path, tt.body)
			o := got.object(t)
			details, _ := o["details"].(map[string]any)
			if got.status != 400 || o["error"] != "validation_failed" || details["field"] != tt.field || o["message"] != tt.message {
				t.Errorf("%d %s, want a 400 %q of %s", got.status, got.text, tt.message, tt.field)
			}
			if strings.Contains(got.text, "987654321") {
				t.Errorf("the answer repeats the password: %s", got.text)
			}
		})
	}
}

func TestWrongCredentialsHaveOneAnswer(t *testing.T) {
	w := newSignInWorld(t)
	const want = `{"error":"unauthorized","message":"Invalid login credentials","details":{"reason":"invalid"},"request_id":"REQ"}`
	for _, body := range []string{`{"email":"` + testEmail + `","password":"wrong"}`, `{"email":"nobody@acme.test","password":"wrong"}`} {
		if got := w.send("POST", signInPath, body); got.status != 401 || shape(got.text) != want {
			t.Errorf("%d %s", got.status, got.text)
		}
	}
}

func TestTheEleventhFailureIsA429WithItsHeaders(t *testing.T) {
	w := newSignInWorld(t)
	var got reply
	for range 25 { // a new minute may begin in between
		if got = w.send("POST", signInPath, `{"email":"nobody@acme.test","password":"wrong"}`); got.status == 429 {
			break
		}
	}
	const want = `{"error":"rate_limit_exceeded","message":"Too many requests","details":{"limit":10,"window":"60s",` +
		`"reset_time":TIME},"retry_after":N,"request_id":"REQ"}`
	text := regexp.MustCompile(`"retry_after":\d+`).ReplaceAllString(shape(got.text), `"retry_after":N`)
	if d := cmp.Diff(want, text); got.status != 429 || d != "" {
		t.Fatalf("%d (-want +got):\n%s", got.status, d)
	}
	after := got.header.Get("Retry-After")
	if got.header.Get("RateLimit-Policy") != `"minute";q=10;w=60` || got.header.Get("RateLimit") != `"minute";r=0;t=`+after || after == "" {
		t.Errorf("headers: %v", got.header)
	}
}

func TestAPIKeysAreThoseTheRoleMaySee(t *testing.T) {
	w := newSignInWorld(t)
	const path = "/functions/v1/api_keys"
	want := `{"validApiKeys":[{"company_id":"` + w.acme.ID +
		`","key":"ck_test_live","is_active":true,"last_used":null,"company_name":"Acme"}]}`
	for email, want := range map[string]string{testEmail: want, "dev@acme.test": want, "agent@acme.test": `{"validApiKeys":[]}`} {
		got := w.send("POST", path, "", "Authorization", "Bearer "+w.signIn(email)["access_token"].(string))
		if got.status != 200 || got.text != want {
			t.Errorf("%s: %d %s", email, got.status, got.text)
		}
	}
	company := w.send("POST", "/functions/v1/auth/company?access_key=ck_test_live", "").object(t)["access_token"].(string)
	for authorization, reason := range map[string]string{"": "missing", "Bearer x": "invalid", "Bearer " + company: "invalid"} {
		got := w.send("POST", path, "", "Authorization", authorization)
		details, _ := got.object(t)["details"].(map[string]any)
		if got.status != 401 || details["reason"] != reason || got.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%d %s, want the reason %s", got.status, got.text, reason)
		}
	}
	used := w.send("POST", path, "", "Authorization", "Bearer "+w.signIn(testEmail)["access_token"].(string))
	if strings.Contains(used.text, `"last_used":null`) {
		t.Errorf("after its use: %s", used.text)
	}
}

func TestCompanyTokenIsForTheHolderOfAKey(t *testing.T) {
	w := newSignInWorld(t)
	const path = "/functions/v1/auth/company"
	want := `{"access_token":"JWT","token_type":"bearer","expires_in":3600,"expires_at":UNIX,"company":{"id":"` + w.acme.ID +
		`","name":"Acme"}}`
	for _, got := range []reply{
		w.send("POST", path+"?access_key=ck_test_live", ""), w.send("POST", path, "", "X-Access-Key", "ck_test_live"),
	} {
		if d := cmp.Diff(shape(want), shape(got.text)); got.status != 200 || d != "" {
			t.Errorf("%d (-want +got):\n%s", got.status, d)
		}
	}
	token := w.send("POST", path+"?access_key=ck_test_live", "").object(t)["access_token"].(string)
	for name, tt := range map[string]struct {
		path, reason string
		headers      []string
	}{
		"no key":                       {path, "missing", nil},
		"a token for a token":          {path, "missing", []string{"Authorization", "Bearer " + token}},
		"an unknown key":               {path + "?access_key=ck_x", "invalid", nil},
		"an expired key":               {path + "?access_key=ck_test_expired", "expired", nil},
		"a revoked key":                {path + "?access_key=ck_test_revoked", "revoked", nil},
		"a bad key beside a good one":  {path + "?access_key=ck_x", "invalid", []string{"X-Access-Key", "ck_test_live"}},
		"an empty key beside the good": {path + "?access_key=", "missing", []string{"X-Access-Key", "ck_test_live"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.send("POST", tt.path, "", tt.headers...)
			details, _ := got.object(t)["details"].(map[string]any)
			if got.status != 401 || details["reason"] != tt.reason {
				t.Errorf("%d %s, want the reason %s", got.status, got.text, tt.reason)
			}
		})
	}
	suspended := *w.acme
	suspended.Suspended = true
	if err := w.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &suspended, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	if got := w.send("POST", path+"?access_key=ck_test_live", ""); got.status != 403 {
		t.Errorf("a suspended company: %d %s", got.status, got.text)
	}
}

func TestTheErrorOfAnAccessKeyAsBearerSaysWhereItBelongs(t *testing.T) {
	w := newSignInWorld(t)
	const company = "The token is invalid: an access key belongs in the query parameter access_key, not in Authorization"
	const user = "The token is invalid: this needs the access token of a signed-in user, not an access key"
	for _, tt := range []struct{ method, path, message string }{
		{"GET", "/functions/v1/usage", company},
		{"POST", "/functions/v1/notify", company},
		{"GET", "/functions/v1/notify/templates?phone_number=34600111222", company},
		{"POST", "/functions/v1/api_keys", user},
		{"GET", "/functions/v1/auth/user", user},
	} {
		for _, key := range []string{"ck_test_live", "ck_test_revoked", "ck_nobody"} { // one response for all, to reveal nothing
			got := w.send(tt.method, tt.path, "", "Authorization", "Bearer "+key)
			want := `{"error":"unauthorized","message":"` + tt.message + `","details":{"reason":"invalid"},"request_id":"REQ"}`
			if got.status != 401 || shape(got.text) != want {
				t.Errorf("%s %s: %d %s", tt.method, tt.path, got.status, got.text)
			}
		}
	}
	if got := w.send("GET", "/functions/v1/usage", "", "Authorization", "Bearer x"); !strings.Contains(got.text,
		`"message":"The token is invalid","details"`) {
		t.Errorf("an invalid key: %s", got.text)
	}
	if log := w.log.String(); strings.Contains(log, "ck_") || strings.Count(log, "responded") != 16 {
		t.Errorf("the log:\n%s", log)
	}
}

func TestRefreshAndSignOutOverHTTP(t *testing.T) {
	w := newSignInWorld(t)
	const path = "/functions/v1/auth/refresh"
	first := w.signIn(testEmail)
	got := w.send("POST", path, `{"refresh_token":"`+first["refresh_token"].(string)+`"}`)
	second := got.object(t)
	if got.status != 200 || second["refresh_token"] == first["refresh_token"] || cmp.Diff(first["user"], second["user"]) != "" {
		t.Fatalf("%d %s", got.status, got.text)
	}
	for body, field := range map[string]string{`{}`: "refresh_token", `{"refresh_token":55555}`: "refresh_token", `[]`: "body"} {
		bad := w.send("POST", path, body)
		if details, _ := bad.object(t)["details"].(map[string]any); bad.status != 400 || details["field"] != field ||
			strings.Contains(bad.text, "55555") {
			t.Errorf("%s: %d %s", body, bad.status, bad.text)
		}
	}
	if bad := w.send("POST", path, `{"refresh_token":"nobody"}`); bad.status != 401 {
		t.Errorf("nobody's token: %d %s", bad.status, bad.text)
	}
	authorization := "Bearer " + second["access_token"].(string)
	if out := w.send("POST", "/functions/v1/auth/logout", "", "Authorization", authorization); out.status != 204 || out.text != "" {
		t.Errorf("sign out: %d %s", out.status, out.text)
	}
	for _, out := range []reply{
		w.send("GET", "/functions/v1/auth/user", "", "Authorization", authorization),
		w.send("POST", "/functions/v1/auth/logout", "", "Authorization", authorization),
		w.send("POST", path, `{"refresh_token":"`+second["refresh_token"].(string)+`"}`),
	} {
		if details, _ := out.object(t)["details"].(map[string]any); out.status != 401 || details["reason"] != "revoked" {
			t.Errorf("after the sign-out: %d %s", out.status, out.text)
		}
	}
}

func TestKeySetIsPublicAndMayBeKept(t *testing.T) {
	w := newSignInWorld(t)
	got := w.send("GET", "/.well-known/jwks.json", "")
	want := `{"keys":[{"kty":"EC","crv":"P-256","x":"C","y":"C","use":"sig","alg":"ES256","kid":"UUID"}]}`
	text := regexp.MustCompile(`"([xy])":"[A-Za-z0-9_-]{43}"`).ReplaceAllString(shape(got.text), `"$1":"C"`)
	if got.status != 200 || text != want || got.header.Get("Cache-Control") != "public, max-age=600" {
		t.Errorf("%d %s %v", got.status, got.text, got.header)
	}
}

func TestNoSecretReachesTheLog(t *testing.T) {
	w := newSignInWorld(t)
	session := w.signIn(testEmail)
	w.send("POST", signInPath, `{"email":"`+testEmail+`","password":"a-wrong-password"}`)
	w.send("POST", "/functions/v1/auth/company?access_key=ck_test_live", "")
	w.send("POST", "/functions/v1/auth/company?access_key=ck_test_revoked", "")
	w.send("POST", "/functions/v1/auth/refresh", `{"refresh_token":"`+session["refresh_token"].(string)+`x"}`)
	w.send("GET", "/functions/v1/auth/user", "", "Authorization", "Bearer "+session["access_token"].(string)+"x")
	log := w.log.String()
	if strings.Count(log, "responded") != 6 {
		t.Fatalf("the log:\n%s", log)
	}
	for _, secret := range []string{
		testPassword, "a-wrong-password", "ck_test", session["refresh_token"].(string), session["access_token"].(string)[:40],
		"access_key=",
	} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}
