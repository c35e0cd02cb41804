package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/internal/store/storetest"
)

// standbySite returns a site with a node that reaches a cluster with standbys through a proxy.
func standbySite(t *testing.T, flags ...string) *site {
	t.Helper()
	s := replicated(t, t.Name(), "postgres")
	s.proxy = newProxy(t, s.url)
	s.x = s.node(s.proxy.url)
	s.x.args = append(s.x.args, flags...)
	return s
}

// check returns a check of /readyz, and the status.
func (n *node) check(name string) (text string, status int) {
	resp, err := http.Get("http://" + n.addr + "/readyz")
	if err != nil {
		return err.Error(), 0
	}
	defer resp.Body.Close()
	var body struct {
		Details struct {
			Reason string            `json:"reason"`
			Checks map[string]string `json:"checks"`
		} `json:"details"`
		Checks map[string]string `json:"checks"`
	}
	_ = json.NewDecoder(resp.Body).Decode(&body)
	if text = body.Details.Checks[name]; text == "" {
		text = body.Checks[name]
	}
	return text, resp.StatusCode
}

// says waits until a check of /readyz contains a text.
func (n *node) says(name, text string, status int) {
	n.t.Helper()
	var got string
	var code int
	if !await(n.t.Context(), 2*time.Minute, func() bool {
		got, code = n.check(name)
		return strings.Contains(got, text) && code == status
	}) {
		n.t.Fatalf("check %s: %d %q, want %d %q", name, code, got, status, text)
	}
}

// accept posts a message for tomorrow and returns the status and the body.
func (n *node) accept() (status int, body string) {
	n.t.Helper()
	text := `{"contact":{"number":"34600000001","name":"Ana"},"name_template":"hello_utility","language_template":"en",` +
		`"recipient_id":"once","notification_type":"utility","campaign_name":"standbys",` +
		`"components_push":{"body_text_0":"{{name}}"},` + schedule(time.Now().Add(24*time.Hour)) + `}`
	req, err := http.NewRequestWithContext(n.t.Context(), http.MethodPost, "http://"+n.addr+"/functions/v1/notify?access_key="+accessKey,
		strings.NewReader(text))
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := frontClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b := new(strings.Builder)
	_ = resp.Write(b)
	return resp.StatusCode, b.String()
}

// accepts waits until the node accepts, or refuses with a reason.
func (n *node) accepts(status int, reason string) {
	n.t.Helper()
	var code int
	var body string
	if !await(n.t.Context(), 2*time.Minute, func() bool {
		code, body = n.accept()
		if code >= 400 && code != http.StatusServiceUnavailable {
			n.t.Fatalf("%d %s", code, body)
		}
		return code == status && strings.Contains(body, reason)
	}) {
		n.t.Fatalf("%d %s, want %d %q", code, body, status, reason)
	}
}

// logged waits for a line of the log.
func (n *node) logged(line string) {
	n.t.Helper()
	if !await(n.t.Context(), 2*time.Minute, func() bool {
		b, _ := os.ReadFile(n.log)
		return strings.Contains(string(b), line)
	}) {
		n.t.Errorf("the log lacks %q", line)
	}
}

// leadTo redirects the node to another server, and cuts its connections.
func (s *site) leadTo(c *cluster) {
	s.t.Helper()
	s.proxy.cut()
	s.proxy.lead(c.url())
	s.proxy.mend()
}

func (c *cluster) set(t *testing.T, setting, value string) {
	t.Helper()
	for _, text := range []string{"ALTER SYSTEM SET " + setting + " = '" + value + "'", "SELECT pg_reload_conf()"} {
		if out, err := c.query(text); err != nil {
			t.Fatal(out)
		}
	}
}

func (c *cluster) awaits(t *testing.T, query, want string) {
	t.Helper()
	var got string
	if !await(t.Context(), time.Minute, func() bool {
		var err error
		got, err = c.query(query)
		return err == nil && got == want
	}) {
		t.Fatalf("%s: %q, want %q", query, got, want)
	}
}

func TestAPrimaryThatComesBackAfterAFailoverIsRefused(t *testing.T) {
	t.Parallel()
	s := standbySite(t)
	s.x.start()
	s.x.accepts(http.StatusOK, "")
	next := s.cluster.standby(t)
	next.tool("pg_ctl", "promote", "-D", next.data(), "-w")
	s.leadTo(next)
	s.x.accepts(http.StatusOK, "")
	s.x.logged("the database failed over")
	s.leadTo(s.cluster) // it never knew of the failover, and accepts writes
	s.x.says("database", "went back", http.StatusServiceUnavailable)
	s.x.accepts(http.StatusServiceUnavailable, "takes no writes")
	s.x.logged("refused the database")
	s.leadTo(next)
	s.x.says("database", "ok", http.StatusOK)
	s.x.accepts(http.StatusOK, "")
	old, err := s.cluster.query("SELECT count(*) FROM notification")
	if err != nil || old != "1" {
		t.Error("the old primary has accepted since:", old, err)
	}
}

func TestNodesStopOnADatabaseThatLostCommits(t *testing.T) {
	t.Parallel()
	s := standbySite(t)
	next := s.cluster.standby(t)
	s.x.start()
	s.x.accepts(http.StatusOK, "")
	s.cluster.awaits(t, "SELECT replay_lsn >= pg_current_wal_lsn() FROM pg_stat_replication", "t")
	next.set(t, "primary_conninfo", "") // it follows no more, and nobody notices
	s.cluster.awaits(t, "SELECT count(*) FROM pg_stat_replication", "0")
	before, err := next.query("SELECT max(beat) FROM node")
	if err != nil {
		t.Fatal(before)
	}
	s.cluster.awaits(t, "SELECT max(beat) > "+before+" + 3 FROM node", "t")
	s.x.accepts(http.StatusOK, "")
	next.tool("pg_ctl", "promote", "-D", next.data(), "-w")
	s.leadTo(next)
	s.x.says("database", "lost commits", http.StatusServiceUnavailable)
	s.x.accepts(http.StatusServiceUnavailable, "takes no writes")
	s.x.logged("lost commits that it had confirmed")
	s.x.kill()
	other := s.node(next.url())
	other.spawn()
	<-other.ended
	other.logged("carillon restored mark")
	accept := exec.CommandContext(t.Context(), executable(t), "restored", "accept", "--database-url="+next.url(),
		"--master-key-file="+storetest.MasterKey(t))
	if out, err := accept.CombinedOutput(); err == nil || !strings.Contains(string(out), "restored mark") {
		t.Errorf("a database that lost commits is accepted: %v\n%s", err, out)
	}
	s.command("restored", "mark", "--database-url="+next.url(), "--master-key-file="+storetest.MasterKey(t))
	other.start()
	other.says("database", "ok", http.StatusOK)
}

func TestADumpThatIsStartedIsRecognized(t *testing.T) {
	t.Parallel()
	s := standbySite(t)
	s.x.start()
	s.x.accepts(http.StatusOK, "")
	s.cluster.awaits(t, "SELECT count(*) FROM meta WHERE name = 'origin'", "1")
	if code := s.x.stop(2 * time.Minute); code != 0 {
		t.Fatal("exit code", code)
	}
	if out, err := s.cluster.query("UPDATE message SET q = 1, rank = 10, due_at = 1000, ended_at = 0"); err != nil {
		t.Fatal(out) // it is due, as of the dump
	}
	restore := func(name string) string {
		file := filepath.Join(s.cluster.dir, name)
		s.cluster.tool("pg_dump", "-Fc", "-h", s.cluster.dir, "-U", "carillon", "-d", "postgres", "-f", file)
		s.cluster.tool("createdb", "-h", s.cluster.dir, "-U", "carillon", name)
		s.cluster.tool("pg_restore", "-h", s.cluster.dir, "-U", "carillon", "-d", name, file)
		return strings.Replace(s.cluster.url(), "/postgres?", "/"+name+"?", 1)
	}
	dump := restore("forgotten")
	accepted := restore("moved")
	n := s.node(dump)
	n.start()
	n.logged("comes from another database")
	n.logged("messages=1")
	if code := n.stop(2 * time.Minute); code != 0 {
		t.Fatal("exit code", code)
	}
	n.start() // it is known now
	s.command("restored", "accept", "--database-url="+accepted, "--master-key-file="+storetest.MasterKey(t))
	n = s.node(accepted)
	n.start()
	if b, err := os.ReadFile(n.log); err != nil || strings.Contains(string(b), "comes from another database") {
		t.Error("an accepted database is held:", err)
	}
}

func TestRequiredStandbysStopAcceptingWhenNoneConfirms(t *testing.T) {
	t.Parallel()
	s := standbySite(t, "--require-synchronous")
	next := s.cluster.standby(t)
	s.x.spawn()
	s.x.says("failover", "No synchronous standby", http.StatusServiceUnavailable)
	s.cluster.set(t, "synchronous_standby_names", "*")
	s.x.awaitReady()
	s.x.says("failover", "ok", http.StatusOK)
	s.x.accepts(http.StatusOK, "")
	s.cluster.set(t, "synchronous_standby_names", "") // as a cluster manager does when the standbys are away
	s.x.says("failover", "No synchronous standby", http.StatusServiceUnavailable)
	s.x.accepts(http.StatusServiceUnavailable, "No synchronous standby")
	s.x.logged("no standby confirms commits")
	s.cluster.set(t, "synchronous_standby_names", "*")
	s.x.accepts(http.StatusOK, "")
	next.stop(syscall.SIGQUIT)
	s.x.says("failover", "No synchronous standby", http.StatusServiceUnavailable)
	s.x.accepts(http.StatusServiceUnavailable, "No synchronous standby")
	next.start()
	s.x.accepts(http.StatusOK, "")
}

func TestAStandbyIsNotTakenForThePrimary(t *testing.T) {
	t.Parallel()
	s := standbySite(t)
	next := s.cluster.standby(t)
	several := fmt.Sprintf("postgres://carillon@/postgres?sslmode=disable&host=/nowhere,%s,%s&port=5432,5432,5432", next.dir, s.cluster.dir)
	n := s.node(several)
	n.start()
	n.accepts(http.StatusOK, "")
	s.cluster.stop(syscall.SIGQUIT)
	n.accepts(http.StatusServiceUnavailable, "")
	next.tool("pg_ctl", "promote", "-D", next.data(), "-w")
	n.accepts(http.StatusOK, "")
}
