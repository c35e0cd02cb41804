package deploy_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"carillon/internal/base/need"
)

// healthy has the metrics of an hour without faults, as Prometheus's tool for tests of rules writes series.
var healthy = map[string]string{
	`up{job="carillon",instance="a"}`:                                            "1x180",
	`carillon_ready{job="carillon",instance="a"}`:                                "1x180",
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
	`carillon_webhook_oldest_seconds{instance="a",state="active"}`:               "2x180",
	`carillon_webhook_oldest_seconds{instance="a",state="failing"}`:              "9000x180",
	`carillon_database_damaged{instance="a"}`:                                    "0x180",
	`carillon_backup_timestamp_seconds{instance="a"}`:                            "-60000x180",
	`carillon_nats_connected{instance="a"}`:                                      "1x180",
	`carillon_nats_active{instance="a"}`:                                         "1x180",
	`process_resident_memory_bytes{job="carillon",instance="a"}`:                 "3e8x180",
	`carillon_purge_backlog_seconds{instance="a"}`:                               "60x180",
	`carillon_restored{instance="a"}`:                                            "0x180",

	requests: "0+240000x180",
	`carillon_shards_owned{instance="b",installation="other"}`:         "64x180",
	`carillon_database_refused{instance="a"}`:                          "0x180",
	`carillon_database_synchronous{instance="a"}`:                      "1x180",
	`carillon_database_synchronous{instance="b",installation="alone"}`: "0x180",
	`up{job="patroni",instance="db1"}`:                                 "1x180",
	`patroni_primary{instance="db1"}`:                                  "1x180",
	`patroni_primary{instance="db2"}`:                                  "0x180",
	`patroni_sync_standby{instance="db1"}`:                             "0x180",
	`patroni_sync_standby{instance="db2"}`:                             "1x180",
	`patroni_postgres_running{instance="db2"}`:                         "1x180",
	`patroni_failsafe_mode_is_active{instance="db1"}`:                  "0x180",
}

const requests = `carillon_http_request_seconds_count{instance="a",route="POST /functions/v1/notify"}`

// causes has the series that differ where an alert has its cause.
var causes = map[string]map[string]string{
	"CarillonGone CarillonAcceptingFast CarillonAcceptingSlow":     {`up{job="carillon",instance="a"}`: "0x180"},
	"CarillonNotReady CarillonAcceptingFast CarillonAcceptingSlow": {`carillon_ready{job="carillon",instance="a"}`: "0x180"},
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
	"CarillonCallsFail": {
		`carillon_call_attempts_total{instance="a",state="failed",reason="expired"}`: "0+10x180",
	},
	"CarillonVoiceFails":                          {`carillon_voice_failures_total{instance="a",what="engine"}`: "0+1x180"},
	"CarillonWebhooksFail":                        {`carillon_webhook_attempts_total{instance="a",outcome="failed"}`: "0+400x180"},
	"CarillonMemory":                              {`process_resident_memory_bytes{job="carillon",instance="a"}`: "2e9x180"},
	"CarillonPurgeBehind":                         {`carillon_purge_backlog_seconds{instance="a"}`: "90000x180"},
	"CarillonRestored":                            {`carillon_restored{instance="a"}`: "1x180"},
	"CarillonAcceptingFast CarillonAcceptingSlow": {requests: "0+600x180"},
	"CarillonAcceptingSlow":                       {requests: "0+6000x180"},
	"CarillonDeliveringFast CarillonDeliveringSlow": {
		`carillon_lane_oldest_due_seconds{instance="a",kind="message"}`:           "30x180",
		`carillon_attempts_total{instance="a",outcome="sent",reason=""}`:          "500x180",
		`carillon_attempts_total{instance="a",outcome="failed",reason="expired"}`: "5x180",
	},
	"CarillonEventsLate":           {`carillon_webhook_oldest_seconds{instance="a",state="active"}`: "400x180"},
	"CarillonDatabaseDamaged":      {`carillon_database_damaged{instance="a"}`: "1x180"},
	"CarillonBackupOld":            {`carillon_backup_timestamp_seconds{instance="a"}`: "-100000x180"},
	"CarillonNATSAway":             {`carillon_nats_active{instance="a"}`: "0x180"},
	"CarillonDatabaseRefused":      {`carillon_database_refused{instance="a"}`: "1x180"},
	"CarillonNotSynchronous":       {`carillon_database_synchronous{instance="a"}`: "1x100 0x80"},
	"CarillonTwoPrimaries":         {`patroni_primary{instance="db2"}`: "1x180"},
	"CarillonNoPrimary":            {`patroni_primary{instance="db1"}`: "0x180"},
	"CarillonNoSynchronousStandby": {`patroni_sync_standby{instance="db2"}`: "0x180"},
	"CarillonReplicaLost":          {`patroni_postgres_running{instance="db2"}`: "0x180"},
	"CarillonFailsafe":             {`patroni_failsafe_mode_is_active{instance="db1"}`: "1x180"},
}

// perScrape rewrites values of every minute to values of every scrape.
func perScrape(t *testing.T, values string) string {
	t.Helper()
	if before, after, two := strings.Cut(values, "x100 "); two {
		return perScrape(t, before+"x100") + " " + perScrape(t, after)
	}
	m := regexp.MustCompile(`^(.*?)(\+(\d+))?x(\d+)$`).FindStringSubmatch(values)
	if m == nil {
		t.Fatalf("cannot read the values %q", values)
	}
	minutes, _ := strconv.Atoi(m[4]) // digits
	if m[3] == "" {
		return fmt.Sprintf("%sx%d", m[1], minutes*4)
	}
	step, _ := strconv.ParseFloat(m[3], 64) // digits
	return fmt.Sprintf("%s+%gx%d", m[1], step/4, minutes*4)
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
		u := unit{Name: name, Interval: "15s"}
		for _, s := range slices.Sorted(maps.Keys(healthy)) {
			u.Series = append(u.Series, series{s, perScrape(t, cmp.Or(cause[s], healthy[s]))})
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
	// outage has two hours without a fault, and then some scrapes of a node that isn't ready.
	outage := func(name string, scrapes, maintenance, pages int) unit {
		u := unit{Name: name, Interval: "15s", Series: []series{
			{`up{job="carillon",instance="a"}`, "1x600"},
			{`carillon_ready{job="carillon",instance="a"}`, fmt.Sprintf("1x480 0x%d 1x60", scrapes-1)},
			{`carillon_maintenance{instance="a"}`, fmt.Sprintf("0x480 %dx%d 0x60", maintenance, scrapes-1)},
		}}
		x := expression{
			Expr:     `count by (alertname) (ALERTS{alertstate="firing",alertname="CarillonAcceptingFast"})`,
			EvalTime: "122m", Samples: []sample{},
		}
		if pages > 0 {
			x.Samples = []sample{{`{alertname="CarillonAcceptingFast"}`, pages}}
		}
		u.Expressions = []expression{x}
		return u
	}
	outages := []unit{
		outage("an outage of half a minute", 2, 0, 1), outage("a scrape at a bad moment", 1, 0, 0),
		outage("an outage in a maintenance window", 2, 1, 0),
	}
	units := []unit{tested("a healthy hour", nil)}
	for _, alerts := range slices.Sorted(maps.Keys(causes)) {
		units = append(units, tested(alerts, causes[alerts]))
	}
	for interval, units := range map[string][]unit{"1m": units, "15s": outages} {
		file, err := yaml.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": interval, "tests": units})
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
}
