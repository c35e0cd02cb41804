package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/config"
	"carillon/internal/send/whatsapp/graphtest"
)

// restoreSetup has two companies that share one channel.
const restoreSetup = `companies:
  - id: aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1
    name: Alpha
    users: [{email: owner@alpha.test, password: correct-horse-battery, role: owner}]
    keys: [{key: ck_alpha_live, label: live}]
    senders: [{id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, per_second: PACE,
      per_recipient_interval: 0s, media_check: syntax, settings: GRAPH}]
    templates: [{sender: main, name: hi, language: en, category: UTILITY, body: "Hi."}]
  - id: bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb1
    name: Beta
    users: [{email: owner@beta.test, password: correct-horse-battery, role: owner}]
    keys: [{key: ck_beta_live, label: live}]
    senders: [{id: main, number: "15555550200", channel: messaging, provider: whatsapp, default: true, per_second: PACE,
      per_recipient_interval: 0s, media_check: syntax, settings: GRAPH}]
    templates: [{sender: main, name: hi, language: en, category: UTILITY, body: "Hi."}]
`

// served is a program started through the command line; stop ends it.
type served struct {
	url  string
	stop func()
}

func serveFolder(t *testing.T, dir, setup string, more ...string) served {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	code := make(chan int, 1)
	args := append([]string{
		"serve", "--addr", "127.0.0.1:0", "--data", dir, "--provision", setup, "--ready-file", ready,
		"--password-memory", "8", "--password-passes", "1", "--shutdown-timeout", "60s",
	}, more...)
	go func() {
		code <- run(ctx, args, environment{Stdout: &bytes.Buffer{}, Stderr: &log, Lookup: sharedThreads})
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		if c := <-code; c != exitOK {
			t.Errorf("serve ended with %d:\n%s", c, log.String())
		}
	})
	t.Cleanup(stop)
	var r *config.Ready
	eventually(t, "the program is ready", func() bool {
		var err error
		r, err = config.ReadReady(ready)
		return err == nil
	})
	return served{r.BaseURL, stop}
}

func nothing(string) (string, bool) { return "", false }

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("not in time: " + what)
		}
	}
}

// command runs a command, checks its exit code and returns its output.
func command(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(t.Context(), args, environment{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lookup: nothing}); got != code {
		t.Fatalf("%v: code %d, want %d\n%s%s", args, got, code, out.String(), errs.String())
	}
	return out.String() + errs.String()
}

// ask sends a request to the API and decodes the response.
func (s served) ask(t *testing.T, method, path, key, body string, into any) {
	t.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+"/functions/v1/"+path+sep+"access_key="+key, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d, %v", method, path, answer.StatusCode, err)
	}
}

func (s served) send(t *testing.T, key string, contacts int, more string) (id string) {
	t.Helper()
	var to []string
	for i := range contacts {
		to = append(to, fmt.Sprintf(`{"number":"346001%05d"}`, i))
	}
	var accepted struct {
		ID string `json:"notification_id"`
	}
	s.ask(t, "POST", "notify", key, `{"contacts":[`+strings.Join(to, ",")+
		`],"recipient_id":"main","name_template":"hi","language_template":"en",`+
		`"notification_type":"utility","campaign_name":"c","components_push":{}`+more+`}`, &accepted)
	return accepted.ID
}

// counts returns the number of messages of a notification by state.
func (s served) counts(t *testing.T, key, id string) map[string]int {
	t.Helper()
	var n struct {
		Counts map[string]int `json:"counts"`
	}
	s.ask(t, "GET", "notify/"+id, key, "", &n)
	return n.Counts
}

// posts counts the channel's requests by message.
func posts(g *graphtest.Server, id string) map[string]int {
	all := map[string]int{}
	for ref, posts := range g.All() {
		if strings.HasPrefix(ref, id) {
			all[ref] = len(posts)
		}
	}
	return all
}

func TestARestoredBackupSendsNothingBeforeTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	graph, err := graphtest.New(graphtest.Options{Loose: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = graph.Close() })
	settings := `{base_url: "` + graph.URL() + `", version: v23.0, phone_number_id: "1000001", waba_id: "2000001", ` +
		`access_token: provider-token, app_secret: provider-app-secret, verify_token: provider-verify-token}`
	dirs := t.TempDir()
	setup := filepath.Join(dirs, "setup.yaml")
	pace := func(perSecond string) {
		text := strings.NewReplacer("GRAPH", settings, "PACE", perSecond).Replace(restoreSetup)
		if err := os.WriteFile(setup, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, second := filepath.Join(dirs, "first"), filepath.Join(dirs, "second")
	file := filepath.Join(dirs, "backup.db")

	// First run: part of a queue is sent, a backup is made, and more of the queue is sent after it.
	pace("2")
	s := serveFolder(t, first, setup)
	alpha, beta := s.send(t, "ck_alpha_live", 60, ""), s.send(t, "ck_beta_live", 60, "")
	later := s.send(t, "ck_alpha_live", 3, `,"datetime_sending":"2099-01-01T00:00:00"`)
	output := command(t, exitOK, "backup", "--data", first, "--to", file)
	if !strings.Contains(output, "123 messages") || !strings.Contains(output, "verified") ||
		!strings.Contains(output, "The master key is not in the backup") {
		t.Error(output)
	}
	if output := command(t, exitFailed, "backup", "--data", first, "--to", file); !strings.Contains(output, "exists already") {
		t.Error(output)
	}
	taken := len(posts(graph, ""))
	eventually(t, "more is sent after the backup", func() bool { return len(posts(graph, "")) >= taken+4 })
	lost := s.send(t, "ck_alpha_live", 1, "") // accepted after the backup, so the restored program does not know it
	s.stop()

	// Refused: a folder that is not empty, and a folder without the master key.
	key := filepath.Join(first, "master.key")
	if output := command(t, exitFailed, "restore", "--from", file, "--data", first); !strings.Contains(output, "is not empty") {
		t.Error(output)
	}
	if output := command(t, exitUsage, "restore", "--from", file, "--data", second); !strings.Contains(output, "master key is needed") {
		t.Error(output)
	}

	// Second run: nothing from the first run is sent again; new and scheduled requests proceed.
	output = command(t, exitOK, "restore", "--from", file, "--data", second, "--master-key-file", key)
	if !strings.Contains(output, "are held") {
		t.Error(output)
	}
	before := posts(graph, "")
	pace("0")
	s = serveFolder(t, second, setup, "--master-key-file", key)
	owner := []string{"--url", s.url, "--email", "owner@alpha.test", "--password", "correct-horse-battery"}
	fresh := s.send(t, "ck_beta_live", 1, "")
	eventually(t, "a new request is sent", func() bool { return len(posts(graph, fresh)) == 1 })
	after := posts(graph, "")
	maps.DeleteFunc(after, func(ref string, _ int) bool { return strings.HasPrefix(ref, fresh) })
	if !maps.Equal(before, after) {
		t.Errorf("the restored program sent again: %d posts, were %d", len(after), len(before))
	}
	if n := s.counts(t, "ck_alpha_live", later)["scheduled"]; n != 3 {
		t.Errorf("%d of 3 are scheduled for later", n)
	}
	status := command(t, exitOK, append([]string{"restored", "status"}, owner...)...)
	held := [2]int{s.counts(t, "ck_alpha_live", alpha)["queued"], s.counts(t, "ck_beta_live", beta)["queued"]}
	if held[0] < 10 || held[1] < 10 || !strings.Contains(status, fmt.Sprintf("%d messages held", held[0]+held[1])) ||
		!strings.Contains(status, "Alpha") {
		t.Errorf("held are %v; status says\n%s", held, status)
	}
	if output := command(t, exitOK, "health", "--ready", "--json", "--url", s.url); !strings.Contains(output, "ready") {
		t.Error(output)
	}

	// Fail Beta's messages; Alpha's are sent.
	if output := command(t, exitOK, append([]string{"restored", "fail", "--company", "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb1"},
		owner...)...); !strings.Contains(output, fmt.Sprintf("%d messages failed", held[1])) {
		t.Error(output)
	}
	if c := s.counts(t, "ck_beta_live", beta); c["failed"] < held[1] || c["queued"] > 0 {
		t.Errorf("Beta's are %v", c)
	}
	if output := command(t, exitFailed, "restored", "send", "--url", s.url, "--email", "owner@beta.test", "--password",
		"correct-horse-battery"); !strings.Contains(output, "owner of the installation") {
		t.Error(output)
	}
	if output := command(t, exitOK, append([]string{"restored", "send"}, owner...)...); !strings.Contains(output,
		fmt.Sprintf("%d messages sent", held[0])) {
		t.Error(output)
	}
	eventually(t, "what was held is sent", func() bool {
		c := s.counts(t, "ck_alpha_live", alpha)
		return c["sent"]+c["failed"] == 60 && c["sent"] >= held[0]
	})
	if status := command(t, exitOK, append([]string{"restored", "status"}, owner...)...); !strings.Contains(status, "nothing is held") {
		t.Error(status)
	}
	if len(posts(graph, lost)) > 1 {
		t.Error("a message that the backup does not know was sent twice")
	}
}

func TestABackupIsAskedForWhereTheProgramRunsAndElseTakenFromTheFolder(t *testing.T) {
	t.Parallel()
	dirs := t.TempDir()
	setup := filepath.Join(dirs, "setup.yaml")
	if err := os.WriteFile(setup, []byte("companies: [{name: Acme, retention_days: 7}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A folder whose path is too long for a socket, and a socket left by a killed program.
	dir, file := filepath.Join(dirs, strings.Repeat("long", 30)), filepath.Join(dirs, "backup.db")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "carillon.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveFolder(t, dir, setup)
	backedUp(t, dir, file)
	if info, err := os.Stat(filepath.Join(dir, "carillon.sock")); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	if output := command(t, exitFailed, "backup", "--data", dir, "--to",
		filepath.Join(dirs, "no", "such", "folder")); !strings.Contains(output, "no such file or directory") {
		t.Error(output)
	}
	if err := os.WriteFile(file+"1.part", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // first in the running program, then in the command
		if output := command(t, exitFailed, "backup", "--data", dir, "--to", file+"1"); !strings.Contains(output,
			"or one was interrupted") {
			t.Error(output)
		}
		s.stop()
	}
	file += "2"
	backedUp(t, dir, file)
	command(t, exitFailed, "backup", "--data", filepath.Join(dirs, "missing"), "--to", file+"3")
	command(t, exitUsage, "backup", "--database-url", "postgres://carillon@localhost/x", "--to", file+"3")
	command(t, exitUsage, "restore", "--database-url", "postgres://carillon@localhost/x", "--from", file)
	// Mark by hand: no program uses the folder, and no message is due.
	if output := command(t, exitOK, "restored", "mark", "--data", dir); !strings.Contains(output, "0 messages were due") {
		t.Error(output)
	}
	if output := command(t, exitUsage, "restored", "mark", "--data", filepath.Join(dirs, "missing")); !strings.Contains(output,
		"master key is needed") {
		t.Error(output)
	}
}

// backedUp makes a backup and checks its manifest.
func backedUp(t *testing.T, dir, file string) {
	t.Helper()
	output := command(t, exitOK, "backup", "--data", dir, "--to", file, "--json")
	var m struct {
		SHA256 string `json:"sha256"`
		Counts struct {
			Companies int `json:"companies"`
		} `json:"counts"`
	}
	if err := json.NewDecoder(strings.NewReader(output)).Decode(&m); err != nil || m.Counts.Companies != 1 || len(m.SHA256) != 64 {
		t.Errorf("%s: %v", output, err)
	}
}
