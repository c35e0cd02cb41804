package deploy_test

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"carillon/internal/base/need"
)

// healthy has the metrics of an hour without faults, as Prometheus's tool for tests of rules writes series.
var healthy = map[string]string{
	`up{job="carillon",instance="a"}`:                                            "1x180",
	`carillon_ready{instance="a"}`:                                               "1x180",
	`carillon_maintenance{instance="a"}`:                                         "0x180",
	`carillon_lane_oldest_due_seconds{instance="a",kind="message"}`:              "2x180",
	`carillon_http_refused_total{instance="a",code="service_unavailable"}`:       "0+10x180",
	`carillon_http_refused_total{instance="a",code="internal_error"}`:            "0x180",
	`carillon_commit_seconds_bucket{instance="a",le="0.032"}`:                    "0+600x180",
	`carillon_commit_seconds_bucket{instance="a",le="1.024"}`:                    "0+600x180",
	`carillon_commit_seconds_bucket{instance="a",le="+Inf"}`:                     "0+600x180",
	`carillon_breakers{instance="a",class="transient",state="open"}`:             "0x180",
	`carillon_breakers{instance="a",class="account",state="open"}`:               "0x180",
	`carillon_attempts_total{instance="a",outcome="sent",reason=""}`:             "0+600x180",
	`carillon_attempts_total{instance="a",outcome="failed",reason="expired"}`:    "0+6x180",
	`carillon_attempts_total{instance="a",outcome="unknown",reason=""}`:          "0x180",
	`carillon_receipts_total{instance="a",state="delivered",reason=""}`:          "0+500x180",
	`carillon_flow_runs_total{instance="a",state="ready"}`:                       "0+60x180",
	`carillon_flow_runs_total{instance="a",state="failed"}`:                      "0+1x180",
	`carillon_callbacks_total{instance="a",result="accepted"}`:                   "0+600x180",
	`carillon_callbacks_total{instance="a",result="rejected"}`:                   "0x180",
	`carillon_shards_lost_total{instance="a"}`:                                   "0+1x180",
	`carillon_shards_owned{instance="a"}`:                                        "64x180",
	`carillon_db_wait_seconds_total{instance="a",pool="read"}`:                   "0+6x180",
	`carillon_sqlite_wal_bytes{instance="a"}`:                                    "8e6x180",
	`carillon_data_free_bytes{instance="a"}`:                                     "4e10x180",
	`carillon_sip_registrations{instance="a",state="registered"}`:                "3x180",
	`carillon_sip_registrations{instance="a",state="failed"}`:                    "0x180",
	`carillon_call_attempts_total{instance="a",state="completed",reason=""}`:     "0+30x180",
	`carillon_call_attempts_total{instance="a",state="failed",reason="expired"}`: "0+1x180",
	`carillon_voice_failures_total{instance="a",what="engine"}`:                  "0 0 1x180",
	`carillon_webhook_attempts_total{instance="a",outcome="succeeded"}`:          "0+300x180",
	`carillon_webhook_attempts_total{instance="a",outcome="failed"}`:             "0+30x180",
	`process_resident_memory_bytes{job="carillon",instance="a"}`:                 "3e8x180",
	`carillon_purge_backlog_seconds{instance="a"}`:                               "60x180",
	`carillon_restored{instance="a"}`:                                            "0x180",
}

// causes has the series that differ where an alert has its cause.
var causes = map[string]map[string]string{
	"CarillonGone":        {`up{job="carillon",instance="a"}`: "0x180"},
	"CarillonNotReady":    {`carillon_ready{instance="a"}`: "0x180"},
	"CarillonLate":        {`carillon_lane_oldest_due_seconds{instance="a",kind="message"}`: "0+60x180"},
	"CarillonSheds":       {`carillon_http_refused_total{instance="a",code="service_unavailable"}`: "0+120x180"},
	"CarillonErrors":      {`carillon_http_refused_total{instance="a",code="internal_error"}`: "0+12x180"},
	"CarillonSlowCommits": {`carillon_commit_seconds_bucket{instance="a",le="0.032"}`: "0+500x180"},
	"CarillonBreakerOpen": {`carillon_breakers{instance="a",class="transient",state="open"}`: "1x180"},
	"CarillonAccountRefused CarillonBreakerOpen": {`carillon_breakers{instance="a",class="account",state="open"}`: "1x180"},
	"CarillonFails":             {`carillon_attempts_total{instance="a",outcome="failed",reason="expired"}`: "0+60x180"},
	"CarillonFlowsFail":         {`carillon_flow_runs_total{instance="a",state="failed"}`: "0+6x180"},
	"CarillonUnknownOutcomes":   {`carillon_attempts_total{instance="a",outcome="unknown",reason=""}`: "0+2x180"},
	"CarillonCallbacksRejected": {`carillon_callbacks_total{instance="a",result="rejected"}`: "0+2x180"},
	"CarillonCallbacksMissing":  {`carillon_receipts_total{instance="a",state="delivered",reason=""}`: "500x180"},
	"CarillonShardsMove":        {`carillon_shards_lost_total{instance="a"}`: "0+12x180"},
	"CarillonShardsUnowned":     {`carillon_shards_owned{instance="a"}`: "63x180"},
	"CarillonPoolWaits":         {`carillon_db_wait_seconds_total{instance="a",pool="read"}`: "0+90x180"},
	"CarillonLogOfSQLiteGrows":  {`carillon_sqlite_wal_bytes{instance="a"}`: "3e8x180"},
	"CarillonDiskFull":          {`carillon_data_free_bytes{instance="a"}`: "5e8x180"},
	"CarillonLineUnregistered":  {`carillon_sip_registrations{instance="a",state="failed"}`: "1x180"},
	"CarillonCallsFail":         {`carillon_call_attempts_total{instance="a",state="failed",reason="expired"}`: "0+10x180"},
	"CarillonVoiceFails":        {`carillon_voice_failures_total{instance="a",what="engine"}`: "0+1x180"},
	"CarillonWebhooksFail":      {`carillon_webhook_attempts_total{instance="a",outcome="failed"}`: "0+400x180"},
	"CarillonMemory":            {`process_resident_memory_bytes{job="carillon",instance="a"}`: "2e9x180"},
	"CarillonPurgeBehind":       {`carillon_purge_backlog_seconds{instance="a"}`: "90000x180"},
	"CarillonRestored":          {`carillon_restored{instance="a"}`: "1x180"},
}

// Every alert fires where its cause is, and only there. All are silent in a healthy hour.
func TestAlertsFireByTheirCausesAlone(t *testing.T) {
	promtool := need.Program(t, "promtool", "prometheus")
	rules, err := filepath.Abs("prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	tried := ""
	for alerts := range causes {
		tried += alerts + " "
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(strings.Fields(tried), m[1]) {
			t.Errorf("no cause of %s is tried", m[1])
		}
	}
	type series struct{ Series, Values string }
	type sample struct {
		Labels string
		Value  int
	}
	type expression struct {
		Expr     string
		EvalTime string   `yaml:"eval_time"`
		Samples  []sample `yaml:"exp_samples"`
	}
	type unit struct {
		Name        string
		Interval    string
		Series      []series     `yaml:"input_series"`
		Expressions []expression `yaml:"promql_expr_test"`
	}
	tested := func(name string, cause map[string]string) unit {
		u := unit{Name: name, Interval: "1m"}
		for _, s := range slices.Sorted(maps.Keys(healthy)) {
			u.Series = append(u.Series, series{s, cmp.Or(cause[s], healthy[s])})
		}
		for s := range cause {
			if healthy[s] == "" {
				t.Errorf("%s: a healthy hour has no %s", name, s)
			}
		}
		x := expression{Expr: `count by (alertname) (ALERTS{alertstate="firing"})`, EvalTime: "150m", Samples: []sample{}}
		for _, alert := range strings.Fields(name) {
			if cause != nil {
				x.Samples = append(x.Samples, sample{`{alertname="` + alert + `"}`, 1})
			}
		}
		u.Expressions = []expression{x}
		return u
	}
	units := []unit{tested("a healthy hour", nil)}
	for _, alerts := range slices.Sorted(maps.Keys(causes)) {
		units = append(units, tested(alerts, causes[alerts]))
	}
	file, err := yaml.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": "1m", "tests": units})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "alerts_test.yml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
