// Package paneltest runs the panel on a real store, with fakes for telephones, channels, mail and single sign-on.
package paneltest

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

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/account/push"
	"carillon/internal/account/push/pushtest"
	"carillon/internal/agent"
	"carillon/internal/agent/document"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/agent/site"
	"carillon/internal/agent/tools"
	"carillon/internal/agent/trial"
	"carillon/internal/base/egress"
	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
	"carillon/internal/call/sip"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/edge/panel/contracttest"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/widget"
	"carillon/internal/event/hook"
	"carillon/internal/event/realtime"
	"carillon/internal/queue"
	"carillon/internal/send/bulk"
	"carillon/internal/send/catalog"
	"carillon/internal/send/notify"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

// HostileNexts lead to another site if they are followed without a check.
//
//nolint:gochecknoglobals // read-only
var HostileNexts = []string{
	"//evil.test", `\\evil.test`, `/\evil.test`, `\/evil.test`, "https://evil.test", "https:evil.test", "javascript:alert(1)",
	"JaVaScRiPt:alert(1)", "data:text/html,x",
	"%2f%2fevil.test", "%5c%5cevil.test", "/%5cevil.test/..", "/../..//evil.test", "/..//evil.test", "/./..//evil.test",
	"/%2e%2e//evil.test", "/%2e%2e/%2fevil.test", "\t//evil.test", "/\t/evil.test",
	"/\r\nLocation: https://evil.test", " //evil.test", "evil.test", "@evil.test", ".evil.test", ":80@evil.test", "?next=//evil.test",
	"#//evil.test", strings.Repeat("/a", 600),
}

// Invite sends an invitation and returns the secret of its link.
func (w *World) Invite(by, email, role string) string {
	w.T.Helper()
	w.Want("POST", "/panel/v1/invitations", by, `{"email":"`+email+`","role":"`+role+`"}`, 201, "", "")
	_, secret := w.Post.Last(w.T)
	return secret
}

func (w *World) Accept(secret, cookie string) *httptest.ResponseRecorder {
	return w.Page("POST", "/panel/v1/invitation/accept", cookie, `{"token":"`+secret+`","name":"Eve","password":"`+Password+`"}`)
}

func (w *World) CompanyOf(name string) string {
	w.T.Helper()
	theirs, err := accounts.Memberships(w.T.Context(), w.Store.DB, w.ID("owner@"+name+".test"))
	if err != nil || len(theirs) != 1 {
		w.T.Fatal(theirs, err)
	}
	return theirs[0].CompanyID
}

const Password = "correct-horse-battery"

type World struct {
	T      *testing.T
	Store  *store.Store
	Auth   *auth.Auth
	Router checked
	Routes []httpio.Route
	Hub    *realtime.Hub
	Talks  *fakeTalks
	Chats  *conversation.Conversations
	Limits *limit.Limits

	Channel *exchange
	Post    *postbox
	SSO     *fakeSSO
	Cloud   *fakeCloud
	Pushes  *pushtest.Service
}

func New(t *testing.T) *World {
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
	one := time.Now() // all requests of a test count in one minute
	counted := func() *limit.Limits {
		l := limit.New(s.Rates, log)
		l.Now = func() time.Time { return one }
		return l
	}
	a := auth.New(s, counted(), auth.Options{Params: auth.Params{Memory: 64, Passes: 1, Threads: 1}})
	hub := realtime.NewHub(s.Topics, log, nil)
	vectorsOf := func(s *store.Store) *meaning.Vectors {
		return meaning.New(meaning.Options{
			Store: s.Vectors, Resources: s.Resources, Node: "panel", Log: log, Limit: time.Minute,
			Client: meaning.NewClient(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}),
		})
	}
	vectors := vectorsOf(s)
	search := knowledge.NewSearch(s.Resources, log).With(vectors)
	there, channel, post, signOn := &fakeTalks{}, &exchange{}, &postbox{}, &fakeSSO{}
	cloud, pushes := &fakeCloud{}, pushtest.New(t)
	conversations := conversation.New(conversation.Options{Store: s, Publisher: hub, Log: log})
	limits := counted()
	routes := panel.Routes(panel.Deps{
		Search: search, Vectors: vectors, Thinker: agent.NewBuiltin(search), Documents: document.New(nil),
		Toolbox: tools.New(tools.Options{
			Resources: s.Resources, Client: tools.NewClient([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}), Limits: limits,
			Log: log,
		}),
		Pages: egress.New(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, MaxBody: 64 << 10}),
		Store: s, Auth: a, Events: hub, Conversations: conversations, Messages: channel, Mobile: channel, Talks: there, Trials: there,
		Speakers:  map[string]voice.Speaker{"espeak": there},
		Addresses: func() (string, string) { return "https://panel.test", "https://widgets.test" },
		Kinds: []resource.Kind{
			knowledge.Kind(), secret.Kind(), site.Kind(), tools.Kind(), agent.Kind(), widget.Kind(), flow.Kind(), hook.Kind(),
			trial.Kind(),
		},
		Tests: trial.Runner{
			Tester: trial.Tester{Thinker: agent.NewBuiltin(search)}, Store: s,
			Thinking: func(s *knowledge.Search) agent.Thinker { return agent.NewBuiltin(s) }, Vectors: vectorsOf,
		},
		Unbuilt: func(x resource.Resource) string {
			if _, ok := x.(*hook.Webhook); ok {
				return "it gets no events yet"
			}
			return ""
		},
		Providers: map[string]channels.Provider{"sandbox": {}, "whatsapp": {
			Check: whatsapp.CheckSettings, Shown: whatsapp.ShownSettings(), Secrets: whatsapp.SecretSettings(), Inspect: cloud.inspect,
			Subscribe: cloud.subscribe, Redirect: cloud.redirect,
			Calling: cloud.calling(),
			Away: &channels.Away{
				Setting: "base_url", Usual: whatsapp.DefaultBaseURL, Mark: "public", Secrets: []string{"access_token", "app_secret"},
				Admit: admitChannel,
			},
		}, "sip": {Check: sip.CheckSettings, Shown: sip.ShownSettings(), Away: &channels.Away{
			Setting: "trunk", Mark: "public", Secrets: []string{"password"}, Admit: admitTrunk, Claim: "claimed", Meets: meetTrunks,
		}}},
		SignUp: &channels.SignUp{
			Provider: "whatsapp", AppID: "3000001", ConfigID: "4000001", Version: whatsapp.DefaultVersion, Exchange: cloud.exchange,
		},
		Catalog: catalog.New(s, nil, catalog.Options{}), Lines: &fakeLines{}, Phone: fakePhone{}, Limits: limits, Mail: post,
		Push: push.New(push.Options{
			Notices: s.Notices, Client: push.NewClient(pushes.Egress()), Contact: func() string { return "ops@panel.test" },
		}),
		SSO: signOn, Hooks: hook.NewDeliverer(s, hook.Options{Client: egress.New(egress.Options{})}),
		Jobs: bulk.New(bulk.Options{Store: s}), Calls: fakeCalls{s},
		Notify: notify.New(s, queue.New(s, queue.Options{}), notify.Options{}),
	})
	router := httpio.NewRouter(log, nil, routes...)
	return &World{
		t, s, a,
		checked{router, contracttest.Check(t, router)},
		routes, hub, there, conversations, limits, channel, post, signOn, cloud,
		pushes,
	}
}

// checked is a router whose responses are checked against the panel's description.
type checked struct {
	*httpio.Router
	handler http.Handler
}

// ServeHTTP implements http.Handler.
func (c checked) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Gate returns a gate like that of the router's routes.
func (w *World) Gate() *member.Gate {
	return &member.Gate{
		Auth: w.Auth, Limits: w.Limits,
		Addresses: func() (string, string) { return "https://panel.test", "" },
	}
}

// Company creates a company with a member of each role, <role>@<name>.test.
func (w *World) Company(name string) *carillon.Company {
	w.T.Helper()
	hash, err := w.Auth.HashPassword(w.T.Context(), Password)
	if err != nil {
		w.T.Fatal(err)
	}
	c := &carillon.Company{ID: carillon.NewID(time.Now()), Name: name}
	err = w.Store.Config.Change(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
		all := []error{accounts.PutCompany(ctx, tx, c, time.Now())}
		for _, role := range auth.Roles() {
			a := &accounts.Account{Email: string(role) + "@" + name + ".test", PasswordHash: hash, ProvedAt: time.Now()}
			all = append(all, accounts.PutAccount(ctx, tx, a, time.Now()),
				accounts.PutMembership(ctx, tx, accounts.Membership{AccountID: a.ID, CompanyID: c.ID, Role: string(role)}))
		}
		return errors.Join(all...)
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}

// As signs in and returns the Authorization header.
func (w *World) As(email string) string {
	w.T.Helper()
	x, err := w.Auth.SignIn(w.T.Context(), auth.Credentials{Email: email, Password: Password}, "")
	if err != nil {
		w.T.Fatal(err)
	}
	return "Bearer " + x.AccessToken
}

// Do sends a request and returns the status and the decoded response.
func (w *World) Do(method, path, authorization, body string) (int, map[string]any) {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	rec := httptest.NewRecorder()
	w.Router.ServeHTTP(rec, r)
	if rec.Code == http.StatusNoContent {
		return rec.Code, nil
	}
	if strings.HasPrefix(rec.Header().Get("Content-Type"), "text/csv") {
		return rec.Code, map[string]any{"csv": rec.Body.String()}
	}
	got := map[string]any{}
	if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
		w.T.Fatalf("%s %s: %d %s: %v", method, path, rec.Code, rec.Body, err)
	}
	return rec.Code, got
}

// Want sends a request and checks the status and, for an error, its code and field.
func (w *World) Want(method, path, authorization, body string, status int, code, field string) map[string]any {
	w.T.Helper()
	got, answered := w.Do(method, path, authorization, body)
	details, _ := answered["details"].(map[string]any)
	if got != status || code != "" && answered["error"] != code || field != "" && details["field"] != field {
		w.T.Errorf("%s %s %s: %d %v, want %d %s %s", method, path, body, got, answered, status, code, field)
	}
	return answered
}

// ID returns the id of an account.
func (w *World) ID(email string) string {
	w.T.Helper()
	a, err := w.Store.Accounts.AccountByEmail(w.T.Context(), email)
	if err != nil || a == nil {
		w.T.Fatal(a, err)
	}
	return a.ID
}
