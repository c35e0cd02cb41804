package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// signedIn starts a program with an owner account, which its commands use to sign in.
func signedIn(t *testing.T) *running {
	t.Helper()
	p := serveEmpty(t)
	p.env = map[string]string{
		"CARILLON_READY_FILE": filepath.Join(p.dir, "ready.json"), "CARILLON_EMAIL": "owner@acme.test",
		"CARILLON_PASSWORD": "correct-horse-battery",
	}
	setUp := p.file("a.yaml", "companies: [{name: Acme, users: [{email: owner@acme.test, password: correct-horse-battery, role: owner}]}]")
	p.try("apply", "-f", setUp, "--data", filepath.Join(p.dir, "data")).want(t, 0, "user 1 created", "")
	return p
}

func TestAgentsAreSetFromAFileAndRemoved(t *testing.T) {
	t.Parallel()
	p := signedIn(t)
	file := p.file("ann.yaml", "name: Ann\nlanguage: es\ngreeting: Hola\ntools: [search]\n")
	p.try("agents", "set", "-f", file).want(t, 0, ") added\n", "")
	p.file("ann.yaml", "name: Ann\nengine: openai\n")
	p.try("agents", "set", "-f", file).want(t, 0, ") replaced\n",
		"warning: the agent Ann of engine openai names no server: the engine builtin responds\n")
	p.try("agents", "list").want(t, 0, "Ann   en        openai", "")
	shown := p.try("agents", "show", "Ann", "--json").stdout
	p.try("agents", "set", "-f", p.file("ann.json", strings.Replace(shown, `"Ann"`, `"Bea"`, 1))).want(t, 0, "agent Bea (", "")
	p.try("agents", "show", "Bea").want(t, 0, "engine     openai\n", "")
	p.file("ann.yaml", "name: Ann\ntools: [sing]\n")
	p.try("agents", "set", "-f", file).want(t, exitFailed, "", file+":2:9: tools must be one of search, handoff, hang_up")
	p.try("agents", "remove", "Ann").want(t, exitFailed, "", "the company has no agent Ann")
	p.try("agents", "remove", "Bea").want(t, 0, ") removed\n", "")
	p.try("agents", "list", "--json").want(t, 0, "[]\n", "")
}

func TestSendersAreAddedShownAndRemoved(t *testing.T) {
	t.Parallel()
	p := signedIn(t)
	add := []string{
		"senders", "add", "--provider", "whatsapp", "--number", "15555550100", "--id", "main", "--setting", "phone_number_id=1",
		"--setting", "waba_id=2",
	}
	p.try(add...).want(t, exitFailed, "", "  field: settings.access_token\n")
	secrets := p.file("secret", "not-to-be-shown\n")
	for _, name := range []string{"access_token", "app_secret", "verify_token"} {
		add = append(add, "--setting-file", name+"="+secrets)
	}
	p.try(add...).want(t, 0, "sender main (messaging, whatsapp) added\n", "Next: carillon keys create")
	r := p.try("senders", "show", "main")
	r.want(t, 0, "setting phone_number_id", "")
	r.want(t, 0, "6s\n", "")
	for _, r := range []result{r, p.try("senders", "show", "main", "--json"), p.try("senders", "list", "--json")} {
		if strings.Contains(r.stdout+r.stderr, "not-to-be-shown") {
			t.Errorf("a secret is shown: %s", r.stdout)
		}
	}
	p.try("senders", "remove", "main").want(t, 0, "sender main removed\n", "")
	p.try("senders", "remove", "main").want(t, exitFailed, "", "not_found: Sender not found")
}

func TestUsersChangePasswordsAndAreRemoved(t *testing.T) {
	t.Parallel()
	p := signedIn(t)
	p.try("users", "add", "--email", "ana@acme.test", "--role", "admin", "--password", "first-horse-battery").want(t, 0,
		"ana@acme.test is admin", "")
	p.try("users", "list").want(t, 0, "ana@acme.test    ana", "")
	p.try("users", "password", "ana@acme.test", "--password", "second-horse-battery").want(t, 0,
		"the password of ana@acme.test is changed", "")
	ana := []string{"--as-email", "ana@acme.test", "--as-password"}
	p.try(append([]string{"users", "password", "--password", "third-horse-battery"},
		append(ana, "first-horse-battery")...)...).want(t, exitFailed, "", "unauthorized")
	p.try(append([]string{"users", "password", "--password", "third-horse-battery"},
		append(ana, "second-horse-battery")...)...).want(t, 0, "is changed", "")
	p.try("users", "sign-out", "--email", "ana@acme.test", "--password", "third-horse-battery").want(t, 0,
		"your other sessions have ended\n", "")
	p.try("users", "sign-out", "ana@acme.test").want(t, 0, "the sessions of ana@acme.test have ended\n", "")
	p.try("users", "remove", "nobody@acme.test").want(t, exitFailed, "", "the company has no user nobody@acme.test")
	p.try("users", "remove", "ana@acme.test").want(t, 0, "ana@acme.test removed\n", "")
	p.try("keys", "list", "--email", "ana@acme.test", "--password", "third-horse-battery").want(t, exitFailed, "", "unauthorized")
}
