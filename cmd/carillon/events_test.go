package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/base/need"
)

// listener is an HTTP server that receives events and verifies their signatures by hand.
type listener struct {
	url string
	got chan string // received bodies
}

func listen(t *testing.T, secret string) *listener {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{got: make(chan string, 100)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + "." + string(body)))
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("Webhook-Signature") != want {
			t.Errorf("signature %q, want %q", r.Header.Get("Webhook-Signature"), want)
		}
		l.got <- string(body)
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(srv.Close)
	l.url = srv.URL
	return l
}

// await returns the first received event that contains all the texts.
func (l *listener) await(t *testing.T, texts ...string) string {
	t.Helper()
	for {
		select {
		case body := <-l.got:
			missing := false
			for _, text := range texts {
				missing = missing || !strings.Contains(body, text)
			}
			if !missing {
				return body
			}
		case <-t.Context().Done():
			t.Fatalf("no event with %q", texts)
		}
	}
}

// announced is a writer that closes done once text has been written.
type announced struct {
	all  bytes.Buffer
	text string
	done chan struct{}
}

func (s *announced) Write(b []byte) (int, error) {
	before := strings.Contains(s.all.String(), s.text)
	n, err := s.all.Write(b)
	if !before && strings.Contains(s.all.String(), s.text) {
		close(s.done)
	}
	return n, err
}

func TestEventsReachALocalProgramSignedAndAgain(t *testing.T) {
	t.Parallel()
	file := demo(t)
	secret := newSigningSecret()
	local := listen(t, secret)
	lookup := func(string) (string, bool) { return "", false }
	try := func(code int, args ...string) result {
		t.Helper()
		var out, errs bytes.Buffer
		r := result{
			run(t.Context(), append(args, "--ready-file", file),
				environment{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lookup: lookup}), out.String(), errs.String(),
		}
		if r.code != code {
			t.Fatalf("%v: code %d, want %d\n%s%s", args, r.code, code, r.stdout, r.stderr)
		}
		return r
	}
	ctx, stop := context.WithCancel(t.Context())
	said := &announced{text: "Ctrl-C ends", done: make(chan struct{})}
	var printed bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"events", "listen", "--forward-to", local.url, "--secret", secret, "--ready-file", file},
			environment{Stdout: &printed, Stderr: said, Lookup: lookup})
	}()
	<-said.done

	id := strings.TrimSpace(try(exitOK, "events", "trigger", "message.failed").stdout)
	local.await(t, `"type":"message.failed"`, id, `"number":"34600110001"`, `"reason":"undeliverable"`)
	try(exitOK, "events", "replay", id).want(t, exitOK, "is sent again to whoever pulls events", "")
	local.await(t, `"type":"message.failed"`, id)
	stop()
	if code := <-ended; code != exitOK || !strings.Contains(printed.String(), "message.failed  "+id+"  202 in ") {
		t.Errorf("listen ended with %d: %s", code, printed.String())
	}
	if strings.Contains(said.all.String(), secret) {
		t.Error("a secret that was given is printed")
	}

	delivered := strings.TrimSpace(try(exitOK, "events", "trigger", "message.delivered").stdout)
	list := try(exitOK, "events", "list", "--types", "message.failed,message.delivered").stdout
	if !strings.Contains(list, id+"  message.failed ") || strings.Index(list, delivered) < strings.Index(list, id) {
		t.Errorf("listed %s", list)
	}
	try(exitOK, "events", "list", "--most", "1").want(t, exitOK, "notification.accepted", "Next: carillon events list --cursor ")
	try(exitUsage, "events", "trigger", "call.completed").want(t, exitUsage, "", "the types that can: notification.accepted, message.sent")
	try(exitUsage, "events", "listen", "--forward-to", local.url, "--secret", "whsec_c2hvcnQ=").want(t, exitUsage, "", "24 to 64 bytes")
	try(exitFailed, "events", "replay", "evt_none")
}

func TestTriggersAreTheTypesThatAreNamed(t *testing.T) {
	t.Parallel()
	named := strings.Split(triggered, ", ")
	for _, kind := range named {
		if triggers()[kind] == "" {
			t.Errorf("%s is named and cannot be triggered", kind)
		}
	}
	if len(named) != len(triggers()) {
		t.Errorf("%d are named, %d can be triggered", len(named), len(triggers()))
	}
}

func TestWebhooksAreListedAndTested(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	const endpoint = `{"id":"w-1","url":"https://hooks.acme.test/in","events":["*"]}`
	s.answer("/functions/v1/webhooks", `200 {"data":[`+endpoint+`],"next_cursor":null}`)
	s.answer("/functions/v1/webhooks/w-1/status",
		`200 {"state":"failing","failures":2,"failing_since":"2026-01-31T00:00:00Z","next_attempt_at":null,"disabled_at":null,`+
			`"succeeded_at":"2026-01-30T00:00:00Z","waiting":3,"failed":1,"behind":0}`)
	s.try(nil, "webhooks", "list").want(t, 0,
		"w-1  failing  2         3        1       2026-01-30T00:00:00Z  https://hooks.acme.test/in\n", "")
	const attempt = `"webhook_id":"w-1","event_id":"evt_test_1","type":"message.sent","attempt":1,"duration_ms":12,"request":"{}"`
	s.answer("/functions/v1/webhooks/w-1/test", `200 {`+attempt+`,"succeeded":true,"status":204,"response":""}`,
		`200 {`+attempt+`,"succeeded":false,"status":500,"error":"It responded 500","response":"no such order"}`)
	s.try(nil, "webhooks", "test", "w-1", "--type", "message.sent").want(t, 0, "evt_test_1: it responded 204 after 12 ms\n", "")
	s.try(nil, "webhooks", "test", "w-1").want(t, 1, "evt_test_1: It responded 500 after 12 ms\nno such order\n", "")
}

// snippet returns the guide's code block in a language.
func snippet(t *testing.T, language string) string {
	t.Helper()
	guide, err := os.ReadFile("../../docs/guides/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(guide), "```"+language+"\n")
	code, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("the guide has no code in %s", language)
	}
	return code
}

// TestTheGuidesReceiversVerifyEvents runs the guide's Node receiver against "events listen", and compiles the Go one.
func TestTheGuidesReceiversVerifyEvents(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	need.That(t, err == nil, "the guide's program runs in Node, which is not installed")
	dir := t.TempDir()
	for name, code := range map[string]string{"receive.mjs": snippet(t, "js"), "main.go": snippet(t, "go")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "receive"),
		filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Errorf("the guide's program in Go: %v\n%s", err, out)
	}
	secret := newSigningSecret()
	receiver := exec.CommandContext(t.Context(), node, filepath.Join(dir, "receive.mjs"))
	receiver.Env = append(os.Environ(), "SECRET="+secret, "PORT=0")
	out, err := receiver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Process.Kill(); _ = receiver.Wait() })
	lines := bufio.NewScanner(out)
	lines.Scan()
	port, listening := strings.CutPrefix(lines.Text(), "listening on ")
	if !listening {
		t.Fatalf("the guide's program prints %q", lines.Text())
	}
	signer, err := signerOf(secret)
	if err != nil {
		t.Fatal(err)
	}
	other, err := signerOf(newSigningSecret())
	if err != nil {
		t.Fatal(err)
	}
	l := &eventsListen{ForwardTo: "http://127.0.0.1:" + port}
	e := event{ID: "evt_1", Type: "message.failed", text: []byte(`{"id":"evt_1","type":"message.failed","data":{"number":"34600110001"}}`)}
	if x := l.forward(t.Context(), http.DefaultClient, other, e); x.Status != http.StatusUnauthorized {
		t.Errorf("with another secret: %+v", x)
	}
	for range 2 { // the second is a duplicate
		if x := l.forward(t.Context(), http.DefaultClient, signer, e); x.Status != http.StatusNoContent {
			t.Errorf("with its secret: %+v", x)
		}
	}
	e.ID, e.text = "evt_2", []byte(`{"id":"evt_2","type":"call.completed","data":{}}`)
	_ = l.forward(t.Context(), http.DefaultClient, signer, e)
	for _, want := range []string{"message.failed 34600110001", "call.completed"} {
		if lines.Scan(); strings.TrimSpace(lines.Text()) != want {
			t.Errorf("printed %q, want %q", lines.Text(), want)
		}
	}
}
