package panel

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/egress"
	"carillon/internal/base/httpio"
	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
	"carillon/internal/call/sip"
	"carillon/internal/edge/panel/member"
	"carillon/internal/event/hook"
	"carillon/internal/event/realtime"
	"carillon/internal/queue"
	"carillon/internal/send/bulk"
	"carillon/internal/send/catalog"
	"carillon/internal/send/notify"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

const goodPassword = "correct-horse-battery"

type world struct {
	t      *testing.T
	store  *store.Store
	auth   *auth.Auth
	router *httpio.Router
	routes []httpio.Route
	hub    *realtime.Hub
	talks  *talksThere
	chats  *conversation.Conversations
	limits *limit.Limits

	channel *exchange
	post    *postbox
	sso     *ssoThere
	cloud   *cloudThere
}

func newWorld(t *testing.T) *world {
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
	log := slog.New(slog.DiscardHandler)
	a := auth.New(s.Accounts(), limit.New(s.Rates(), log), auth.Options{Params: auth.Params{Memory: 64, Passes: 1, Threads: 1}})
	hub := realtime.NewHub(s, log, nil)
	search := knowledge.NewSearch(s.Documents(), log)
	there, channel, post, signOn := &talksThere{}, &exchange{}, &postbox{}, &ssoThere{}
	cloud := &cloudThere{}
	conversations := conversation.New(conversation.Options{Store: s.Chats(), Publisher: hub, Log: log})
	limits := limit.New(s.Rates(), log)
	routes := Routes(Deps{
		Search: search, Thinker: agent.NewBuiltin(search), Pages: egress.New(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, MaxBody: 64 << 10}),
		Store: s, Auth: a, Events: hub, Conversations: conversations, Messages: channel, Mobile: channel, Talks: there, Trials: there, Speakers: map[string]voice.Speaker{"espeak": there},
		Addresses: func() (string, string) { return "https://panel.test", "https://widgets.test" },
		Kinds:     []resource.Kind{knowledge.Kind(), agent.Kind(), secret.Kind(), flow.Kind(), hook.Kind()},
		Unbuilt: func(x resource.Resource) string {
			if _, ok := x.(*hook.Webhook); ok {
				return "it gets no events yet"
			}
			return ""
		},
		Providers: map[string]Provider{"sandbox": {}, "whatsapp": {
			Check: whatsapp.CheckSettings, Shown: whatsapp.ShownSettings(), Secrets: whatsapp.SecretSettings(), Inspect: cloud.inspect, Subscribe: cloud.subscribe,
			Away: &Away{Setting: "base_url", Usual: whatsapp.DefaultBaseURL, Mark: "public", Secret: "access_token", Admit: admitChannel},
		}, "sip": {Check: sip.CheckSettings, Shown: sip.ShownSettings(), Away: &Away{
			Setting: "trunk", Mark: "public", Secret: "password", Admit: admitTrunk, Claim: "claimed", Meets: meetTrunks,
		}}},
		Catalog: catalog.New(s, nil, catalog.Options{}), Lines: &linesThere{}, Phone: nobodyCalled{}, Limits: limits, Mail: post, SSO: signOn, Hooks: hook.NewDeliverer(s, hook.Options{Client: egress.New(egress.Options{})}), Jobs: bulk.New(bulk.Options{Store: s}), Calls: callsThere{s}, Notify: notify.New(s, queue.New(s, queue.Options{}), notify.Options{}),
	})
	return &world{t, s, a, httpio.NewRouter(log, nil, routes...), routes, hub, there, conversations, limits, channel, post, signOn, cloud}
}

// gate admits members as the router's routes do.
func (w *world) gate() *member.Gate {
	return &member.Gate{
		Auth: w.auth, Store: w.store, Limits: w.limits,
		Addresses: func() (string, string) { return "https://panel.test", "" },
	}
}

// company makes a company with a member of each role, <role>@<name>.test.
func (w *world) company(name string) *carillon.Company {
	w.t.Helper()
	hash, err := w.auth.HashPassword(w.t.Context(), goodPassword)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &carillon.Company{ID: carillon.NewID(time.Now()), Name: name}
	err = w.store.Configure(w.t.Context(), func(ctx context.Context, tx *store.Tx) error {
		all := []error{tx.PutCompany(ctx, c, time.Now())}
		for _, role := range auth.Roles() {
			a := &accounts.Account{Email: string(role) + "@" + name + ".test", PasswordHash: hash, ProvedAt: time.Now()}
			all = append(all, tx.PutAccount(ctx, a, time.Now()),
				tx.PutMembership(ctx, accounts.Membership{AccountID: a.ID, CompanyID: c.ID, Role: string(role)}))
		}
		return errors.Join(all...)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// as signs in and gives the Authorization header.
func (w *world) as(email string) string {
	w.t.Helper()
	x, err := w.auth.SignIn(w.t.Context(), auth.Credentials{Email: email, Password: goodPassword}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return "Bearer " + x.AccessToken
}

// do sends a request and gives the status and the answer.
func (w *world) do(method, path, authorization, body string) (int, map[string]any) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, r)
	if rec.Code == http.StatusNoContent {
		return rec.Code, nil
	}
	if strings.HasPrefix(rec.Header().Get("Content-Type"), "text/csv") {
		return rec.Code, map[string]any{"csv": rec.Body.String()}
	}
	got := map[string]any{}
	if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
		w.t.Fatalf("%s %s: %d %s: %v", method, path, rec.Code, rec.Body, err)
	}
	return rec.Code, got
}

// want checks a status and, where it is an error, its code and field.
func (w *world) want(method, path, authorization, body string, status int, code, field string) map[string]any {
	w.t.Helper()
	got, answered := w.do(method, path, authorization, body)
	details, _ := answered["details"].(map[string]any)
	if got != status || code != "" && answered["error"] != code || field != "" && details["field"] != field {
		w.t.Errorf("%s %s %s: %d %v, want %d %s %s", method, path, body, got, answered, status, code, field)
	}
	return answered
}

func TestAKeyIsMadeShownOnceListedAndRevoked(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	made := w.want("POST", "/panel/v1/keys", owner, `{"label":"live","scopes":["notify:send"],"expires_at":"2999-01-01T00:00:00Z"}`, 201, "", "")
	key, _ := made["key"].(string)
	if !strings.HasPrefix(key, "ck_") || len(key) != 46 {
		t.Fatalf("the key is %q", key)
	}
	p, err := w.auth.Principal(t.Context(), auth.PresentedKey{Key: key, Present: true}, "")
	if err != nil || !p.Allows(auth.NotifySend) || p.Allows(auth.NotifyRead) {
		t.Fatalf("the new key: %+v, %v", p, err)
	}
	listed := w.want("GET", "/panel/v1/keys", w.as("admin@acme.test"), "", 200, "", "")
	row := listed["data"].([]any)[0].(map[string]any)
	want := map[string]any{
		"id": made["id"], "label": "live", "prefix": key[:8], "scopes": []any{"notify:send"}, "is_active": true,
		"expires_at": "2999-01-01T00:00:00Z", "revoked_at": nil, "created_at": made["created_at"], "last_used": row["last_used"],
	}
	if d := cmp.Diff(want, row); d != "" || row["last_used"] == nil {
		t.Errorf("the row (-want +got):\n%s", d)
	}
	id := made["id"].(string)
	w.want("DELETE", "/panel/v1/keys/"+id, owner, "", 204, "", "")
	w.want("DELETE", "/panel/v1/keys/"+id, owner, "", 204, "", "")
	if _, err := w.auth.Principal(t.Context(), auth.PresentedKey{Key: key, Present: true}, ""); !carillon.IsCode(err, carillon.Unauthorized) {
		t.Errorf("the revoked key: %v", err)
	}
	listed = w.want("GET", "/panel/v1/keys", owner, "", 200, "", "")
	row = listed["data"].([]any)[0].(map[string]any)
	if row["is_active"] != false || row["revoked_at"] == nil {
		t.Errorf("the revoked row: %v", row)
	}
}

// rolesOf is who may call each route, written out.
var rolesOf = map[string]string{
	"GET /panel/v1/activity/calls":                "owner admin developer",
	"GET /panel/v1/activity/calls/{id}":           "owner admin developer",
	"GET /panel/v1/activity/accepted":             "owner admin developer",
	"GET /panel/v1/activity/changes":              "owner admin",
	"GET /panel/v1/activity/changes/{id}":         "owner admin",
	"GET /panel/v1/activity/authors":              "owner admin",
	"GET /panel/v1/keys":                          "owner admin developer",
	"POST /panel/v1/keys":                         "owner admin",
	"DELETE /panel/v1/keys/{id}":                  "owner admin",
	"GET /panel/v1/users":                         "owner admin developer",
	"POST /panel/v1/users":                        "owner admin",
	"PATCH /panel/v1/users/{id}":                  "owner admin",
	"DELETE /panel/v1/users/{id}":                 "owner admin",
	"POST /panel/v1/users/{id}/password":          "owner admin",
	"DELETE /panel/v1/users/{id}/sessions":        "owner admin",
	"DELETE /panel/v1/users/{id}/second-factor":   "owner admin",
	"POST /panel/v1/users/{id}/password-link":     "owner admin",
	"GET /panel/v1/invitations":                   "owner admin developer",
	"POST /panel/v1/invitations":                  "owner admin",
	"POST /panel/v1/invitations/{id}/resend":      "owner admin",
	"DELETE /panel/v1/invitations/{id}":           "owner admin",
	"GET /panel/v1/senders":                       "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}/timeline":   "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns":                     "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/one":                 "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/recipients":          "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/reasons":             "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/export":              "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications":                 "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/lookup":          "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}":            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}/request":    "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}/filled":     "owner admin developer marketer teammate viewer",
	"POST /panel/v1/notifications/{id}/cancel":    "owner admin developer marketer",
	"POST /panel/v1/notifications/{id}/move":      "owner admin developer marketer",
	"GET /panel/v1/notifications/{id}/resend":     "owner admin developer marketer",
	"POST /panel/v1/notifications/{id}/resend":    "owner admin developer marketer",
	"GET /panel/v1/overview":                      "owner admin developer marketer teammate viewer",
	"GET /panel/v1/overview/attention":            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/overview/first-steps":          "owner admin developer marketer teammate viewer",
	"GET /panel/v1/usage":                         "owner admin developer marketer teammate viewer",
	"POST /panel/v1/people":                       "owner admin",
	"POST /panel/v1/people/export":                "owner admin",
	"POST /panel/v1/people/erase":                 "owner admin",
	"GET /panel/v1/suppressions":                  "owner admin developer marketer teammate viewer",
	"GET /panel/v1/suppressions/export":           "owner admin developer marketer teammate viewer",
	"POST /panel/v1/suppressions":                 "owner admin developer marketer",
	"DELETE /panel/v1/suppressions/{id}":          "owner admin developer marketer",
	"GET /panel/v1/events":                        "owner admin developer marketer teammate viewer",
	"GET /panel/v1/maintenance":                   "owner admin developer marketer teammate viewer",
	"POST /panel/v1/maintenance":                  "owner",
	"DELETE /panel/v1/maintenance":                "owner",
	"GET /panel/v1/numbers":                       "owner",
	"PUT /panel/v1/numbers/{number}":              "owner",
	"DELETE /panel/v1/numbers/{number}":           "owner",
	"GET /panel/v1/restored":                      "owner",
	"POST /panel/v1/restored":                     "owner",
	"POST /panel/v1/senders":                      "owner admin",
	"GET /panel/v1/senders/{id}":                  "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/senders/{id}":                  "owner admin",
	"DELETE /panel/v1/senders/{id}":               "owner admin",
	"POST /panel/v1/senders/{id}/check":           "owner admin",
	"POST /panel/v1/senders/check":                "owner admin",
	"POST /panel/v1/senders/{id}/subscribe":       "owner admin",
	"GET /panel/v1/senders/{id}/state":            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/company":                       "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/company":                       "owner admin",
	"POST /panel/v1/senders/{id}/test-call":       "owner admin",
	"GET /panel/v1/sandbox/phone":                 "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/sandbox/phone":                 "owner admin developer marketer",
	"POST /panel/v1/sandbox/phone/messages":       "owner admin developer marketer",
	"GET /panel/v1/sandbox/phone/numbers":         "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}/templates":  "owner admin teammate",
	"POST /panel/v1/conversations/{id}/templates": "owner admin teammate",
	"GET /panel/v1/sandbox/calls":                 "owner admin developer marketer teammate viewer",
	"POST /panel/v1/sandbox/calls":                "owner admin developer marketer",
	"GET /panel/v1/sandbox/calls/{id}/recording":  "owner admin developer marketer teammate viewer",
	"GET /panel/v1/secrets":                       "owner admin developer",
	"POST /panel/v1/secrets":                      "owner admin",
	"GET /panel/v1/secrets/{id}":                  "owner admin developer",
	"PUT /panel/v1/secrets/{id}":                  "owner admin",
	"DELETE /panel/v1/secrets/{id}":               "owner admin",
	"GET /panel/v1/webhooks":                      "owner admin developer",
	"POST /panel/v1/webhooks":                     "owner admin developer",
	"GET /panel/v1/webhooks/{id}":                 "owner admin developer",
	"PUT /panel/v1/webhooks/{id}":                 "owner admin developer",
	"DELETE /panel/v1/webhooks/{id}":              "owner admin developer",
	"GET /panel/v1/webhooks/{id}/status":          "owner admin developer",
	"GET /panel/v1/webhooks/{id}/deliveries":      "owner admin developer",
	"POST /panel/v1/webhooks/{id}/test":           "owner admin developer",
	"POST /panel/v1/webhooks/{id}/rotate":         "owner admin developer",
	"POST /panel/v1/webhooks/{id}/enable":         "owner admin developer",
	"POST /panel/v1/webhooks/{id}/replay":         "owner admin developer",
	"GET /panel/v1/webhook-events":                "owner admin developer",
	"GET /panel/v1/webhook-events/{id}":           "owner admin developer",
	"POST /panel/v1/webhook-events/{id}/replay":   "owner admin developer",
	"POST /panel/v1/webhook-events/test":          "owner admin developer",
	"GET /panel/v1/{resources}":                   "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}":                  "owner admin developer",
	"GET /panel/v1/{resources}/{id}":              "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/{resources}/{id}":              "owner admin developer",
	"DELETE /panel/v1/{resources}/{id}":           "owner admin developer",
	"GET /panel/v1/canned-replies":                "owner admin developer marketer teammate viewer",
	"POST /panel/v1/canned-replies":               "owner admin teammate",
	"PUT /panel/v1/canned-replies/{id}":           "owner admin teammate",
	"DELETE /panel/v1/canned-replies/{id}":        "owner admin teammate",
	"POST /panel/v1/{resources}/import":           "owner admin developer",
	"GET /panel/v1/{resources}/search":            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/questions":                     "owner admin developer marketer teammate viewer",
	"DELETE /panel/v1/questions/{id}":             "owner admin developer",
	"POST /panel/v1/{resources}/{id}/playground":  "owner admin developer",
	"POST /panel/v1/{resources}/{id}/talk":        "owner admin developer",
	"POST /panel/v1/{resources}/{id}/speak":       "owner admin developer",
	"GET /panel/v1/conversations/{id}/voice":      "owner admin teammate",
	"GET /panel/v1/conversations":                 "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/counts":          "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}":            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}/turns":      "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}/contact":    "owner admin developer marketer teammate viewer",
	"GET /panel/v1/inbox/teammates":               "owner admin developer marketer teammate viewer",
	"GET /panel/v1/inbox/events":                  "owner admin developer marketer teammate viewer",
	"POST /panel/v1/conversations/{id}/take":      "owner admin teammate",
	"POST /panel/v1/conversations/{id}/answers":   "owner admin teammate",
	"POST /panel/v1/conversations/{id}/notes":     "owner admin teammate",
	"POST /panel/v1/conversations/{id}/release":   "owner admin teammate",
	"POST /panel/v1/conversations/{id}/assign":    "owner admin teammate",
	"POST /panel/v1/conversations/{id}/resolve":   "owner admin teammate",
	"POST /panel/v1/conversations/{id}/reopen":    "owner admin teammate",
	"POST /panel/v1/conversations/{id}/read":      "owner admin teammate",
	"POST /panel/v1/conversations/{id}/typing":    "owner admin teammate",
	"POST /panel/v1/conversations/{id}/viewing":   "owner admin teammate",
	"PUT /panel/v1/conversations/{id}/tags":       "owner admin teammate",
	"PUT /panel/v1/conversations/{id}/contact":    "owner admin teammate",
	"PUT /panel/v1/inbox/presence":                "owner admin teammate",

	"GET /panel/v1/templates":                           "owner admin developer marketer teammate viewer",
	"POST /panel/v1/templates":                          "owner admin developer marketer",
	"GET /panel/v1/templates/sync":                      "owner admin developer marketer teammate viewer",
	"POST /panel/v1/templates/sync":                     "owner admin developer marketer",
	"GET /panel/v1/templates/{id}":                      "owner admin developer marketer teammate viewer",
	"PATCH /panel/v1/templates/{id}":                    "owner admin developer marketer",
	"DELETE /panel/v1/templates/{id}":                   "owner admin developer marketer",
	"POST /panel/v1/templates/{id}/submit":              "owner admin developer marketer",
	"GET /panel/v1/templates/{id}/history":              "owner admin developer marketer teammate viewer",
	"POST /panel/v1/templates/{id}/review":              "owner admin developer marketer",
	"GET /panel/v1/flow-runs":                           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/flow-runs/{id}":                      "owner admin developer marketer teammate viewer",
	"POST /panel/v1/flow-runs/{id}/stop":                "owner admin teammate",
	"GET /panel/v1/{resources}/overview":                "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}/drafts":                 "owner admin developer",
	"POST /panel/v1/{resources}/check":                  "owner admin developer",
	"POST /panel/v1/{resources}/try":                    "owner admin developer",
	"GET /panel/v1/{resources}/{id}/draft":              "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/{resources}/{id}/draft":              "owner admin developer",
	"DELETE /panel/v1/{resources}/{id}/draft":           "owner admin developer",
	"POST /panel/v1/{resources}/{id}/publish":           "owner admin developer",
	"GET /panel/v1/{resources}/{id}/versions":           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/{resources}/{id}/versions/{version}": "owner admin developer marketer teammate viewer",

	"POST /panel/v1/conversations/{id}/files":       "owner admin teammate",
	"GET /panel/v1/conversations/{id}/files/{file}": "owner admin developer marketer teammate viewer",

	"GET /panel/v1/calls":                "owner admin developer marketer teammate viewer",
	"GET /panel/v1/calls/{id}":           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/calls/{id}/recording": "owner admin developer marketer teammate viewer",
	"POST /panel/v1/calls/{id}/hangup":   "owner admin developer marketer",

	"POST /panel/v1/notifications":          "owner admin developer marketer",
	"GET /panel/v1/send/jobs":               "owner admin developer marketer",
	"POST /panel/v1/send/jobs":              "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}":          "owner admin developer marketer",
	"PATCH /panel/v1/send/jobs/{id}":        "owner admin developer marketer",
	"DELETE /panel/v1/send/jobs/{id}":       "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/check":   "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/send":    "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/pause":   "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/resume":  "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/cancel":  "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}/rows":     "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}/samples":  "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}/rows.csv": "owner admin developer marketer",
}

func TestAnotherCompanysKeysAreOutOfReach(t *testing.T) {
	w := newWorld(t)
	_, other := w.company("acme"), w.company("other")
	key := w.want("POST", "/panel/v1/keys", w.as("owner@acme.test"), `{"label":"x"}`, 201, "", "")["id"].(string)
	stranger := w.as("owner@other.test")
	w.want("DELETE", "/panel/v1/keys/"+key+"?company="+other.ID, stranger, "", 404, "not_found", "")
	w.want("DELETE", "/panel/v1/keys/nothing", stranger, "", 404, "not_found", "")
	if rows := w.want("GET", "/panel/v1/keys", stranger, "", 200, "", "")["data"].([]any); len(rows) != 0 {
		t.Errorf("another company sees %v", rows)
	}
}

// member makes an account a member of a company, as a set-up does.
func (w *world) member(email, companyID, role string) {
	w.t.Helper()
	a, err := w.store.AccountByEmail(w.t.Context(), email)
	if err == nil {
		err = w.store.Update(w.t.Context(), func(ctx context.Context, tx *store.Tx) error {
			return tx.AddMembership(ctx, accounts.Membership{AccountID: a.ID, CompanyID: companyID, Role: role})
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestWhoAdministersSeveralCompaniesNamesOne(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	second := w.company("second")
	w.member("owner@acme.test", second.ID, "admin")
	both := w.as("owner@acme.test")
	// Who administers both may take a member of one into the other.
	w.want("POST", "/panel/v1/users?company="+second.ID, both, `{"email":"teammate@acme.test"}`, 201, "", "")
	w.want("GET", "/panel/v1/keys", both, "", 400, "validation_failed", "company")
	w.want("GET", "/panel/v1/keys?company="+second.ID, both, "", 200, "", "")
}

func TestBadKeysAreRefused(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	for body, field := range map[string]string{
		`{}`: "label", `{"label":" "}`: "label", `{"label":1}`: "label", `{"label":"` + strings.Repeat("x", 101) + `"}`: "label",
		`{"label":"a\nb"}`: "label", `{"label":"x","scopes":["nothing"]}`: "scopes.0", `{"label":"x","scopes":[]}`: "scopes",
		`{"label":"x","scopes":"*"}`: "scopes", `{"label":"x","expires_at":"tomorrow"}`: "expires_at",
		`{"label":"x","expires_at":"2020-01-01T00:00:00Z"}`: "expires_at", `{"label":"x","expired_at":"2999-01-01T00:00:00Z"}`: "body",
		`[]`: "body", ``: "body",
	} {
		w.want("POST", "/panel/v1/keys", owner, body, 400, "validation_failed", field)
	}
}

func TestListsComeInPages(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	seen := map[string]bool{}
	path := "/panel/v1/users?limit=2"
	for pages := 1; ; pages++ {
		got := w.want("GET", path, owner, "", 200, "", "")
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
		w.want("GET", "/panel/v1/users?"+query, owner, "", 400, "validation_failed", field)
	}
}

func TestAnAddedUserSignsIn(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	got := w.want("POST", "/panel/v1/users", owner, `{"email":"New@Acme.test","password":"`+goodPassword+`","name":"New","role":"teammate"}`, 201, "", "")
	if got["email"] != "new@acme.test" || got["role"] != "teammate" || got["name"] != "New" {
		t.Errorf("the answer: %v", got)
	}
	w.as("new@acme.test")
	w.want("POST", "/panel/v1/users", owner, `{"email":"new@acme.test"}`, 409, "conflict", "")
}

func TestAddingAUserNeverTakesOverAnAccount(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	w.company("evil")
	evil := w.as("owner@evil.test")
	w.want("POST", "/panel/v1/users", evil, `{"email":"owner@acme.test","password":"another-password"}`, 409, "conflict", "")
	w.want("POST", "/panel/v1/users", evil, `{"email":"owner@acme.test","name":"Renamed"}`, 409, "conflict", "")
	w.as("owner@acme.test") // with the password it had
	a, err := w.store.AccountByEmail(t.Context(), "owner@acme.test")
	if err != nil || a.Name != "" {
		t.Errorf("the account is %+v, %v", a, err)
	}
}

func TestRolesAreNotRaisedAboveOnesOwn(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	body := func(name, role string) string {
		return `{"email":"` + name + `@acme.test","password":"` + goodPassword + `","role":"` + role + `"}`
	}
	w.want("POST", "/panel/v1/users", w.as("admin@acme.test"), body("a", "owner"), 403, "forbidden", "")
	w.want("POST", "/panel/v1/users", w.as("admin@acme.test"), body("b", "admin"), 201, "", "")
	w.want("POST", "/panel/v1/users", w.as("owner@acme.test"), body("c", "owner"), 201, "", "")
}

func TestBadUsersAreRefusedAndNoPasswordIsRepeated(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	for body, field := range map[string]string{
		`{"password":"` + goodPassword + `"}`:                                        "email",
		`{"email":"x","password":"` + goodPassword + `"}`:                            "email",
		`{"email":"A <a@acme.test>","password":"` + goodPassword + `"}`:              "email",
		`{"email":"a@acme.test"}`:                                                    "password",
		`{"email":"a@acme.test","password":"short-pass1"}`:                           "password",
		`{"email":"a@acme.test","password":"` + strings.Repeat("x", 1025) + `"}`:     "password",
		`{"email":"a@acme.test","password":123456789012}`:                            "password",
		`{"email":"a@acme.test","password":"` + goodPassword + `","role":"god"}`:     "role",
		`{"email":"a@acme.test","password":"` + goodPassword + `","name":" "}`:       "name",
		`{"email":"a@acme.test","password":"` + goodPassword + `","company":"Mine"}`: "company",
		`{"email":"a@acme.test","password":"` + goodPassword + `","roles":"owner"}`:  "body",
		`{"email":"a@acme.test","password":"` + goodPassword + `","first":"yes"}`:    "first",
	} {
		got := w.want("POST", "/panel/v1/users", owner, body, 400, "validation_failed", field)
		if text, _ := json.Marshal(got); strings.Contains(string(text), "short-pass1") || strings.Contains(string(text), "123456789012") {
			t.Errorf("the answer repeats the password: %s", text)
		}
	}
}

func TestTheFirstTokenMakesOneOwner(t *testing.T) {
	w := newWorld(t)
	old, ok, err := w.auth.FirstToken(t.Context())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	token, _, err := w.auth.FirstToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"first":true,"email":"first@acme.test","password":"` + goodPassword + `","name":"First","company":"Acme"}`
	w.want("POST", "/panel/v1/users", "Bearer "+old, body, 401, "unauthorized", "")
	w.want("POST", "/panel/v1/users", "Bearer first_made-up", body, 401, "unauthorized", "")
	w.want("POST", "/panel/v1/users", "Bearer "+token, `{"email":"first@acme.test"}`, 400, "validation_failed", "first")
	w.want("POST", "/panel/v1/users", "Bearer "+token, `{"first":true,"email":"first@acme.test"}`, 400, "validation_failed", "name")
	w.want("GET", "/panel/v1/users", "Bearer "+token, "", 401, "unauthorized", "")
	got := w.want("POST", "/panel/v1/users", "Bearer "+token, body, 201, "", "")
	if got["role"] != "owner" {
		t.Errorf("the answer: %v", got)
	}
	w.want("POST", "/panel/v1/users", "Bearer "+token, strings.Replace(body, "first@", "second@", 1), 401, "unauthorized", "")
	if _, ok, err := w.auth.FirstToken(t.Context()); ok || err != nil {
		t.Errorf("with an account there is still a first token: %t, %v", ok, err)
	}
	users := w.want("GET", "/panel/v1/users", w.as("first@acme.test"), "", 200, "", "")
	if rows := users["data"].([]any); len(rows) != 1 {
		t.Errorf("users: %v", rows)
	}
	w.want("POST", "/panel/v1/users", w.as("first@acme.test"), strings.Replace(body, "first@", "third@", 1), 403, "forbidden", "")
}
