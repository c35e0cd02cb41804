package widget

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/config"
	"carillon/internal/base/resource"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/realtime"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/web"
)

const (
	companyID  = "11111111-1111-4111-8111-111111111101"
	widgetID   = "33333333-3333-4333-8333-333333333301"
	listedID   = "33333333-3333-4333-8333-333333333302"
	visitorID  = "55555555-5555-4555-8555-555555555501"
	visitor2ID = "55555555-5555-4555-8555-555555555502"
)

const setUp = `companies:
  - id: 11111111-1111-4111-8111-111111111101
    name: Acme
    limits: {widget_calls_per_minute: 0}
    widgets:
      - {id: 33333333-3333-4333-8333-333333333301, kind: chat, name: Chat, welcome: Hello.}
      - {id: 33333333-3333-4333-8333-333333333302, kind: chat, name: Listed, welcome: Hello., allowed_origins: ["https://shop.example"]}
`

// site is a server with the widgets' routes and one company.
type site struct {
	Deps
	t      *testing.T
	store  *store.Store
	routes []httpio.Route
	url    string
	key    []byte
}

func newSite(t *testing.T, more string) *site {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	x := &site{t: t, store: s, key: []byte("a key of the test, of 32 bytes..")}
	x.apply(setUp + more)
	hub := realtime.NewHub(s.Topics, log, nil)
	s.Events.OnEvents(hub.Publish)
	one := time.Now() // all requests of a test count in one minute
	limits := limit.New(s.Rates, log)
	limits.Now = func() time.Time { return one }
	talks := conversation.New(conversation.Options{Store: s, Thinker: agent.Builtin{}, Publisher: hub, Log: log, Alone: true})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = talks.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	x.Deps = Deps{
		Auth: auth.New(s, limits, auth.Options{}), Resources: s.Resources, Widgets: s.Widgets, Companies: s.Accounts,
		Conversations: talks, Chats: s.Chats,
		Limits: limits,
		Files:  files.New(s.Files, files.Options{Keys: s.Config.Derived, Suspended: x.suspended}), Events: hub, Pages: web.Embedded(),
		SessionKey: x.key, Log: log, Addresses: func() (string, string) { return x.url, x.url },
	}
	x.serve()
	return x
}

// serve starts a server with the current dependencies.
func (x *site) serve() {
	x.routes = append(Routes(x.Deps), attachment.Routes(x.Files)...)
	x.serveRoutes()
}

// serveRoutes starts a server with the current routes.
func (x *site) serveRoutes() {
	router := httpio.NewRouter(x.Log, nil, x.routes...)
	server := httptest.NewServer(router)
	x.t.Cleanup(func() { router.CloseStreams(); server.Close() })
	x.url = server.URL
}

func (x *site) suspended(ctx context.Context, companyID string) (bool, error) {
	c, err := x.store.Accounts.Company(ctx, companyID)
	return err == nil && c.Suspended, err
}

func (x *site) apply(text string) {
	x.t.Helper()
	kinds := []resource.Kind{knowledge.Kind(), agent.Kind(), Kind()}
	p, err := config.ParseProvision("test.yaml", []byte(text), config.ProvisionOptions{Kinds: kinds})
	if err == nil {
		_, err = x.store.Apply(x.t.Context(), p, nil)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// send calls a route and returns the status and the body.
func (x *site) send(method, path, token, body string, header ...string) (int, string) {
	x.t.Helper()
	r, err := http.NewRequestWithContext(x.t.Context(), method, x.url+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// begin starts a session and returns its token and claims.
func (x *site) begin(widget, visitor string, header ...string) (string, jwt.MapClaims) {
	x.t.Helper()
	status, text := x.send("POST", prefix+"/chat/session", "", `{"widget_id":"`+widget+`","customer_id":"`+visitor+`"}`, header...)
	var b sessionStart
	if err := json.Unmarshal([]byte(text), &b); err != nil || status != 200 {
		x.t.Fatal(status, text, err)
	}
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(b.Token, claims); err != nil {
		x.t.Fatal(err)
	}
	return b.Token, claims
}

// signed returns a token with changed claims, or of another key or method.
func (x *site) signed(method jwt.SigningMethod, key any, claims jwt.MapClaims, change func(c jwt.MapClaims)) string {
	x.t.Helper()
	c := maps.Clone(claims)
	if change != nil {
		change(c)
	}
	token, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		x.t.Fatal(err)
	}
	return token
}

// chatRoutes returns the routes that accept a session's token.
func (x *site) chatRoutes() []httpio.Route {
	var all []httpio.Route
	for _, r := range x.routes {
		if r.Access == "chat" {
			all = append(all, r)
		}
	}
	if len(all) < 8 {
		x.t.Fatalf("only %d routes take a session's token", len(all))
	}
	return all
}

func TestOnlyTheSessionsOwnTokenOpensAChatRoute(t *testing.T) {
	x := newSite(t, `      - {id: 33333333-3333-4333-8333-333333333303, kind: voice, name: Voice, welcome: Hello.}
  - id: 11111111-1111-4111-8111-111111111102
    name: Suspended
    status: suspended
    widgets: [{id: 33333333-3333-4333-8333-333333333304, kind: chat, name: Chat, welcome: Hello.}]
`)
	good, claims := x.begin(widgetID, visitorID, "Origin", "https://one.example")
	set := func(name string, value any) func(jwt.MapClaims) { return func(c jwt.MapClaims) { c[name] = value } }
	without := func(name string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { delete(c, name) } }
	hs := jwt.SigningMethodHS256
	parts := strings.Split(good, ".")
	for name, tt := range map[string]struct {
		token  string
		status int
		header []string
	}{
		"none":                 {"", 401, nil},
		"no JWT":               {"x.y.z", 401, nil},
		"longer than any":      {strings.Repeat("x", 5000), 401, nil},
		"unsigned":             {x.signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims, nil), 401, nil},
		"signature cut off":    {parts[0] + "." + parts[1] + ".", 401, nil},
		"of another key":       {x.signed(hs, []byte("another key of the test........."), claims, nil), 401, nil},
		"of an empty key":      {x.signed(hs, []byte{}, claims, nil), 401, nil},
		"of another method":    {x.signed(jwt.SigningMethodHS512, x.key, claims, nil), 401, nil},
		"expired":              {x.signed(hs, x.key, claims, set("exp", time.Now().Add(-time.Second).Unix())), 401, nil},
		"without an end":       {x.signed(hs, x.key, claims, without("exp")), 401, nil},
		"for another audience": {x.signed(hs, x.key, claims, set("aud", []string{"voice"})), 401, nil},
		"for none":             {x.signed(hs, x.key, claims, without("aud")), 401, nil},
		"of an unknown widget": {x.signed(hs, x.key, claims, set("widget", visitorID)), 401, nil},
		"of a voice widget":    {x.signed(hs, x.key, claims, set("widget", "33333333-3333-4333-8333-333333333303")), 401, nil},
		"of another company":   {x.signed(hs, x.key, claims, set("company", "11111111-1111-4111-8111-111111111102")), 401, nil},
		"of a suspended company": {x.signed(hs, x.key, claims, func(c jwt.MapClaims) {
			c["company"], c["widget"] = "11111111-1111-4111-8111-111111111102", "33333333-3333-4333-8333-333333333304"
		}), 403, nil},
		"from another origin": {good, 403, []string{"Origin", "https://two.example"}},
		"from no origin":      {good, 403, []string{"Origin", "null"}},
		"from a site not on the list": {
			x.signed(hs, x.key, claims, func(c jwt.MapClaims) { c["widget"] = listedID; delete(c, "origin") }), 403,
			[]string{"Origin", "https://evil.example"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, route := range x.chatRoutes() {
				method, path, _ := strings.Cut(route.Pattern, " ")
				status, text := x.send(method, path, tt.token, "{}", tt.header...)
				if status != tt.status || strings.Contains(text, "event:") {
					t.Errorf("%s answered %d, want %d: %s", route.Pattern, status, tt.status, text)
				}
			}
		})
	}
	if status, text := x.send(
		"POST", prefix+"/chat/turns", good, `{"client_id":"1","text":"Hi"}`, "Origin", "https://one.example",
	); status != 200 {
		t.Errorf("its own token: %d %s", status, text)
	}
}

func TestAConversationOfAnotherCompanyIsNotFound(t *testing.T) {
	x := newSite(t, `  - id: 11111111-1111-4111-8111-111111111102
    name: Other
    widgets: [{id: 33333333-3333-4333-8333-333333333304, kind: chat, name: Chat, welcome: Hello.}]
`)
	_, claims := x.begin(widgetID, visitorID)
	// A token that no session would issue: this company's widget with the other company's conversation.
	mixed := x.signed(jwt.SigningMethodHS256, x.key, claims, func(c jwt.MapClaims) {
		c["company"], c["widget"] = "11111111-1111-4111-8111-111111111102", "33333333-3333-4333-8333-333333333304"
	})
	for path, body := range map[string]string{
		"turns": `{"client_id":"1","text":"Hi"}`, "seen": `{"seq":1}`, "handoff": `{}`, "contact": `{"email":"a@b.example"}`,
		"rating": `{"rating":5}`, "end": `{}`,
	} {
		if status, text := x.send("POST", prefix+"/chat/"+path, mixed, body); status != 404 {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := x.send("GET", prefix+"/chat/stream", mixed, ""); status != 404 {
		t.Errorf("the stream: %d %s", status, text)
	}
}

func TestATokenEndsWithItsWidget(t *testing.T) {
	x := newSite(t, "")
	token, _ := x.begin(widgetID, visitorID)
	if err := x.store.Resources.DeleteResource(
		t.Context(), companyID, []resource.Kind{knowledge.Kind(), agent.Kind(), Kind()}, Kind(), widgetID,
	); err != nil {
		t.Fatal(err)
	}
	for _, route := range x.chatRoutes() {
		method, path, _ := strings.Cut(route.Pattern, " ")
		if status, text := x.send(method, path, token, "{}"); status != 401 || !strings.Contains(text, "revoked") {
			t.Errorf("%s answered %d %s", route.Pattern, status, text)
		}
	}
}

// events reads a stream until enough reports true, and returns the events as "name id data".
func (x *site) events(token, after string, enough func(all []string) bool) []string {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 2*time.Minute)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, x.url+prefix+"/chat/stream", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		x.t.Fatal(resp, err)
	}
	defer func() { _ = resp.Body.Close() }()
	var all []string
	var id, name string
	for lines := bufio.NewScanner(resp.Body); !enough(all) && lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "event: "):
			name = line[7:]
		case strings.HasPrefix(line, "data: "):
			all = append(all, name+" "+id+" "+line[6:])
			id, name = "", ""
		}
	}
	if !enough(all) {
		x.t.Fatalf("the stream ended with %q", all)
	}
	return all
}

func TestTheStreamReplaysWhatThisVisitorMissed(t *testing.T) {
	x := newSite(t, "")
	token, _ := x.begin(widgetID, visitorID)
	other, _ := x.begin(widgetID, visitor2ID)
	for i, text := range []string{"one", "two", "three"} {
		for _, by := range []string{token, other} {
			if status, said := x.send("POST", prefix+"/chat/turns", by, `{"client_id":"`+string(rune('a'+i))+`","text":"`+text+
				by[len(by)-4:]+`"}`); status != 200 {
				t.Fatal(status, said)
			}
		}
	}
	all := x.events(token, "1", func(all []string) bool { return len(all) >= 3 })
	if !strings.HasPrefix(all[0], "turn 2 ") || !strings.HasPrefix(all[1], "turn 3 ") || !strings.HasPrefix(all[2], "state  ") {
		t.Errorf("after the first turn: %q", all)
	}
	if text := strings.Join(all, ""); strings.Contains(text, other[len(other)-4:]+`"`) {
		t.Errorf("another visitor's turns: %q", all)
	}
	all = x.events(token, "99", func(all []string) bool { return len(all) >= 1 })
	if !strings.HasPrefix(all[0], "reset ") {
		t.Errorf("after a turn that is not there: %q", all)
	}
}

func TestNotesAndAccountsAreNotForVisitors(t *testing.T) {
	x := newSite(t, "")
	token, claims := x.begin(widgetID, visitorID)
	id, _ := claims["conversation"].(string)
	by := conversation.By{CompanyID: companyID, AccountID: "account-of-bea", Name: "Bea"}
	if _, _, err := x.Conversations.Desk.Note(t.Context(), by, id,
		conversation.Said{ClientID: "n", Kind: "text", Text: "a note"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := x.Conversations.Desk.Answer(
		t.Context(), by, id, conversation.Said{ClientID: "a", Kind: "text", Text: "an answer"}, -1,
	); err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(x.events(token, "0", func(all []string) bool { return len(all) >= 3 }), "\n")
	_, text := x.send("POST", prefix+"/chat/session", "", `{"widget_id":"`+widgetID+`","customer_id":"`+visitorID+`"}`)
	for what, s := range map[string]string{"the stream": shown, "the session": text} {
		if strings.Contains(s, "a note") || strings.Contains(s, "account-of-bea") || !strings.Contains(s, "an answer") ||
			!strings.Contains(s, `"name":"Bea"`) {
			t.Errorf("%s shows %s", what, s)
		}
	}
}

func TestOriginsThatEndADirectiveAreRefused(t *testing.T) {
	for origin, valid := range map[string]bool{
		"https://shop.example": true, "http://127.0.0.1:3000": true, "http://[::1]:80": true, "https://xn--bcher-kva.example": true,
		"https://a.example;script-src": false, "https://a.example '*'": false, "https://a,b.example": false, "https://*.example": false,
		"https://a.example/": false, "https://": false, "null": false, "javascript:alert(1)": false, "https://user@a.example": false,
		"https://a.example\n": false,
	} {
		w := &Widget{Name: "a", AllowedOrigins: []string{origin}}
		if err := w.Validate(); (err == nil) != valid {
			t.Errorf("%q: %v", origin, err)
		}
	}
}

// upper is a translator that knows one language.
type upper struct{}

func (upper) Translate(_ context.Context, text, _, to string) string {
	if to != "fr" {
		return text
	}
	return strings.ToUpper(text)
}

func TestTheWelcomeIsTheConfiguredOneElseTranslatedElseTheOriginal(t *testing.T) {
	w := &Widget{Language: "en", Welcome: "Hello", Translations: map[string]string{"es": "Hola", "pt-BR": "Olá", "pt": "Viva"}}
	for _, tt := range []struct{ lang, want string }{
		{"en", "Hello"},
		{"en-AU", "Hello"},
		{"es", "Hola"},
		{"es-MX", "Hola"},
		{"pt-br", "Olá"},
		{"pt", "Viva"},
		{"fr", "HELLO"},
		{"de", "Hello"},
	} {
		if got := (&host{translator: upper{}}).welcome(t.Context(), w, tt.lang); got != tt.want {
			t.Errorf("%s: %q", tt.lang, got)
		}
	}
	if got := (&host{}).welcome(t.Context(), w, "fr"); got != "Hello" {
		t.Errorf("without a translator: %q", got)
	}
}

func TestOutsideOfItsHoursAWidgetTakesAnAddress(t *testing.T) {
	now := time.Now().UTC()
	day := func(d int) string { return strings.ToLower(now.AddDate(0, 0, d).Weekday().String()[:3]) }
	x := newSite(t, `      - id: 33333333-3333-4333-8333-333333333305
        kind: chat
        name: Open
        hours: {timezone: UTC, from: "00:00", to: "24:00", days: [`+day(-1)+`, `+day(0)+`, `+day(1)+`]}
      - id: 33333333-3333-4333-8333-333333333306
        kind: chat
        name: Closed
        hours: {timezone: UTC, from: "00:00", to: "24:00", days: [`+day(3)+`]}
`)
	for _, statement := range []string{
		"INSERT INTO account (id, email, name, password_hash, confirmed_at, created_at, updated_at) VALUES ('bea', 'bea@acme.test', " +
			"'Bea', '', 0, 0, 0)",
		"INSERT INTO presence (company_id, account_id, until) VALUES ('" + companyID + "', 'bea', 9999999999999)",
	} {
		if _, err := x.store.DB.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for widget, want := range map[string]string{
		"33333333-3333-4333-8333-333333333305": `{"state":"queued","position":1,"away":false}`,
		"33333333-3333-4333-8333-333333333306": `{"state":"missed","away":true}`,
	} {
		token, _ := x.begin(widget, visitorID)
		if status, text := x.send("POST", prefix+"/chat/handoff", token, "{}"); status != 200 || strings.TrimSpace(text) != want {
			t.Errorf("%s: %d %s, want %s", widget, status, text, want)
		}
	}
}
