package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/edge/control"
	"carillon/internal/store"
	"carillon/internal/store/move"
	"carillon/internal/store/storetest"
)

// moving is a demo whose installation is moved while it runs.
type moving struct {
	talk
	ready chan struct{} // one signal for each start of the program in this process
	stop  context.CancelFunc
	ended chan error // the end of Run
}

func runMoving(t *testing.T, cfg config.Config) *moving {
	t.Helper()
	m := &moving{ready: make(chan struct{}, 10), ended: make(chan error, 1)}
	a, err := app.New(cfg, app.Options{Logger: slog.New(atReady(func() { m.ready <- struct{}{} }))})
	if err != nil {
		t.Fatal(err)
	}
	m.talk = talk{t, a}
	ctx, stop := context.WithCancel(t.Context())
	m.stop = stop
	go func() { m.ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-m.ended; err != nil {
			t.Error(err)
		}
	})
	m.await("the program is ready", m.ready)
	return m
}

func (m *moving) await(what string, signal <-chan struct{}) {
	m.t.Helper()
	select {
	case <-signal:
	case err := <-m.ended:
		m.t.Fatal(what, err)
	case <-time.After(app.Hung):
		m.t.Fatal("it hangs:", what)
	}
}

// moveConfig are the settings of the demo on SQLite.
func moveConfig(t *testing.T, address string) config.Config {
	t.Helper()
	return config.Config{
		Addr: address, Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
		MediaAllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}
}

// moveOptions returns the options of the command. Meanwhile is called while the program responds with 503.
func moveOptions(t *testing.T, cfg config.Config, url string, meanwhile func()) move.Options {
	t.Helper()
	key, err := cfg.MasterKey()
	if err != nil {
		t.Fatal(err)
	}
	return move.Options{Dir: cfg.Data, URL: url, MasterKey: key, Stop: func(ctx context.Context) (func(bool), error) {
		end, err := control.Stop(ctx, cfg.Data)
		if err == nil && meanwhile != nil {
			meanwhile()
		}
		return end, err
	}}
}

// status returns the status of a request, its Retry-After and its body.
func (k talk) status(method, path string) (status int, retry string, body map[string]any) {
	k.t.Helper()
	r, err := http.NewRequestWithContext(k.t.Context(), method, k.a.BaseURL()+path, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_ = json.NewDecoder(resp.Body).Decode(&body)
	return resp.StatusCode, resp.Header.Get("Retry-After"), body
}

// TestTheProgramRespondsWhileItIsMovedAndGoesOnAfterAFailure stops for a move that fails, twice, and for one that
// succeeds.
func TestTheProgramRespondsWhileItIsMovedAndGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	cfg := moveConfig(t, "127.0.0.1:0")
	m := runMoving(t, cfg)
	url := storetest.EmptyPostgres(t)
	refuses := func() {
		t.Helper()
		for _, path := range []string{"POST /functions/v1/notify", "GET /readyz", "GET /panel", "POST /callbacks/whatsapp/demo"} {
			method, path, _ := strings.Cut(path, " ")
			status, retry, body := m.status(method, path)
			if status != http.StatusServiceUnavailable || retry == "" || body["error"] != "service_unavailable" ||
				body["request_id"] == "" {
				t.Errorf("%s %s: %d, Retry-After %q, %v", method, path, status, retry, body)
			}
		}
		if status, _, _ := m.status("GET", "/healthz"); status != http.StatusOK {
			t.Errorf("/healthz: %d", status)
		}
	}
	for range 2 {
		ctx, interrupt := context.WithCancel(t.Context())
		o := moveOptions(t, cfg, url, func() { refuses(); interrupt() })
		if _, err := move.ToPostgres(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		m.await("the program starts again", m.ready)
		app.Within(t, "it is ready", func() bool { status, _, _ := m.status("GET", "/readyz"); return status == http.StatusOK })
	}
	if _, err := move.ToPostgres(t.Context(), moveOptions(t, cfg, url, refuses)); err != nil {
		t.Fatal(err)
	}
	m.ends()
}

// ends waits for the end of the program.
func (m *moving) ends() {
	m.t.Helper()
	select {
	case err := <-m.ended:
		m.ended <- err
	case <-time.After(app.Hung):
		m.t.Fatal("it hangs: the program does not end")
	}
}

// TestASignalDuringTheMoveEndsTheProgramAlone stops the program while the command works: the move goes on without it.
func TestASignalDuringTheMoveEndsTheProgramAlone(t *testing.T) {
	t.Parallel()
	cfg := moveConfig(t, "127.0.0.1:0")
	m := runMoving(t, cfg)
	url := storetest.EmptyPostgres(t)
	if _, err := move.ToPostgres(t.Context(), moveOptions(t, cfg, url, func() { m.stop(); m.ends() })); err != nil {
		t.Fatal(err)
	}
	if a, err := app.New(cfg, app.Options{}); err != nil || !errors.Is(a.Start(t.Context()), store.ErrMoved) {
		t.Errorf("the program starts on the folder after the move: %v", err)
	}
}

// TestAMovedInstallationGoesOnForItsUsers uses an installation before and after it was moved.
func TestAMovedInstallationGoesOnForItsUsers(t *testing.T) {
	t.Parallel()
	endpoint := newEndpoint(t)
	cfg := moveConfig(t, "127.0.0.1:0")
	before := runMoving(t, cfg)
	const key = "?access_key=" + demoKey
	notify := func(k talk, number, idempotency, more string) (id string, replayed bool) {
		t.Helper()
		body := `{"contact":{"number":"` + number + `","name":"Ana"},"recipient_id":"15550100100","name_template":"hello",` +
			`"language_template":"en","notification_type":"utility","campaign_name":"moved",` +
			`"components_push":{"body_text_0":"Ana"}` + more + `}`
		address := k.a.BaseURL() + "/functions/v1/notify" + key
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", idempotency)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		id, _ = decode(t, resp, http.StatusOK)["notification_id"].(string)
		return id, resp.Header.Get("Idempotent-Replayed") == "true"
	}
	states := func(k talk, id string) map[string]any {
		counts, _ := k.ask("GET", "/functions/v1/notify/"+id+key, "", "", http.StatusOK)["counts"].(map[string]any)
		return counts
	}
	pulled := func(k talk, cursor string) (ids []string) {
		list, _ := k.ask("GET", "/functions/v1/events"+key+"&limit=100&cursor="+cursor, "", "", http.StatusOK)["data"].([]any)
		for _, e := range list {
			ids = append(ids, e.(map[string]any)["id"].(string))
		}
		return ids
	}

	k := before.talk
	owner, mate := k.signIn("owner@demo.test"), k.signIn("agent@demo.test")
	cursor, _ := k.ask("GET", "/functions/v1/events"+key, "", "", http.StatusOK)["next_cursor"].(string)
	hook, _ := k.ask("POST", "/functions/v1/webhooks"+key, "", `{"url":"`+endpoint.URL+`"}`, http.StatusCreated)["id"].(string)
	first, _ := notify(k, "34600111221", "first", "")
	app.Within(t, "the first message is read", func() bool { return states(k, first)["read"] == 1.0 })
	later, _ := notify(k, "34600111222", "later", `,"datetime_sending":"2099-01-01T00:00:00"`)
	k.ask("POST", "/functions/v1/suppressions"+key, "", `{"number":"34600111223","type":"all","reason":"asked"}`, http.StatusOK)
	visitor, conversation := k.visit(1)
	said := k.ask("POST", "/functions/v1/chat/turns", visitor, `{"client_id":"1","text":"Before the move"}`, http.StatusOK)
	status, file := sendFile(t, k.a.BaseURL()+"/panel/v1/conversations/"+conversation+"/files", mate, "offer.pdf", "%PDF-1.7 offer")
	if status != http.StatusOK {
		t.Fatal(status, file)
	}
	answer := `{"client_id":"1","file":"` + file["id"].(string) + `"}`
	k.ask("POST", "/panel/v1/conversations/"+conversation+"/answers", mate, answer, http.StatusOK)
	link := linkIn(t, k, visitor)
	app.Within(t, "the first events are delivered", func() bool { return endpoint.events() >= len(pulled(k, cursor)) })
	known := pulled(k, cursor)
	usage := k.ask("GET", "/functions/v1/usage"+key, "", "", http.StatusOK)

	url := storetest.PatientPostgres(t)
	if _, err := move.ToPostgres(t.Context(), moveOptions(t, cfg, url, nil)); err != nil {
		t.Fatal(err)
	}
	on := cfg
	on.DatabaseURL, on.MasterKeyFile = config.Secret(url), filepath.Join(cfg.Data, "master.key")
	on.Data = t.TempDir()
	after := runMoving(t, on)
	k = after.talk

	// Keys, sessions, limits, suppressions, repeated requests and positions in the events.
	if now := k.ask("GET", "/functions/v1/usage"+key, "", "", http.StatusOK); !reflect.DeepEqual(now, usage) {
		t.Errorf("usage %v, was %v", now, usage)
	}
	if id, replayed := notify(k, "34600111221", "first", ""); id != first || !replayed {
		t.Errorf("the repeated request made %s, replayed: %v", id, replayed)
	}
	k.ask("GET", "/panel/v1/conversations/"+conversation, mate, "", http.StatusOK)
	k.ask("GET", "/functions/v1/auth/user", owner, "", http.StatusOK)
	k.signIn("owner@demo.test")
	skipped, _ := notify(k, "34600111223", "skipped", "")
	app.Within(t, "a message to a suppressed number is skipped", func() bool { return states(k, skipped)["skipped"] == 1.0 })
	if ids := pulled(k, cursor); len(ids) < len(known) || !reflect.DeepEqual(ids[:len(known)], known) {
		t.Errorf("events %v, were %v", ids, known)
	}

	// The visitor continues, and the link to the file works.
	again := k.ask("POST", "/functions/v1/chat/turns", visitor, `{"client_id":"1","text":"Before the move"}`, http.StatusOK)
	if at(again, "seq") != at(said, "seq") {
		t.Errorf("the repeated turn is %v, was %v", again, said)
	}
	next := k.ask("POST", "/functions/v1/chat/turns", visitor, `{"client_id":"2","text":"After the move"}`, http.StatusOK)
	if a, b := at(next, "seq"), at(said, "seq"); a == nil || a.(float64) <= b.(float64) {
		t.Errorf("the next turn is %v after %v", a, b)
	}
	if status, text := k.load(link, ""); status != http.StatusOK || text != "%PDF-1.7 offer" {
		t.Errorf("the link to the file: %d %q", status, text)
	}

	// Scheduled work goes on, once, and the webhook gets each event after the move once.
	soon := time.Now().Add(2 * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
	k.ask("PATCH", "/functions/v1/notify/"+later+key, "", `{"datetime_sending":"`+soon+`"}`, http.StatusOK)
	app.Within(t, "the scheduled message is read", func() bool { return states(k, later)["read"] == 1.0 })
	app.Within(t, "the webhook is up to date", func() bool { return endpoint.events() >= len(pulled(k, cursor)) })
	for id, n := range endpoint.all() {
		if n != 1 {
			t.Errorf("event %s was delivered %d times", id, n)
		}
	}
	if ids := pulled(k, cursor); len(ids) != endpoint.events() {
		t.Errorf("%d events were delivered, %d are stored", endpoint.events(), len(ids))
	}
	if s := k.ask("GET", "/functions/v1/webhooks/"+hook+"/status"+key, "", "", http.StatusOK); s["state"] != "active" {
		t.Errorf("the webhook is %v", s)
	}
	list, _ := k.ask("GET", "/functions/v1/notify"+key+"&number=34600111221", "", "", http.StatusOK)["data"].([]any)
	if len(list) != 1 {
		t.Errorf("%d notifications are found by their number", len(list))
	}
}

// linkIn returns the address of the only file of a teammate in the visitor's conversation.
func linkIn(t *testing.T, k talk, visitor string) string {
	t.Helper()
	chat, end := k.follow("/functions/v1/chat/stream", visitor, "0")
	defer end()
	shown := await(t, chat, "the teammate's file", func(e sse) bool { return e.kind == "turn" && at(e.data, "author") == "teammate" })
	link, _ := at(shown.data, "file", "url").(string)
	return strings.TrimPrefix(link, k.a.BaseURL())
}

// endpoint counts the events that a webhook delivers.
type endpoint struct {
	*httptest.Server
	mu   sync.Mutex
	came map[string]int
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{came: map[string]int{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var x struct{ ID string }
		_ = json.NewDecoder(r.Body).Decode(&x)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.came[x.ID]++
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) events() int { return len(e.all()) }

func (e *endpoint) all() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.came)
}
