package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAgentsAreTestedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	ready, dir := demo(t), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	try := func(code int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		got := run(t.Context(), append([]string{"agents", "test", "--ready-file", ready}, args...), environment{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lookup: func(string) (string, bool) { return "", false },
		})
		if got != code {
			t.Fatalf("%v: code %d, want %d\n%s%s", args, got, code, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	good := write("good.yaml", `
agent: Reception
cases:
  - name: weather
    turns: [{say: What happens if it rains?, expect: {article: Weather}}]
  - name: judged
    turns: [{say: Hello, expect: {judge: It is friendly}}]
`)
	if out := try(exitOK, good); !strings.Contains(out, "SKIP  tests / judged (en)") ||
		!strings.Contains(out, "judge: skipped: No engine judges") || !strings.Contains(out, "1 passed, 0 failed, 1 skipped in ") {
		t.Error(out)
	}
	page, err := os.ReadFile("../../docs/guides/agent-tests.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if out := try(exitOK, write("guide.yaml", example)); !strings.Contains(out, "4 passed, 0 failed in ") {
		t.Errorf("the guide's example: %s", out)
	}
	bad := write("bad.yaml", `
cases:
  - {name: a <b>, turns: [{say: What happens if it rains?, expect: {article: Luggage, lacks: [sail]}}]}
`)
	report := filepath.Join(dir, "report.xml")
	out := try(exitFailed, bad, "--agent", "Reception", "--junit", report)
	for _, want := range []string{
		"FAIL  tests / a <b> (en)\n", "      > What happens if it rains?\n", "      < We sail when it rains",
		"        article: expected Luggage, got Weather\n",
		"0 passed, 1 failed in ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var junit junitSuites
	if err := xml.Unmarshal(text, &junit); err != nil || junit.Suites[0].Failures != 1 || junit.Suites[0].Cases[0].Name != "a <b>" ||
		!strings.Contains(junit.Suites[0].Cases[0].Failure.Text, "article: expected Luggage, got Weather") {
		t.Errorf("%v\n%s", err, text)
	}
	if out := try(exitFailed, bad, "--agent", "Reception", "--json"); !strings.Contains(out, `"rule": "article"`) {
		t.Error(out)
	}
	broken := write("broken.yaml", "agent: Reception\ncases:\n  - nam: x\n")
	if out := try(exitUsage, broken); !strings.Contains(out, `broken.yaml:3:5: unknown field "nam": did you mean name?`) {
		t.Error(out)
	}
	try(exitUsage, filepath.Join(dir, "missing.yaml"))
	try(exitUsage, good, "--agent", "Nobody")
	try(exitUsage)
	try(exitUsage, good, "--url", "http://127.0.0.1:1", "--token", "x")
	if out := try(exitOK, "--agent", "Reception"); !strings.Contains(out, "71 passed, 0 failed in ") {
		t.Error(out)
	}
}
