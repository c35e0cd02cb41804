package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/e2e/instance"
	"carillon/internal/account/sso/ssotest"
	"carillon/internal/agent/meaning/meaningtest"
	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/call/sip"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/voice/voicetest"
)

// world is the environment of an entry: a program with the demo, and a server that creates objects on request. The
// goroutine of the entry's test creates them, so that a failure fails that test.
type world struct {
	t     *testing.T
	demo  *instance.Instance
	url   string
	asked chan func()
	last  int // number of the last company

	answers    chan struct{}       // each value makes the trunk answer a call
	embeddings *meaningtest.Server // nil until it is asked for
	dialog     *graphtest.Server   // of signUp
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, asked: make(chan func()), answers: make(chan struct{}, 1)}
	w.demo = start(t, map[string][]string{"demo": {"true"}, "media-allow-private": {"127.0.0.1/32"}, "sip-allow-private": {"127.0.0.1/32"}})
	awaitControl(t, w.demo)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /company", w.serve(w.company))
	mux.HandleFunc("POST /empty", w.serve(w.empty))
	mux.HandleFunc("POST /several", w.serve(w.several))
	mux.HandleFunc("POST /speech", w.serve(w.speech))
	mux.HandleFunc("POST /trunk", w.serve(w.trunk))
	mux.HandleFunc("POST /answer", w.serve(w.answer))
	mux.HandleFunc("POST /graph", w.serve(w.graph))
	mux.HandleFunc("POST /signup", w.serve(w.signUp))
	mux.HandleFunc("POST /code", w.serve(w.code))
	mux.HandleFunc("POST /embeddings", w.serve(w.embed))
	mux.HandleFunc("POST /embeddings/status", w.serve(w.embedStatus))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// serve returns a handler that responds with an object as JSON. The test's goroutine creates the object.
func (w *world) serve(do func(r *http.Request) any) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		done := make(chan any, 1)
		select {
		case w.asked <- func() { done <- do(r) }:
		case <-r.Context().Done():
			return
		}
		select {
		case value := <-done:
			_ = json.NewEncoder(rw).Encode(value) // the tests may have ended
		case <-r.Context().Done():
		}
	}
}

// The identifiers of the demo that must be unique per company.
var (
	demoID    = regexp.MustCompile(`\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8})[0-9a-f]{4}\b`)
	demoKey   = regexp.MustCompile(`\b(ck_demo_\w{20})\w{4}\b`)
	demoEmail = regexp.MustCompile(`@demo\.test\b`)
)

// company creates a copy of the demo's company in the same program and returns its ready file. With ?bare the company
// has only an owner.
func (w *world) company(r *http.Request) any {
	w.last++
	n := fmt.Sprintf("%04x", w.last)
	own := func(text string) string {
		text = demoID.ReplaceAllString(text, "${1}"+n)
		text = demoKey.ReplaceAllString(text, "${1}"+n)
		return demoEmail.ReplaceAllString(text, "@demo-"+n+".test")
	}
	text, err := os.ReadFile("../../internal/base/config/demo.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	setUp := strings.Replace(own(string(text)), "name: Harbour Tours\n", "name: Harbour Tours "+n+"\n", 1)
	if r.URL.Query().Has("bare") {
		setUp = setUp[:strings.Index(setUp, "      - {email: agent@")]
	}
	name := filepath.Join(w.t.TempDir(), "company.yaml")
	if err := os.WriteFile(name, []byte(setUp), 0o600); err != nil {
		w.t.Fatal(err)
	}
	applied := config.Config{Data: filepath.Dir(w.demo.File), Provision: []string{name}}
	if _, err := app.Apply(w.t.Context(), applied, slog.New(slog.DiscardHandler)); err != nil {
		w.t.Fatal(err)
	}
	facts, err := json.Marshal(w.demo.Ready)
	if err != nil {
		w.t.Fatal(err)
	}
	return json.RawMessage(own(string(facts)))
}

// awaitControl waits until the running program accepts set-ups.
func awaitControl(t *testing.T, i *instance.Instance) {
	t.Helper()
	name := filepath.Join(filepath.Dir(i.File), "carillon.sock")
	for {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", name)
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// empty starts a program without accounts and returns its ready file with the token for the first owner.
func (w *world) empty(*http.Request) any {
	i := start(w.t, nil)
	return struct {
		*config.Ready
		Token string `json:"token"`
	}{i.Ready, regexp.MustCompile(`first_[\w-]+`).FindString(i.Printed)}
}

// several starts a program with several companies and a single sign-on server.
func (w *world) several(*http.Request) any {
	issuer := ssotest.Start(w.t)
	i := start(w.t, map[string][]string{
		"provision": {"testdata/several.yaml"}, "oidc-name": {"Acme ID"},
		"oidc-issuer": {issuer}, "oidc-client-id": {issuer}, "oidc-client-secret": {"a-secret"},
	})
	ssotest.Allow(issuer, "a-secret", i.BaseURL+"/panel/v1/sso/callback")
	return i.Ready
}

// speech starts transcription services and returns their address.
func (w *world) speech(*http.Request) any {
	services := httptest.NewServer(voicetest.NewServer(nil))
	w.t.Cleanup(services.Close)
	return services.URL
}

// trunk starts a SIP trunk that runs until the test ends, and returns its address. If the last three digits of a
// number are a SIP error code, the trunk refuses the call with it; otherwise the call rings until answer is requested.
func (w *world) trunk(*http.Request) any {
	e, err := sip.New(w.t.Context(), sip.Options{
		Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		OnCall: func(in *sip.Incoming) {
			_ = in.Progress(180, "Ringing")
			if code, err := strconv.Atoi(in.To[max(0, len(in.To)-3):]); err == nil && code >= 400 && code < 700 {
				in.Refuse(code, "Because")
				return
			}
			select {
			case <-w.answers:
			case <-w.t.Context().Done():
				return
			}
			if _, err := in.Answer(context.Background(), nil); err != nil {
				w.t.Errorf("answer: %v", err)
			}
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return e.Address().String()
}

// answer makes the trunk answer the ringing call.
func (w *world) answer(*http.Request) any {
	w.answers <- struct{}{}
	return nil
}

// graph starts a stand-in for the Cloud API that runs until the test ends, and returns its address. It approves
// templates at once, and sends callbacks only to subscribers.
func (w *world) graph(*http.Request) any {
	g, err := graphtest.New(graphtest.Options{AutoApprove: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = g.Close() })
	return g.URL()
}

// signUp starts a program with an application at a stand-in for the Cloud API, which has an unregistered number, and returns its
// ready file.
func (w *world) signUp(*http.Request) any {
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = g.Close() })
	g.ChangeAccount(func(a *graphtest.Account) { a.Platform = "NOT_APPLICABLE" })
	w.dialog = g
	return startWith(w.t, app.Options{GraphURL: g.URL()}, map[string][]string{
		"demo": {"true"}, "media-allow-private": {"127.0.0.1/32"},
		"meta-app-id": {g.Account().AppID}, "meta-app-secret": {"provider-app-secret"}, "meta-config-id": {"4000001"},
	}).Ready
}

// code returns a code of the sign-up dialog; with ?late an expired one.
func (w *world) code(r *http.Request) any {
	code := w.dialog.Code()
	if r.URL.Query().Has("late") {
		w.dialog.ChangeAccount(func(a *graphtest.Account) { a.Codes[len(a.Codes)-1].At = time.Now().Add(-time.Minute) })
	}
	return code
}

// embed starts a stand-in for an embeddings server that runs until the test ends, with the model words-1 and the key sk-1, and
// returns its address.
func (w *world) embed(*http.Request) any {
	w.embeddings = meaningtest.New("words-1", 256)
	w.embeddings.Key = "sk-1"
	server := httptest.NewServer(w.embeddings)
	w.t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// embedStatus makes the stand-in respond with the status in the query, or work again without one.
func (w *world) embedStatus(r *http.Request) any {
	status, err := strconv.Atoi(r.URL.Query().Get("is"))
	w.embeddings.Set(func(s *meaningtest.Server) {
		s.Fail = nil
		if err == nil {
			s.Fail = func(rw http.ResponseWriter, _ *http.Request, _ []string) bool {
				rw.WriteHeader(status)
				return true
			}
		}
	})
	return nil
}

// start runs the program with these settings until the test ends. The widgets' pages are on a separate site.
func start(t *testing.T, settings map[string][]string) *instance.Instance {
	t.Helper()
	return startWith(t, app.Options{}, settings)
}

func startWith(t *testing.T, o app.Options, settings map[string][]string) *instance.Instance {
	t.Helper()
	addr := instance.FreeAddress(t)
	_, port, _ := strings.Cut(addr, ":")
	return instance.Start(t, o, map[string][]string{
		"addr": {addr}, "base-url": {"http://panel.localhost:" + port}, "widget-url": {"http://widget.localhost:" + port},
	}, settings)
}
