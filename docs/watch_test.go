package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

const (
	dashboardFile = "../deploy/grafana/carillon.json"
	alertsFile    = "../deploy/prometheus/alerts.yml"
	guideFile     = "guides/operate.md"
)

// metrics returns the labels of the metrics that a node exposes, by name. They are listed in a document that a test of
// the program keeps up to date.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{"up": {}}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z, ]*) \\|").FindAllStringSubmatch(string(page), -1) {
		all[m[1]] = strings.Split(m[2], ", ")
	}
	if len(all) < 30 {
		t.Fatalf("only %d metrics are documented", len(all))
	}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		all[f.GetName()] = nil
	}
	return all
}

var (
	selector = regexp.MustCompile(`\b((?:carillon|go|patroni|process)_[a-z_]+|carillon:[a-z0-9:_]+|up)\b(\{[^}]*\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)\s*[=!]~?`)
	grouped  = regexp.MustCompile(`\b(?:by|on) \(([a-z_, ]*)\)`)
)

// ofPatroni are metrics of Patroni (the method do_GET_metrics of its REST API).
var ofPatroni = []string{"patroni_primary", "patroni_sync_standby", "patroni_postgres_running", "patroni_failsafe_mode_is_active"}

// hold checks that the metrics and labels in an expression exist.
func hold(t *testing.T, where, expr string, known map[string][]string) {
	t.Helper()
	if strings.TrimSpace(expr) == "" {
		t.Errorf("%s: no expression", where)
	}
	given := []string{"job", "instance", "installation", "le"}
	named := false
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		name := m[1]
		labels, ok := known[name]
		if !ok {
			labels, ok = known[strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")]
		}
		if !ok {
			t.Errorf("%s: there is no metric %s", where, name)
			continue
		}
		named = true
		given = append(given, labels...)
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(labels, l[1]) && l[1] != "job" && l[1] != "instance" {
				t.Errorf("%s: %s has no label %s", where, name, l[1])
			}
		}
	}
	if !named {
		t.Errorf("%s: %q asks for no metric", where, expr)
	}
	for _, m := range grouped.FindAllStringSubmatch(expr, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if !slices.Contains(given, strings.TrimSpace(l)) {
				t.Errorf("%s: nothing has the label %s", where, l)
			}
		}
	}
}

func TestDashboardAsksForMetricsThatThereAre(t *testing.T) {
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title, UID string
		Panels     []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	known, seen := metrics(t), map[int]bool{}
	asked := ""
	for _, p := range board.Panels {
		if seen[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W == 0 {
			t.Errorf("panel %d %q lies badly or is there twice", p.ID, p.Title)
		}
		seen[p.ID] = true
		if len(p.Targets) == 0 && p.Type != "row" {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, x := range p.Targets {
			hold(t, p.Title, x.Expr, known)
			asked += x.Expr + "\n"
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "carillon_") && !strings.Contains(asked, name) && !slices.Contains(notShown, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// notShown lists metrics that the dashboard omits, because another metric carries the same information or because only
// alerts use them.
var notShown = []string{
	"carillon_build_info", "carillon_accepted_notifications_total", "carillon_lanes", "carillon_queue_commits_total", "carillon_restored",
	"carillon_maintenance",
}

func TestAlertsAskForMetricsThatThereAreAndLeadToTheGuide(t *testing.T) {
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Record              string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.DisallowUnknownField()); err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(guideFile)
	if err != nil {
		t.Fatal(err)
	}
	known, names := metrics(t), []string{}
	for _, name := range ofPatroni {
		known[name] = nil
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				hold(t, r.Record, r.Expr, known)
				known[r.Record] = nil
				continue
			}
			names = append(names, r.Alert)
			hold(t, r.Alert, r.Expr, known)
			urgent := r.Labels["severity"]
			if r.For == "" || r.Annotations["summary"] == "" || urgent != "page" && urgent != "ticket" {
				t.Errorf("%s does not say how long, what or how urgent", r.Alert)
			}
			want := "https://carillon.example.org/docs/guides/operate#" + strings.ToLower(r.Alert)
			if r.Annotations["runbook_url"] != want {
				t.Errorf("%s leads to %q, want %s", r.Alert, r.Annotations["runbook_url"], want)
			}
		}
	}
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^### (Carillon[A-Za-z]+)$`).FindAllStringSubmatch(string(guide), -1) {
		sections = append(sections, m[1])
	}
	slices.Sort(names)
	slices.Sort(sections)
	if len(names) < 10 || !slices.Equal(names, sections) {
		t.Errorf("alerts %v\nsections of the guide %v", names, sections)
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", alertsFile).CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}
