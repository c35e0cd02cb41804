package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carillon/internal/base/config"
	"carillon/internal/base/need"
)

// TestDevelopersGuideRuns runs every command of the guide against the demo, in page order.
func TestDevelopersGuideRuns(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "jq"} {
		need.Program(t, tool, tool)
	}
	page, err := os.ReadFile("../../docs/guides/develop.md")
	if err != nil {
		t.Fatal(err)
	}
	ready, err := config.ReadReady(demo(t))
	if err != nil {
		t.Fatal(err)
	}
	script := "set -euo pipefail\n"
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		script += block[1]
	}
	const base = "http://127.0.0.1:8080"
	if strings.Count(script, base) != 1 {
		t.Fatalf("the guide names the address %d times, and only BASE should", strings.Count(script, base))
	}
	c := exec.CommandContext(t.Context(), "bash", "-c", strings.Replace(script, base, ready.BaseURL, 1))
	c.Env = append(os.Environ(), "no_proxy=127.0.0.1")
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs.String())
	}
	for _, want := range []string{
		"booking_confirmed en\n", "2098-02-01T08:00:00Z\n", "\n1\n", `"error": "validation_failed"`, `"field": "contact.number"`,
		`"number": "34600111222"`, `"used": `,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if slices.Contains(strings.Split(string(out), "\n"), "null") {
		t.Errorf("a response lacked what the guide reads from it:\n%s", out)
	}
}

// TestWhatTheDemoPrintsWorksWhereverItIs runs the printed command against a demo on a non-default port and folder.
func TestWhatTheDemoPrintsWorksWhereverItIs(t *testing.T) {
	t.Parallel()
	file, command := demoPrinting(t)
	s := newStrict(t)
	env := map[string]string{"CARILLON_URL": "", "CARILLON_ACCESS_KEY": ""}
	id := strings.TrimSpace(s.try(env, "send", "--template", "hello", "--to", "34600111222", "--var", "body_text_0=Ana",
		"--ready-file", file).stdout)
	words := strings.Fields(strings.Replace(command, "<notification_id>", id, 1))
	s.try(env, append(words[1:], "--timeout", "1m")...).want(t, 0, "read", "")
}
