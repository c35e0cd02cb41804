package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"carillon/e2e/instance"
	"carillon/internal/base/config"
	"carillon/internal/base/need"
	"carillon/internal/store/storetest"
)

// later lists the metrics whose queries return nothing in an installation of a few minutes, with the reason.
var later = map[string]string{
	"carillon_integrity_checked_timestamp_seconds": "the first check of SQLite's file is ten minutes after the start",
	"carillon_share_refused_total":                 "the panel draws only the bounds that refuse",
}

// moving lists metrics whose queries have to return more than zeros after the traffic of the test.
var moving = []string{
	"carillon_accepted_messages_total", "carillon_attempts_total", "carillon_receipts_total", "carillon_http_refused_total",
	"carillon_api_calls_kept_total", "carillon_webhook_attempts_total", "carillon_webhook_waiting",
	"carillon_chat_opened_total", "carillon_chat_moves_total", "carillon_chat_turns_total", "carillon_streams",
	"carillon_call_attempts_total", "carillon_breaker_changes_total", "carillon_breaker_state",
	"carillon_backup_timestamp_seconds", "carillon_nats_connected", "carillon_password_hashes_total",
}

// TestEveryQueryOfTheDashboardReturnsData has Prometheus scrape two demos, one on SQLite and one on PostgreSQL with NATS,
// and evaluates each query of the dashboard.
func TestEveryQueryOfTheDashboardReturnsData(t *testing.T) {
	t.Parallel()
	prometheus := need.Program(t, "prometheus", "prometheus")
	need.Postgres(t)
	flags := []string{"--demo", "--password-memory=8", "--password-passes=1", "--media-allow-private=127.0.0.1/32"}
	file := filepath.Join(t.TempDir(), "away.yaml")
	if err := os.WriteFile(file, []byte(away), 0o600); err != nil {
		t.Fatal(err)
	}
	n := serve(t, append(flags, "--provision="+file)...)
	other := serve(t, append(flags, "--nats-url="+natsURL(t), "--database-url="+storetest.Postgres(t),
		"--master-key-file="+storetest.MasterKey(t))...)
	n.ready()
	other.ready()
	dir := t.TempDir()
	example(t, dir, "prometheus/alerts.yml")
	file = example(t, dir, "prometheus/prometheus.yml", `["10.0.0.21:9090", "10.0.0.22:9090"]`,
		fmt.Sprintf("[%q, %q]", n.ops, other.ops), "scrape_interval: 15s", "scrape_interval: 1s")
	address := instance.FreeAddress(t)
	p := start(t, exec.CommandContext(t.Context(), prometheus, "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address))
	p.await("scrape both nodes", func() bool { return len(values(t, address, `sum(up{job="carillon"}) == 2`)) == 1 })
	traffic(t, n)
	left := dashboard(t)
	t.Cleanup(func() {
		for query, panel := range left {
			t.Errorf("%s: %s returns nothing, or zeros", panel, query)
		}
	})
	p.await("return data for every query", func() bool {
		maps.DeleteFunc(left, func(query, _ string) bool {
			found := values(t, address, query)
			return mentions(query, slices.Collect(maps.Keys(later))) ||
				len(found) > 0 && (!mentions(query, moving) || slices.ContainsFunc(found, func(v float64) bool { return v > 0 }))
		})
		return len(left) == 0
	})
}

// mentions reports whether a query asks for one of the metrics.
func mentions(query string, metrics []string) bool {
	return slices.ContainsFunc(metrics, func(name string) bool { return strings.Contains(query, name+"{") })
}

// values returns the values of a query's series now. A query that Prometheus refuses ends the test.
func values(t *testing.T, address, query string) (all []float64) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query)) //nolint:noctx // loopback
	if err != nil {
		return nil // it starts or has ended
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusServiceUnavailable {
		return nil
	}
	var found struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&found); err != nil || found.Error != "" {
		t.Fatalf("%s: %s %v", query, found.Error, err)
	}
	for _, r := range found.Data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// dashboard returns the queries, as Grafana sends them for all jobs and instances, and the titles of their panels.
func dashboard(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("grafana/carillon.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	replaced := strings.NewReplacer("$job", ".*", "$instance", ".*", "$__rate_interval", "5m")
	for _, p := range board.Panels {
		for _, x := range p.Targets {
			query := replaced.Replace(x.Expr)
			if strings.Contains(query, "$") {
				t.Fatalf("%s has an unknown variable: %s", p.Title, query)
			}
			all[query] = p.Title
		}
	}
	if len(all) < 100 {
		t.Fatalf("only %d queries were found", len(all))
	}
	return all
}

// natsURL starts a NATS server.
func natsURL(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(hung) {
		t.Fatal("NATS is not ready")
	}
	return s.ClientURL()
}

// away has a sender whose channel cannot be reached.
const away = `companies:
  - name: Away
    keys: [{key: ck_deployed_away, label: all}]
    senders:
      - id: away
        number: "15550100188"
        channel: messaging
        provider: whatsapp
        default: true
        settings: {base_url: "http://127.0.0.1:9", version: v23.0, phone_number_id: "1000001", waba_id: "2000001", access_token: a,
          app_secret: b, verify_token: c}
    templates: [{sender: away, name: hello, language: en, category: UTILITY, status: approved, body: "Hello."}]
`

// traffic has a demo send, fail, call, talk and deliver events, and backs it up.
func traffic(t *testing.T, n *node) {
	t.Helper()
	facts, err := config.ReadReady(filepath.Join(n.dir, "ready"))
	if err != nil {
		t.Fatal(err)
	}
	do := func(ctx context.Context, method, path, token, body string, want int) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, "http://"+n.addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want {
			text, _ := io.ReadAll(resp.Body)
			t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, text)
		}
		return resp
	}
	post := func(path, token, body string, want int) (answer map[string]any) {
		t.Helper()
		resp := do(t.Context(), http.MethodPost, path, token, body, want)
		defer resp.Body.Close()
		_ = json.NewDecoder(resp.Body).Decode(&answer) // some have no body
		return answer
	}
	const functions = "/functions/v1/"
	key := "?access_key=" + facts.AccessKey
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(receiver.Close)
	post(functions+"webhooks"+key, "", `{"url":"`+receiver.URL+`"}`, http.StatusCreated)
	post(functions+"webhooks"+key, "", `{"url":"http://`+instance.FreeAddress(t)+`"}`, http.StatusCreated) // nobody listens there
	for _, ending := range []string{"1234", "0001", "0002", "0005", "0010"} {
		post(functions+"notify"+key, "", `{"contact":{"number":"3460011`+ending+`","name":"Ana"},"recipient_id":"`+facts.Sender+
			`","name_template":"hello","language_template":"en","notification_type":"utility","campaign_name":"deploy",`+
			`"components_push":{"body_text_0":"Ana"}}`, http.StatusOK)
	}
	post(functions+"notify?access_key=ck_deployed_away", "", strings.Replace(notification, `"main"`, `"away"`, 1), http.StatusOK)
	post(functions+"notify"+key, "", `{}`, http.StatusBadRequest)
	for _, ending := range []string{"1234", "0002"} {
		post(functions+"notify/voice"+key, "", `{"contact":{"number":"3460022`+ending+`","first_name":"Ana"},"recipient_id":"demo-line",`+
			`"agent_id":"`+facts.AgentID+`","notification_type":"transactional","campaign_name":"deploy"}`, http.StatusOK)
	}
	visitor, _ := post(functions+"chat/session", "", `{"widget_id":"`+facts.ChatWidgetID+
		`","customer_id":"aaaaaaaa-aaaa-4aaa-8aaa-000000000001"}`, http.StatusOK)["token"].(string)
	for i, text := range []string{"When do you open?", "I want to talk to a person"} {
		post(functions+"chat/turns", visitor, fmt.Sprintf(`{"client_id":"m%d","text":%q}`, i, text), http.StatusOK)
	}
	owner, _ := post(functions+"auth?grant_type=password", "", `{"email":"`+facts.Email+`","password":"`+facts.Password+`"}`,
		http.StatusOK)["access_token"].(string)
	stream := do(t.Context(), http.MethodGet, "/panel/v1/inbox/events", owner, "", http.StatusOK)
	t.Cleanup(func() { _ = stream.Body.Close() })
	backup := exec.CommandContext(t.Context(), carillon(t), "backup", "--data="+n.dir, "--to="+filepath.Join(t.TempDir(), "backup.db"))
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
