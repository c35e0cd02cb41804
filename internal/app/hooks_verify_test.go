package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/base/need"
	"carillon/internal/event/hook"
)

// delivery is a request as received by an endpoint, or a modified one, and whether verification with the secret must
// succeed.
type delivery struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	OK      bool              `json:"ok"`
}

const (
	idHeader        = "webhook-id"
	timeHeader      = "webhook-timestamp"
	signatureHeader = "webhook-signature"
)

// with returns the delivery with another header.
func (d delivery) with(name, header, value string) delivery {
	headers := maps.Clone(d.Headers)
	headers[header] = value
	d.Name, d.Headers, d.OK = name, headers, false
	return d
}

// at returns the delivery correctly signed for another time, so that only the time can be rejected.
func (d delivery) at(t *testing.T, name string, at time.Time) delivery {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(d.Secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := w.Sign(d.Headers[idHeader], at, []byte(d.Body))
	if err != nil {
		t.Fatal(err)
	}
	return d.with(name, timeHeader, strconv.FormatInt(at.Unix(), 10)).with(name, signatureHeader, signature)
}

// TestTheStandardsLibrariesVerifyDeliveries verifies the program's deliveries with the Standard Webhooks libraries for
// Go and Node.
func TestTheStandardsLibrariesVerifyDeliveries(t *testing.T) {
	t.Parallel()
	came := make(chan delivery, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		headers := map[string]string{}
		for _, name := range []string{idHeader, timeHeader, signatureHeader} {
			headers[name] = r.Header.Get(name)
		}
		came <- delivery{Headers: headers, Body: string(text), OK: true}
	}))
	t.Cleanup(server.Close)
	a, out := demo(t, func(c *config.Config) { c.MediaAllowPrivate = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	_, line, _ := strings.Cut(out.String(), "curl -s ")
	line, _, _ = strings.Cut(line, "\n")
	_, key, _ := strings.Cut(line, "access_key=")
	key = strings.FieldsFunc(key, func(r rune) bool { return r == '\'' || r == '"' })[0]
	post := func(path, body string, status int) map[string]any {
		t.Helper()
		resp, err := http.Post(a.BaseURL()+"/functions/v1/"+path+"?access_key="+key, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return decode(t, resp, status)
	}
	next := func(name, secret string) delivery {
		t.Helper()
		select {
		case d := <-came:
			d.Name, d.Secret = name, secret
			return d
		case <-time.After(app.Hung):
			t.Fatal("no delivery:", name)
			return delivery{}
		}
	}
	made := post("webhooks", `{"url":"`+server.URL+`","events":["message.delivered"]}`, http.StatusCreated)
	one := "webhooks/" + made["id"].(string)
	first := made["secret"].(string)
	curl(t, line)
	event := next("an event", first)
	post(one+"/replay", `{"event_id":"`+event.Headers[idHeader]+`"}`, http.StatusOK)
	again := next("replayed", first)
	if again.Headers[idHeader] != event.Headers[idHeader] || again.Body != event.Body {
		t.Errorf("replayed as %v, %s; it was %v, %s", again.Headers, again.Body, event.Headers, event.Body)
	}
	second := post(one+"/rotate", `{"keep_hours":1}`, http.StatusOK)["secret"].(string)
	post(one+"/test", `{"type":"call.completed"}`, http.StatusOK)
	during := next("the new secret during a rotation", second)
	old := during
	old.Name, old.Secret = "the old secret during a rotation", first
	third := post(one+"/rotate", `{"keep_hours":0}`, http.StatusOK)["secret"].(string)
	post(one+"/test", `{"type":"call.completed"}`, http.StatusOK)
	after := next("the new secret after a rotation", third)
	gone := after
	gone.Name, gone.Secret, gone.OK = "the old secret after a rotation", second, false

	tampered := event
	tampered.Name, tampered.Body, tampered.OK = "tampered", strings.Replace(event.Body, `"version":1`, `"version":2`, 1), false
	spaced := event
	spaced.Name, spaced.Body, spaced.OK = "with a space more", event.Body+" ", false
	foreign := event
	foreign.Name, foreign.Secret, foreign.OK = "of a foreign secret", hook.NewSecret(), false
	cases := []delivery{
		event, again, during, old, after, gone, tampered, spaced, foreign,
		event.with("another id", idHeader, during.Headers[idHeader]),
		event.with("another time", timeHeader, strconv.FormatInt(time.Now().Unix()-2, 10)+"0"),
		event.with("another signature", signatureHeader, "v1,"+base64.StdEncoding.EncodeToString(make([]byte, 32))),
		event.with("no signature", signatureHeader, ""),
		event.with("another version", signatureHeader, strings.Replace(event.Headers[signatureHeader], "v1,", "v2,", 1)),
		event.at(t, "late", time.Now().Add(-6*time.Minute)), event.at(t, "early", time.Now().Add(6*time.Minute)),
	}
	for _, c := range cases {
		w, err := standardwebhooks.NewWebhook(c.Secret)
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		for k, v := range c.Headers {
			header.Set(k, v)
		}
		if err := w.Verify([]byte(c.Body), header); (err == nil) != c.OK {
			t.Errorf("Go, %s: %v", c.Name, err)
		}
	}
	verifyInNode(t, cases)
}

// verifyInNode verifies deliveries with the Node library.
func verifyInNode(t *testing.T, cases []delivery) {
	t.Helper()
	node, err := exec.LookPath("node")
	need.That(t, err == nil, "deliveries are verified by Node, which is not installed")
	_, err = os.Stat("../../web/node_modules/standardwebhooks")
	need.That(t, err == nil, "deliveries are verified by a package that is not installed: run npm ci in web")
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "../../web/e2e/verify.mjs")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("Node: %v\n%s", err, out)
	}
}
