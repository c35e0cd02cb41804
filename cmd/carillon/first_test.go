package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

var (
	firstCommand = regexp.MustCompile(`(?m)^ +carillon (users add --first .*)$`)
	nextCommand  = regexp.MustCompile(`(?m)^Next: carillon (.*)\n\z`)
	word         = regexp.MustCompile(`'[^']*'|"[^"]*"|[^ ]+`)
)

// words splits a printed command like a shell. It does not support quotes inside a quoted word.
func words(command string) []string {
	all := word.FindAllString(command, -1)
	for i := range all {
		all[i] = strings.Trim(all[i], `'"`)
	}
	return all
}

// TestFirstStepsAreWhatTheProgramPrints starts with an empty installation and follows the "Next:" command of serve and
// of each later command until the sandbox has delivered a message. The program is never restarted.
func TestFirstStepsAreWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	p := serveEmpty(t)
	p.typed = "correct-horse-battery"
	found := firstCommand.FindStringSubmatch(p.printed)
	if found == nil {
		t.Fatalf("serve printed no command:\n%s", p.printed)
	}
	var ran []string
	for command := found[1]; ; {
		args := words(command)
		ran = append(ran, strings.Join(args[:2], " "))
		r := p.try(args...)
		if r.code != exitOK {
			t.Fatalf("carillon %s: code %d\n%s%s", command, r.code, r.stdout, r.stderr)
		}
		if args[0] == "notifications" {
			p.delivered(args)
			break
		}
		next := nextCommand.FindStringSubmatch(r.stderr)
		if next == nil {
			t.Fatalf("after carillon %s the last line names no command:\n%s%s", command, r.stdout, r.stderr)
		}
		command = next[1]
	}
	want := "users add, senders add, keys create, templates create, send --template, notifications watch"
	if got := strings.Join(ran, ", "); got != want {
		t.Errorf("ran %s\nwant %s", got, want)
	}
}

// delivered checks that the message of the last command was delivered.
func (p *running) delivered(watch []string) {
	p.t.Helper()
	show := []string{"notifications", "show", watch[2], "--json"}
	for i, a := range watch {
		if a == "--url" || a == "--key" {
			show = append(show, watch[i:i+2]...)
		}
	}
	r := p.try(show...)
	var n struct {
		Recipients []struct{ State string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &n); err != nil || len(n.Recipients) != 1 {
		p.t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	if state := n.Recipients[0].State; state != "delivered" && state != "read" {
		p.t.Errorf("the message is %s", state)
	}
}
