package app

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/config"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/ops"
	"carillon/internal/send/notify"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/store/work"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

const (
	metricsPage = "../../docs/metrics.md"
	pageHead    = `# Metrics

Written by ` + "`go test ./internal/app -run TestMetricsPage -update`" + `; a test keeps it current. Each node serves its metrics at
/metrics on the private address (` + "`--ops-addr`" + `), together with the metrics of the Go runtime (` + "`go_…`" + `) and the
process (` + "`process_…`" + `). Counters start at 0 with the process. For alerts and what to do about them, see
[the operator's guide](guides/operate.md). A dashboard is in [deploy/grafana](../deploy/grafana), alert rules are in
[deploy/prometheus](../deploy/prometheus).

| Metric | Labels | Meaning |
|---|---|---|
`
)

// started returns a running program that is stopped at the end of the test.
func started(t *testing.T, cfg config.Config) *App {
	t.Helper()
	a, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return a
}

// described returns the help and labels of all metrics, by name.
func described(t *testing.T) map[string][2]string {
	t.Helper()
	a := started(t, config.Config{Addr: "127.0.0.1:0", Data: t.TempDir()})
	ch := make(chan *prometheus.Desc)
	go func() { a.metrics.Registry.Describe(ch); close(ch) }()
	form := regexp.MustCompile(`fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)", unit: "[^"]*", constLabels: \{[^}]*\}, ` +
		`variableLabels: \{([^}]*)\}`)
	all := map[string][2]string{}
	for d := range ch {
		m := form.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("cannot read %s", d)
		}
		all[m[1]] = [2]string{m[2], m[3]}
	}
	return all
}

func TestMetricsPageIsComplete(t *testing.T) {
	t.Parallel()
	all := described(t)
	var rows []string
	for name, x := range all {
		if !strings.HasPrefix(name, "carillon_") {
			continue
		}
		labels := strings.ReplaceAll(x[1], ",", ", ")
		rows = append(rows, "| `"+name+"` | "+labels+" | "+x[0]+" |\n")
	}
	slices.Sort(rows)
	want := pageHead + strings.Join(rows, "")
	if *update {
		if err := os.WriteFile(metricsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(metricsPage)
	if err != nil || string(got) != want {
		t.Errorf("docs/metrics.md is stale; run: go test ./internal/app -run TestMetricsPage -update (%v)", err)
	}
}

func TestMetricsKeepToTheConventions(t *testing.T) {
	t.Parallel()
	a := started(t, config.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1})
	o := ops.Observer{Metrics: a.metrics}
	o.Responded(t.Context(), httpio.Response{Pattern: "POST /callbacks/whatsapp/{sender}", Status: 401, Code: "unauthorized"})
	o.Accepted(t.Context(), &messages.Notification{Channel: carillon.Messaging, Total: 3}, time.Now())
	o.Received(t.Context(), []provider.Receipt{
		{State: carillon.StateRead}, {State: carillon.StateFailed, Reason: carillon.ReasonUndeliverable},
	})
	o.Delivered(notify.Delivered{Move: work.MoveDone, Outcome: messages.Outcome{Reason: carillon.ReasonProviderRefused}, Due: time.Now()})
	a.metrics.Chat.Opened(chats.Automated)
	a.metrics.Chat.Moved(chats.Queued, chats.Active, time.Minute)
	a.metrics.Chat.Turned(chats.Teammate, time.Second)
	a.metrics.Chat.Ran("completed")
	a.metrics.Chat.Reviewed("rules", "yes", true)
	a.metrics.Chat.Called("http", agent.RanWell, time.Second)
	a.metrics.Files.Checked(99, 1)
	a.metrics.Files.Accepted(99)
	a.metrics.Chat.Wrote("text", "shown")
	a.metrics.Chat.Replied("sent")
	families, err := a.metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "carillon_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	want := map[string]string{
		"carillon_accepted_messages_total": `{channel="messaging"} 3`,
		"carillon_callbacks_total":         `{result="rejected"} 1`,
		"carillon_http_refused_total":      `{code="unauthorized"} 1`,
		"carillon_attempts_total":          `{outcome="failed",reason="provider_refused"} 1`,
		"carillon_chat_opened_total":       ` 1`,
		"carillon_chat_moves_total":        `{state="active"} 1`,
		"carillon_chat_wait_seconds_sum":   ` 60`,
		"carillon_chat_turns_total":        `{author="teammate"} 1`,
		"carillon_chat_reply_seconds_sum":  `{author="teammate"} 1`,
		"carillon_chat_conversations":      `{state="queued"} 0`,
		"carillon_ready":                   ` 1`,
		"carillon_shards_owned":            ` 64`,
	}
	for _, check := range []string{"running", "database", "writes", "schema", "clock", "lease"} {
		want["carillon_ready_check{check=\""+check+"\"}"] = " 1"
	}
	for name, value := range want { // a scrape omits values that it would have to wait for
		Within(t, name+value, func() bool { return strings.Contains(exposed(t, a), "\n"+name+value+"\n") })
	}
}

func exposed(t *testing.T, a *App) string {
	t.Helper()
	w := httptest.NewRecorder()
	a.metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	return w.Body.String()
}
