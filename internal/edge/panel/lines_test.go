package panel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	senderstore "carillon/internal/store/senders"

	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/call/sip"
	"carillon/internal/store/suppressions"
)

// admitTrunk admits trunks of example.com, where a member chose them.
func admitTrunk(_ context.Context, settings json.RawMessage) error {
	t, err := sip.TrunkOf(settings)
	if err == nil && t.Public && !strings.HasSuffix(t.Host, "example.com") {
		err = carillon.Invalid("settings.trunk", "Must be at a public address")
	}
	return err
}

// meetTrunks has sip.example.com and same.example.com at one address.
func meetTrunks(_ context.Context, one, other json.RawMessage) bool {
	name := func(raw json.RawMessage) string {
		t, err := sip.TrunkOf(raw)
		if err != nil {
			return err.Error()
		}
		return strings.Replace(t.Name(), "same.", "sip.", 1)
	}
	return name(one) == name(other)
}

// linesThere are lines whose trunk responds and refuses every call.
type linesThere struct{ asked []string }

func (l *linesThere) Health(*carillon.Sender) sip.Health { return sip.Health{} }

func (l *linesThere) Disputed(lines []*carillon.Sender) bool { return len(lines) > 1 }

func (l *linesThere) Denies(number string) bool { return strings.HasPrefix(number, "979") }

func (l *linesThere) Ask(_ context.Context, line *carillon.Sender) (sip.Health, error) {
	l.asked = append(l.asked, line.ID)
	if line.ID == "dead" {
		return sip.Health{At: time.Now(), Err: errors.New("nothing came")}, nil
	}
	return sip.Health{At: time.Now(), Code: 405, Reason: "Method Not Allowed", Took: 12 * time.Millisecond}, nil
}

func (l *linesThere) Try(_ context.Context, _ *carillon.Sender, x LineTrial) LineTrialEnd {
	x.Show(LineTrialStep{Ours: true, Text: "INVITE " + x.Number})
	x.Show(LineTrialStep{AfterMS: 20, Code: 403, Text: "403 Forbidden"})
	return LineTrialEnd{Problem: "forbidden", Code: 403, Detail: x.Company + " " + x.Language}
}

// nobodyCalled is a phone of the sandbox that nobody called.
type nobodyCalled struct{}

func (nobodyCalled) Calls(string) []PhoneCall { return nil }

func (nobodyCalled) Behaviours() []PhoneBehaviour { return nil }

const trunkLine = `{"id":"%s","number":"%s","channel":"voice","provider":"sip","max_concurrent":3,"settings":{%s}}`

func TestALineWithATrunkIsSetUp(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	by := w.as("admin@acme.test")
	stored := func(id string) map[string]any {
		t.Helper()
		named, err := w.store.Senders.SendersNamed(t.Context(), acme.ID, id)
		if err != nil || len(named) != 1 {
			t.Fatal(named, err)
		}
		return settingsOf(named[0])
	}
	w.want("POST", "/panel/v1/senders", w.as("developer@acme.test"), fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip:sip.example.com"`), 403, "forbidden", "")
	w.want("POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip:192.168.0.1"`), 400, "validation_failed", "settings.trunk")
	w.want("POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip:192.168.0.1","public":"false"`), 400, "validation_failed", "settings.trunk")
	w.want("POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip.example.com"`), 400, "validation_failed", "settings.trunk")
	made := w.want("POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip:sip.example.com;transport=tls","username":"acme","password":"hush-hush","public":false`), 201, "", "")
	if d := cmp.Diff(map[string]any{
		"trunk": "sip:sip.example.com;transport=tls", "username": "acme", "public": "true", "claimed": "true",
	}, made["settings"]); d != "" {
		t.Error(d)
	}
	// The password stays with its trunk.
	change := `{"number":"15555550101","channel":"voice","provider":"sip","settings":{"trunk":"sip:%s"%s}}`
	w.want("PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "other.example.com", ""), 400, "validation_failed", "settings.password")
	w.want("PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "10.0.0.1", `,"password":"x"`), 400, "validation_failed", "settings.trunk")
	w.want("PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "sip.example.com;transport=tls", `,"caller_id":"15555550199"`), 200, "", "")
	if d := cmp.Diff(map[string]any{
		"trunk": "sip:sip.example.com;transport=tls", "username": "acme", "password": "hush-hush", "public": "true", "claimed": "true",
		"caller_id": "15555550199",
	}, stored("main")); d != "" {
		t.Error(d)
	}
	w.want("PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "other.example.com", `,"password":""`), 200, "", "")

	// A trunk that a set-up file gave may be anywhere, until a member chooses another one.
	err := w.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return senderstore.PutSender(ctx, tx, &carillon.Sender{
			CompanyID: acme.ID, ID: "lab", Number: "15555550102", Channel: carillon.Voice, Provider: "sip", MediaCheck: "full", RingTimeout: 30 * time.Second,
			Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte(`{"trunk":"sip:192.168.0.1"}`),
		}, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	lab := strings.Replace(change, "0101", "0102", 1)
	w.want("PUT", "/panel/v1/senders/lab", by, fmt.Sprintf(lab, "192.168.0.1", `,"caller_id":"1"`), 200, "", "")
	if _, marked := stored("lab")["public"]; marked {
		t.Error("the trunk of the set-up counts as a member's")
	}
	w.want("PUT", "/panel/v1/senders/lab", by, fmt.Sprintf(lab, "192.168.0.2", ""), 400, "validation_failed", "settings.trunk")

	rows := w.want("GET", "/panel/v1/senders?channel=voice", w.as("viewer@acme.test"), "", 200, "", "")["data"].([]any)
	if len(rows) != 2 {
		t.Fatal(rows)
	}
	want := map[string]any{
		"trunk": "sip:192.168.0.1", "caller_id": "1", "agent": "", "max_concurrent": 0.0, "under_way": 0.0, "ring_timeout": "45s", "health": nil,
	}
	if d := cmp.Diff(want, rows[1].(map[string]any)["line"]); d != "" {
		t.Error(d)
	}
	if rows := w.want("GET", "/panel/v1/senders?channel=messaging", by, "", 200, "", "")["data"].([]any); len(rows) != 0 {
		t.Error(rows)
	}
	w.want("GET", "/panel/v1/senders?channel=post", by, "", 400, "validation_failed", "channel")
}

func TestALineIsCheckedAndTried(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	w.company("other")
	by := w.as("owner@acme.test")
	for i, id := range []string{"main", "dead", "tried"} {
		w.want("POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, id, fmt.Sprint(15555550101+i), `"trunk":"sip:sip.example.com"`), 201, "", "")
	}
	if h := w.want("POST", "/panel/v1/senders/main/check", by, "", 200, "", ""); h["responds"] != true || h["code"] != 405.0 || h["ms"] != 12.0 || h["problem"] != "" {
		t.Error(h)
	}
	if h := w.want("POST", "/panel/v1/senders/dead/check", by, "", 200, "", ""); h["responds"] != false || h["problem"] != "unreachable" {
		t.Error(h)
	}
	const call = "/panel/v1/senders/main/test-call"
	_, held, err := w.limits.Hold(t.Context(), "test call "+acme.ID+" tried", time.Minute)
	if err != nil || !held {
		t.Fatal(held, err)
	}
	for _, x := range []struct{ by, path, body, code, field string }{
		{"developer@acme.test", call, `{"number":"34600111222"}`, "forbidden", ""},
		{"owner@other.test", call, `{"number":"34600111222"}`, "not_found", ""},
		{"owner@acme.test", "/panel/v1/senders/none/test-call", `{"number":"34600111222"}`, "not_found", ""},
		{"owner@acme.test", call, `{"number":"112"}`, "validation_failed", "number"},
		{"owner@acme.test", call, `{"number":"97912345678"}`, "validation_failed", "number"},
		{"owner@acme.test", call, `{}`, "validation_failed", "number"},
		{"owner@acme.test", "/panel/v1/senders/tried/test-call", `{"number":"34600111222"}`, "conflict", ""},
	} {
		if _, got := w.do("POST", x.path, w.as(x.by), x.body); got["error"] != x.code {
			t.Errorf("%+v: %v", x, got)
		}
	}
	if body := w.stream(by, call, `{"number":"+34600111222","language":"es"}`); !strings.Contains(body, `event: step
data: {"after_ms":20,"ours":false,"code":403,"text":"403 Forbidden"}`) || !strings.Contains(body, `event: end
data: {"problem":"forbidden","code":403,"detail":"acme es",`) {
		t.Error(body)
	}
	if err := w.store.Suppressions.Suppress(t.Context(), acme.ID, suppressions.All, "asked", time.Now(), "34600111333"); err != nil {
		t.Fatal(err)
	}
	w.want("POST", call, by, `{"number":"34600111333"}`, 400, "validation_failed", "number")

	// Outside of the calling hours nobody is rung without a word.
	acme.CallingHours = &carillon.CallingHours{Timezone: "UTC", From: "00:00", To: "00:01", Days: []string{strings.ToLower(time.Now().UTC().AddDate(0, 0, 3).Format("Mon"))}}
	if err := w.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, acme, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	got := w.want("POST", call, by, `{"number":"34600111222"}`, 409, "conflict", "")
	if d, _ := got["details"].(map[string]any); d["reason"] != "outside_hours" || d["opens_at"] == nil {
		t.Error(got)
	}
	if body := w.stream(by, call, `{"number":"34600111222","outside_hours":true}`); !strings.Contains(body, "event: end") {
		t.Error(body)
	}
	for range trialsPerMinute {
		w.stream(by, call, `{"number":"34600111222","outside_hours":true}`)
	}
	w.want("POST", call, by, `{"number":"34600111222","outside_hours":true}`, 429, "rate_limit_exceeded", "")
}

// stream posts and returns what is streamed.
func (w *world) stream(authorization, path, body string) string {
	w.t.Helper()
	srv := httptest.NewServer(w.router)
	defer srv.Close()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", authorization)
	resp, err := srv.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Error(err)
	}
	return string(all)
}
