package channels_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

const trunkLine = `{"id":"%s","number":"%s","channel":"voice","provider":"sip","max_concurrent":3,"settings":{%s}}`

func TestALineWithATrunkIsSetUp(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	by := w.As("admin@acme.test")
	stored := func(id string) map[string]any {
		t.Helper()
		named, err := w.Store.Senders.SendersNamed(t.Context(), acme.ID, id)
		if err != nil || len(named) != 1 {
			t.Fatal(named, err)
		}
		return channels.SettingsOf(named[0])
	}
	w.Want(
		"POST", "/panel/v1/senders", w.As("developer@acme.test"),
		fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip:sip.example.com"`), 403, "forbidden", "",
	)
	w.Want(
		"POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip:192.168.0.1"`), 400,
		"validation_failed", "settings.trunk",
	)
	w.Want(
		"POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip:192.168.0.1","public":"false"`),
		400, "validation_failed", "settings.trunk",
	)
	w.Want(
		"POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, "main", "15555550101", `"trunk":"sip.example.com"`), 400,
		"validation_failed", "settings.trunk",
	)
	made := w.Want(
		"POST", "/panel/v1/senders", by,
		fmt.Sprintf(
			trunkLine, "main", "15555550101",
			`"trunk":"sip:sip.example.com;transport=tls","username":"acme","password":"hush-hush","public":false`,
		),
		201, "", "",
	)
	if d := cmp.Diff(map[string]any{
		"trunk": "sip:sip.example.com;transport=tls", "username": "acme", "public": "true", "claimed": "true",
	}, made["settings"]); d != "" {
		t.Error(d)
	}
	// The password stays bound to its trunk.
	change := `{"number":"15555550101","channel":"voice","provider":"sip","settings":{"trunk":"sip:%s"%s}}`
	w.Want("PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "other.example.com", ""), 400, "validation_failed", "settings.password")
	w.Want(
		"PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "10.0.0.1", `,"password":"x"`), 400, "validation_failed",
		"settings.trunk",
	)
	w.Want(
		"PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "sip.example.com;transport=tls", `,"caller_id":"15555550199"`), 200,
		"", "",
	)
	if d := cmp.Diff(map[string]any{
		"trunk": "sip:sip.example.com;transport=tls", "username": "acme", "password": "hush-hush", "public": "true", "claimed": "true",
		"caller_id": "15555550199",
	}, stored("main")); d != "" {
		t.Error(d)
	}
	w.Want("PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, "other.example.com", `,"password":""`), 200, "", "")

	// A trunk from a set-up file may have any address, until a member chooses another one.
	err := w.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, &carillon.Sender{
			CompanyID: acme.ID, ID: "lab", Number: "15555550102", Channel: carillon.Voice, Provider: "sip", MediaCheck: "full",
			RingTimeout: 30 * time.Second,
			Unknown:     carillon.DefaultUnknownPolicy(), Settings: []byte(`{"trunk":"sip:192.168.0.1"}`),
		}, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	lab := strings.Replace(change, "0101", "0102", 1)
	w.Want("PUT", "/panel/v1/senders/lab", by, fmt.Sprintf(lab, "192.168.0.1", `,"caller_id":"1"`), 200, "", "")
	if _, marked := stored("lab")["public"]; marked {
		t.Error("the trunk of the set-up counts as a member's")
	}
	w.Want("PUT", "/panel/v1/senders/lab", by, fmt.Sprintf(lab, "192.168.0.2", ""), 400, "validation_failed", "settings.trunk")

	rows := w.Want("GET", "/panel/v1/senders?channel=voice", w.As("viewer@acme.test"), "", 200, "", "")["data"].([]any)
	if len(rows) != 2 {
		t.Fatal(rows)
	}
	want := map[string]any{
		"trunk": "sip:192.168.0.1", "caller_id": "1", "agent": "", "max_concurrent": 0.0, "under_way": 0.0, "ring_timeout": "45s",
		"health": nil, "registration": nil,
	}
	if d := cmp.Diff(want, rows[1].(map[string]any)["line"]); d != "" {
		t.Error(d)
	}
	if rows := w.Want("GET", "/panel/v1/senders?channel=messaging", by, "", 200, "", "")["data"].([]any); len(rows) != 0 {
		t.Error(rows)
	}
	w.Want("GET", "/panel/v1/senders?channel=post", by, "", 400, "validation_failed", "channel")
}

func TestALineIsCheckedAndTried(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	by := w.As("owner@acme.test")
	for i, id := range []string{"main", "dead", "tried"} {
		w.Want(
			"POST", "/panel/v1/senders", by, fmt.Sprintf(trunkLine, id, fmt.Sprint(15555550101+i), `"trunk":"sip:sip.example.com"`),
			201, "", "",
		)
	}
	if h := w.Want("POST", "/panel/v1/senders/main/check", by, "", 200, "", ""); h["responds"] != true || h["code"] != 405.0 ||
		h["ms"] != 12.0 || h["problem"] != "" {
		t.Error(h)
	}
	if h := w.Want("POST", "/panel/v1/senders/dead/check", by, "", 200, "", ""); h["responds"] != false || h["problem"] != "unreachable" {
		t.Error(h)
	}
	const call = "/panel/v1/senders/main/test-call"
	_, held, err := w.Limits.Hold(t.Context(), "test call "+acme.ID+" tried", time.Minute)
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
		if _, got := w.Do("POST", x.path, w.As(x.by), x.body); got["error"] != x.code {
			t.Errorf("%+v: %v", x, got)
		}
	}
	if body := stream(w, by, call, `{"number":"+34600111222","language":"es"}`); !strings.Contains(body, `event: step
data: {"after_ms":20,"ours":false,"code":403,"text":"403 Forbidden"}`) || !strings.Contains(body, `event: end
data: {"problem":"forbidden","code":403,"detail":"acme es",`) {
		t.Error(body)
	}
	if err := w.Store.Suppressions.Suppress(t.Context(), acme.ID, settings.SuppressAll, "asked", time.Now(), "34600111333"); err != nil {
		t.Fatal(err)
	}
	w.Want("POST", call, by, `{"number":"34600111333"}`, 400, "validation_failed", "number")

	// Outside calling hours, a test call needs explicit confirmation.
	acme.CallingHours = &carillon.CallingHours{Timezone: "UTC", From: "00:00", To: "00:01", Days: []string{
		strings.ToLower(time.Now().UTC().AddDate(0, 0, 3).Format("Mon")),
	}}
	if err := w.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, acme, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	got := w.Want("POST", call, by, `{"number":"34600111222"}`, 409, "conflict", "")
	if d, _ := got["details"].(map[string]any); d["reason"] != "outside_hours" || d["opens_at"] == nil {
		t.Error(got)
	}
	if body := stream(w, by, call, `{"number":"34600111222","outside_hours":true}`); !strings.Contains(body, "event: end") {
		t.Error(body)
	}
	for range channels.TrialsPerMinute {
		stream(w, by, call, `{"number":"34600111222","outside_hours":true}`)
	}
	w.Want("POST", call, by, `{"number":"34600111222","outside_hours":true}`, 429, "rate_limit_exceeded", "")
}

// stream posts a request and returns the streamed response.
func stream(w *paneltest.World, authorization, path, body string) string {
	w.T.Helper()
	srv := httptest.NewServer(w.Router)
	defer srv.Close()
	r, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", authorization)
	resp, err := srv.Client().Do(r)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Error(err)
	}
	return string(all)
}

func TestTheStateOfARegistrationIsShown(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("admin@acme.test")
	const line = `{"id":%q,"number":"1555555012%d","channel":"voice","provider":"sip",
		"settings":{"trunk":"sip:sip.example.com","username":"u","password":"p","register":true}}`
	want := map[string]string{"dead": "unanswered", "refused": "refused", "registered": "registered", "waiting": "unknown"}
	n := 0
	for id := range want {
		n++
		w.Want("POST", "/panel/v1/senders", by, fmt.Sprintf(line, id, n), 201, "", "")
	}
	w.Want("POST", "/panel/v1/senders", by, strings.Replace(fmt.Sprintf(line, "x", 9), `"password":"p",`, "", 1), 400, "validation_failed",
		"settings.password")
	for _, row := range w.Want("GET", "/panel/v1/senders?channel=voice", by, "", 200, "", "")["data"].([]any) {
		id := row.(map[string]any)["id"].(string)
		r := row.(map[string]any)["line"].(map[string]any)["registration"].(map[string]any)
		if r["state"] != want[id] || (r["until"] != "") != (id == "registered") || (r["at"] == "") != (id == "waiting") {
			t.Errorf("%s: %v", id, r)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Error("not listed:", want)
	}
}
