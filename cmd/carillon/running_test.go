package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// running is a `carillon serve` process on an empty data folder.
type running struct {
	t       *testing.T
	dir     string
	printed string // output of serve
	env     map[string]string
	log     bytes.Buffer // valid once the program has ended
	typed   string       // password that commands read from the terminal; empty means no terminal
}

// serveEmpty runs the program until the test ends.
func serveEmpty(t *testing.T) *running {
	t.Helper()
	p := &running{t: t, dir: t.TempDir(), env: map[string]string{}}
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{
			"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(p.dir, "data"), "--ready-file", filepath.Join(p.dir, "ready.json"),
			"--password-memory", "8", "--password-passes", "1",
		}, environment{Stdout: in, Stderr: &p.log, Lookup: sharedThreads})
		_ = in.Close()
	}()
	t.Cleanup(func() {
		stop()
		if c := <-code; c != exitOK {
			t.Errorf("serve ended with %d:\n%s", c, p.log.String())
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		p.printed += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "The token works once") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return p
}

// try runs a command.
func (p *running) try(args ...string) result {
	p.t.Helper()
	var out, errs bytes.Buffer
	code := run(p.t.Context(), args, environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Asks: p.typed != "",
		Secret: func(context.Context) (string, error) { return p.typed, nil },
		Lookup: func(name string) (string, bool) {
			v, set := p.env[name]
			return v, set
		},
	})
	return result{code, out.String(), errs.String()}
}

// file writes a file next to the data folder.
func (p *running) file(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

const setUp = `companies:
  - name: Acme
    users: [{email: owner@acme.test, password: {env: OWNER_PASSWORD}, role: owner}]
    keys: [{key: {file: key}, label: live}]
    senders: [{number: "15555550100", channel: messaging, provider: sandbox, default: true}]
    templates: [{sender: "15555550100", name: hello, language: en, category: UTILITY, body: "Hi {{1}}"}]
`

func TestApplyOfARunningProgram(t *testing.T) {
	p := serveEmpty(t)
	t.Setenv("OWNER_PASSWORD", "correct-horse-battery")
	p.file("key", "ck_handed_over\n")
	file := p.file("a.yaml", setUp)
	ready := filepath.Join(p.dir, "ready.json")
	apply := []string{"apply", "-f", file, "--data", filepath.Join(p.dir, "data")}
	if r := p.try(apply...); r.code != 0 || r.stdout != "company 1 created; user 1 created; key 1 created; sender 1 created; "+
		"template 1 created\n" || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	id := strings.TrimSpace(p.try("send", "--template", "hello", "--from", "15555550100", "--to", "34600111222", "--var", "body_text_0=Ana",
		"--ready-file", ready, "--key", "ck_handed_over").stdout)
	p.try("notifications", "watch", id, "--until", "delivered", "--timeout", "2m", "--ready-file", ready, "--key", "ck_handed_over").
		want(t, 0, "delivered", "")
	p.try(append(apply, "--json")...).want(t, 0, `"changed": false`, "")

	t.Setenv("OWNER_PASSWORD", "another-horse-battery")
	p.try(apply...).want(t, 0, "user 1 updated", "")
	p.try("keys", "list", "--ready-file", ready, "--email", "owner@acme.test", "--password", "another-horse-battery").want(t, 0, "live", "")

	// A syntax error in the file and an error that only the database reveals are reported as if no program were
	// running.
	file = p.file("a.yaml", strings.Replace(setUp, "users:", "uesrs:", 1))
	p.try(apply...).want(t, exitFailed, "", file+`:3:5: unknown field "uesrs": did you mean users?`)
	p.file("a.yaml", "companies:\n  - name: Acme\n    agents: [{name: Ann, knowledge: [nothing]}]\n")
	p.try(apply...).want(t, exitFailed, "", file+":3:38: knowledge names no knowledge of the company: nothing\n")

	// The warning about unreachable webhooks follows the running program's settings, not the command's own.
	p.file("a.yaml", "companies: [{name: Acme, webhooks: [{url: \"http://127.0.0.1:3000/hook\"}]}]\n")
	p.try(append(apply, "--media-allow-private", "127.0.0.1/32")...).want(t, 0, "webhook 1 created",
		"nothing can be delivered to the webhook at 127.0.0.1")
}
