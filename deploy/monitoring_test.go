package deploy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"carillon/e2e/instance"
	"carillon/internal/base/need"
)

func TestPatroniTakesTheFile(t *testing.T) {
	t.Parallel()
	patroni := need.Program(t, "patroni", "patroni")
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	need.That(t, err == nil && len(found) > 0, "initdb of PostgreSQL in Debian's folder")
	check := func(replace ...string) (string, error) {
		dir := t.TempDir()
		data := filepath.Join(dir, "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		file := example(t, dir, "patroni/patroni.yml", append(replace, "/usr/lib/postgresql/15/bin", filepath.Dir(found[len(found)-1]),
			"/var/lib/postgresql/15/carillon", data)...)
		out, err := exec.CommandContext(t.Context(), patroni, "--validate-config", file).CombinedOutput()
		return string(out), err
	}
	if out, err := check(); err != nil || out != "" {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := check("ttl: 20", "ttl: soon"); err == nil {
		t.Errorf("a mistake passes: %s", out)
	}
}

// TestPatroniKeepsItsWord checks the settings on which the promise of no loss depends.
func TestPatroniKeepsItsWord(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("patroni/patroni.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{
		"synchronous_mode: true", "synchronous_mode_strict: true", `synchronous_commit: "on"`, "mode: required", "failsafe_mode: true",
	} {
		if !strings.Contains(string(text), must) {
			t.Errorf("patroni.yml has no %s", must)
		}
	}
	number := func(name string) (n int) {
		m := regexp.MustCompile(`(?m)^ +` + name + `: (\d+)$`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("patroni.yml has no %s", name)
		}
		_, _ = fmt.Sscan(string(m[1]), &n) // digits
		return n
	}
	if ttl := number("ttl"); number("loop_wait")+2*number("retry_timeout") > ttl {
		t.Errorf("Patroni can lose its key before it gives up: the ttl is %d s", ttl)
	}
}

func TestPrometheusTakesTheFiles(t *testing.T) {
	t.Parallel()
	promtool := need.Program(t, "promtool", "prometheus")
	check := exec.CommandContext(t.Context(), promtool, "check", "config", "prometheus/prometheus.yml")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPrometheusScrapesANode runs Prometheus with the shipped files against a node, and evaluates the rules.
func TestPrometheusScrapesANode(t *testing.T) {
	t.Parallel()
	prometheus := need.Program(t, "prometheus", "prometheus")
	n := serve(t)
	n.ready()
	dir := t.TempDir()
	example(t, dir, "prometheus/alerts.yml")
	file := example(t, dir, "prometheus/prometheus.yml", `["10.0.0.21:9090", "10.0.0.22:9090"]`, `["`+n.ops+`"]`,
		"scrape_interval: 15s", "scrape_interval: 1s", "evaluation_interval: 15s", "evaluation_interval: 1s")
	address := instance.FreeAddress(t)
	p := start(t, exec.CommandContext(t.Context(), prometheus, "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address))
	for _, query := range []string{`carillon_ready{installation="main",job="carillon"} == 1`, `carillon:ready{installation="main"} == 1`} {
		p.await("answer "+query, func() bool {
			var of struct{ Data struct{ Result []any } }
			fetch(t, "http://"+address+"/api/v1/query?query="+url.QueryEscape(query), &of)
			return len(of.Data.Result) == 1
		})
	}
	var rules struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	evaluated := func() bool {
		fetch(t, "http://"+address+"/api/v1/rules", &rules)
		for _, g := range rules.Data.Groups {
			for _, r := range g.Rules {
				if r.Health == "unknown" {
					return false
				}
			}
		}
		return len(rules.Data.Groups) > 3
	}
	p.await("evaluate every rule", evaluated)
	for _, g := range rules.Data.Groups {
		for _, r := range g.Rules {
			if r.Health != "ok" {
				t.Errorf("%s: %s", r.Name, r.LastError)
			}
		}
	}
}

// fetch decodes a page; it leaves to unchanged if there is none.
func fetch(t *testing.T, page string, to any) {
	t.Helper()
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Get(page) //nolint:noctx // the client has a timeout
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		_ = json.NewDecoder(resp.Body).Decode(to) // a later try may succeed
	}
}

func TestAlertmanagerTakesTheFile(t *testing.T) {
	t.Parallel()
	amtool := need.Program(t, "amtool", "prometheus-alertmanager")
	if out, err := exec.CommandContext(t.Context(), amtool, "check-config", "prometheus/alertmanager.yml").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for severity, receiver := range map[string]string{"page": "page", "ticket": "ticket"} {
		out, err := exec.CommandContext(t.Context(), amtool, "config", "routes", "test", "--config.file=prometheus/alertmanager.yml",
			"severity="+severity, "alertname=CarillonGone").Output()
		if err != nil || strings.TrimSpace(string(out)) != receiver {
			t.Errorf("%s goes to %s: %v", severity, out, err)
		}
	}
}

// TestAlertmanagerPages runs Alertmanager with the shipped file: an alert of severity page arrives at the pager.
func TestAlertmanagerPages(t *testing.T) {
	t.Parallel()
	alertmanager := need.Program(t, "prometheus-alertmanager", "prometheus-alertmanager")
	paged := make(chan string, 10)
	pager := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		paged <- string(body)
	}))
	t.Cleanup(pager.Close)
	dir := t.TempDir()
	file := example(t, dir, "prometheus/alertmanager.yml", "https://pager.example.org/change-me", pager.URL,
		"group_wait: 10s", "group_wait: 0s")
	address := instance.FreeAddress(t)
	p := start(t, exec.CommandContext(t.Context(), alertmanager, "--config.file="+file, "--storage.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--cluster.listen-address="))
	p.responds("http://" + address + "/-/ready")
	alert := `[{"labels":{"alertname":"CarillonGone","severity":"page","instance":"a"},"annotations":{"summary":"a does not respond"}}]`
	to := "http://" + address + "/api/v2/alerts"
	resp, err := http.Post(to, "application/json", strings.NewReader(alert)) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	select {
	case body := <-paged:
		if !strings.Contains(body, "a does not respond") {
			t.Errorf("the pager got %s", body)
		}
	case <-time.After(hung):
		t.Error("the pager got nothing")
	}
}

// TestJournaldKnowsEverySetting compares the settings with the names in systemd's own programs.
func TestJournaldKnowsEverySetting(t *testing.T) {
	t.Parallel()
	const journald = "/lib/systemd/systemd-journald"
	program, err := os.ReadFile(journald)
	need.That(t, err == nil, journald+" is missing: install Debian's package systemd")
	settings := unit(t, "logs/journald.conf")
	for name := range settings {
		if !bytes.Contains(program, []byte("\x00Journal."+name+"\x00")) {
			t.Errorf("journald has no setting %s", name)
		}
	}
	if len(settings) < 5 {
		t.Errorf("only %v are set", settings)
	}
}

// TestJournalsProgramsTakeTheFiles runs the two programs that send and receive journals with the shipped files in place of the system's.
func TestJournalsProgramsTakeTheFiles(t *testing.T) {
	t.Parallel()
	need.That(t, os.Geteuid() == 0, "root, to put a file in the place of the system's")
	unshare := need.Program(t, "unshare", "util-linux")
	for name, args := range map[string][]string{
		"journal-upload.conf": {"/lib/systemd/systemd-journal-upload", "--file=/nonexistent"},
		"journal-remote.conf": {"/lib/systemd/systemd-journal-remote", "--output=" + filepath.Join(t.TempDir(), "a.journal"), "/dev/null"},
	} {
		need.That(t, exists(args[0]), args[0]+" is missing: install Debian's package systemd-journal-remote")
		run := func(file string) string {
			script := "mount --bind " + file + " /etc/systemd/" + name + ` && exec "$@"`
			cmd := exec.CommandContext(t.Context(), unshare, append([]string{"--mount", "sh", "-c", script, "sh"}, args...)...)
			out, _ := cmd.CombinedOutput() // it has nothing to do, and ends
			return string(out)
		}
		dir := t.TempDir()
		file := example(t, dir, "logs/"+name)
		if out := run(file); strings.Contains(out, "Unknown") || strings.Contains(out, "mount:") {
			t.Errorf("%s: %s", name, out)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, "Mistake=1\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := run(file); strings.Contains(out, "mount:") {
			need.That(t, false, "a mount namespace: "+out)
		} else if !strings.Contains(out, "Unknown key") {
			t.Errorf("%s: a mistake passes: %s", name, out)
		}
	}
}
