package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/config"
	"carillon/internal/base/schedule"
)

func (r result) want(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.stdout, stdout) || !strings.Contains(r.stderr, stderr) {
		t.Errorf("code %d, want %d\nstdout %swant   %s\nstderr %swant   %s", r.code, code, r.stdout, stdout, r.stderr, stderr)
	}
}

func TestMistakesOnTheCommandLineAreUsage(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sned"}, "unexpected argument sned"},
		{[]string{"send", "--to", "34600111222"}, "missing flags: --template=NAME"},
		{[]string{"send", "--template", "hello", "--from", "main"}, "give recipients by --to or by --csv"},
		{[]string{"send", "--template", "hello", "--to", "34600111222"}, "--from is required"},
		{[]string{"send", "--template", "hello", "--from", "main", "--to", "34600111222", "--var", "x"}, "--var must be of the form"},
		{[]string{"send", "--template", "hello", "--from", "main", "--to", "34600111222", "--tz", "UTC"}, "--tz goes with --at"},
		{[]string{"send", "--template", "hello", "--from", "main", "--csv", "nowhere.csv"}, "nowhere.csv"},
		{[]string{"serve", "--log-format", "xml"}, "--log-format:"},
		{[]string{"notifications", "list", "--url", "carillon.test"}, "must look like http://127.0.0.1:8080"},
		{[]string{"users", "add", "--email", "ana"}, "--email must be an address"},
		{[]string{"users", "add", "--email", "a@b.test", "--first"}, "--first and --company go together"},
		{[]string{"users", "add", "--email", "a@b.test", "--first", "--company", "A"}, "--first needs --token"},
		{[]string{"maintenance", "on", "--until", "soon"}, "--until must be an instant"},
		{[]string{"templates", "create", "--name", "x"}, "are required, or --file"},
	} {
		s.try(nil, c.args...).want(t, exitUsage, "", c.want)
	}
	if len(s.asked) > 0 {
		t.Errorf("a mistake reached the program: %v", s.asked)
	}
	s.try(map[string]string{"CARILLON_ACCESS_KEY": ""}, "notifications", "list").want(t, exitUsage, "", "no API key")
	s.try(nil, "send", "--help").want(t, exitOK, "--csv=FILE", "")
	s.try(nil).want(t, exitOK, "Usage: carillon <command>", "")
}

func TestErrorsShowCodeDetailsAndRequestID(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	r := s.try(map[string]string{"CARILLON_ACCESS_KEY": "ck_other_secret"}, "templates", "list", "--from", "15550100100")
	r.want(t, exitFailed, "", "carillon: unauthorized: The access key is invalid\n  reason: invalid\n  request_id: req_401\n")
	if strings.Contains(r.stderr, "ck_other") {
		t.Error("the key is shown")
	}
	s.try(nil, "notifications", "show", "n-9").want(t, exitFailed, "", "not_found: Route not found")
	s.answer("/functions/v1/notify/n-9", `200 <html>`)
	s.try(nil, "notifications", "show", "n-9").want(t, exitFailed, "", "cannot read the response")
	s.answer("/functions/v1/notify/n-9", `302 {}`)
	s.try(nil, "notifications", "show", "n-9").want(t, exitFailed, "", "unexpected_answer: 302 Found")
}

func TestUnreachableProgramIsToldWithoutTheKey(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	r := s.try(map[string]string{"CARILLON_URL": "http://127.0.0.1:1"}, "templates", "list", "--from", "15550100100")
	r.want(t, exitFailed, "", "carillon: no response from http://127.0.0.1:1: ")
	if strings.Count(r.stderr, "trying again") != 2 {
		t.Errorf("not three tries:\n%s", r.stderr)
	}
}

func TestCommandsAskAsTheContractSays(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.try(nil, "templates", "list", "--from", "15550100100").want(t, 0, "1   hello  en        UTILITY   APPROVED  Hi {{1}}", "")
	s.try(nil, "templates", "create", "--name", "hello", "--lang", "en", "--category", "UTILITY", "--content", "Hi {{who}}", "--submit").
		want(t, 0, "template hello (7) is pending", "")
	s.try(nil, "templates", "submit", "7").want(t, 0, "template hello (7) is pending", "")
	s.try(nil, "notifications", "cancel", "n-1").want(t, 0, "3 canceled, 1 already sent", "")
	s.try(nil, "keys", "create", "--label", "ci", "--scope", "notify:send").want(t, 0, "ck_made\n", "key k-1 (ci) made")
	s.try(nil, "keys", "revoke", "k-1", "--json").want(t, 0, `"revoked": true`, "")
	s.try(nil, "maintenance", "off").want(t, 0, "no maintenance", "")
	s.try(nil, "users", "add", "--email", "ana@a.test", "--role", "teammate", "--password", "long-enough-word").want(t, 0,
		"ana@a.test is teammate (u-1)", "")
	s.try(map[string]string{"CARILLON_PASSWORD": "wrong"}, "keys", "list").want(t, exitFailed, "", "unauthorized: Wrong e-mail or password")
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.answer("/panel/v1/keys",
		`200 {"data":[{"id":"k-1","label":"a","prefix":"ck_1","scopes":["*"],"is_active":true}],"next_cursor":"k-1"}`,
		`200 {"data":[{"id":"k-2","label":"b","prefix":"ck_2","scopes":["*"],"is_active":false,`+
			`"revoked_at":"2026-01-01T00:00:00Z"}],"next_cursor":null}`)
	r := s.try(nil, "keys", "list", "--json")
	var keys []key
	if err := json.Unmarshal([]byte(r.stdout), &keys); err != nil || len(keys) != 2 {
		t.Errorf("%v in %s", err, r.stdout)
	}
}

func TestReadyFileGivesAddressAndKeyToItsOwnProgramAlone(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	name := filepath.Join(t.TempDir(), "ready.json")
	ready := config.Ready{BaseURL: s.url, DemoFacts: &config.DemoFacts{AccessKey: testKey, Sender: "15550100100"}}
	if err := ready.WriteFile(name); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"CARILLON_READY_FILE": name, "CARILLON_URL": "", "CARILLON_ACCESS_KEY": ""}
	s.try(env, "templates", "list").want(t, 0, "hello", "")
	env["CARILLON_URL"] = s.url + "/"
	s.try(env, "templates", "list").want(t, 0, "hello", "")
	env["CARILLON_URL"] = "http://127.0.0.1:1"
	s.try(env, "templates", "list").want(t, exitUsage, "", "no API key")
	delete(env, "CARILLON_URL")
	s.try(env, "templates", "list", "--ready-file", "nowhere").want(t, exitUsage, "", "read the ready file")
}

func TestKeyComesFromAFile(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte(testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := map[string]string{"CARILLON_ACCESS_KEY": ""}
	s.try(none, "templates", "list", "--from", "15550100100", "--key-file", name).want(t, 0, "hello", "")
	none["CARILLON_ACCESS_KEY_FILE"] = name
	s.try(none, "templates", "list", "--from", "15550100100").want(t, 0, "hello", "")
	s.try(map[string]string{"CARILLON_ACCESS_KEY_FILE": name}, "templates", "list", "--from", "15550100100").want(t, exitUsage, "",
		"are both set")
}

func TestFlagsOfServeAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	var env environment
	cli := newCommands()
	parser, err := newParser(cli, &env, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse([]string{"serve", "--demo", "--addr=:0", "--provision=a,b", "--provision=c", "--database-url-file=f"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"demo": {"true"}, "addr": {":0"}, "provision": {"a,b", "c"}, "database-url-file": {"f"}}
	if diff := cmp.Diff(want, givenSettings(cli.Serve.Settings)); diff != "" {
		t.Error(diff)
	}
	flags := map[string]bool{}
	for _, n := range parser.Model.Children {
		if n.Name == "serve" {
			for _, f := range n.Flags {
				flags[f.Name] = true
			}
		}
	}
	for _, s := range config.Settings() {
		if !flags[s.Name] || s.Secret && !flags[s.Name+config.FileSuffix] {
			t.Errorf("serve has no flag --%s, or not its twin", s.Name)
		}
	}
}

func TestApplyTellsWhatChanged(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"apply", "-f", file, "--data", filepath.Join(dir, "data"), "--password-memory", "8", "--password-passes", "1"}
	write("companies: [{name: Acme, users: [{email: a@b.test, password: correct-horse}]}]")
	s.try(nil, args...).want(t, 0, "company 1 created; user 1 created\n", "")
	s.try(nil, append(args, "--json")...).want(t, 0, `"changed": false`, "")
	write("companies: [{name: Acme, uesrs: []}]")
	s.try(nil, args...).want(t, exitFailed, "", `a.yaml:1:26: unknown field "uesrs": did you mean users?`)
}

func TestApplySaysThatTheFolderIsInUse(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte("companies: [{name: Acme}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	held := holdFolder(t, filepath.Join(dir, "data"))
	r := s.try(nil, "apply", "-f", file, "--data", held)
	r.want(t, exitFailed, "", "is in use by another carillon")
	r.want(t, exitFailed, "", "it does not respond: it is starting or stopping")
}

func TestVersionTellsTheBuild(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.try(nil, "version").want(t, 0, "carillon ", "")
	s.try(nil, "version", "--json").want(t, 0, `"go": "go1.`, "")
	zones := schedule.BuiltIn().Version
	s.try(nil, "version").want(t, 0, "\ntime zones "+zones+"\n", "")
	s.try(nil, "version", "--json").want(t, 0, `"time_zones": "`+zones+`"`, "")
}
