package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/base/config"
)

// demo runs `carillon serve --demo` with extra flags until the test ends, and returns the path of its ready file.
func demo(t *testing.T, flags ...string) string {
	t.Helper()
	file, _ := demoPrinting(t, flags...)
	return file
}

// demoPrinting is demo that also returns the last command that the demo prints.
func demoPrinting(t *testing.T, flags ...string) (file, command string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "ready.json")
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var log bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{
			"serve", "--demo", "--addr", "127.0.0.1:0", "--data", dir, "--ready-file", file, "--password-memory", "8",
			"--password-passes", "1",
		}, flags...), environment{Stdout: in, Stderr: &log, Lookup: sharedThreads})
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "notifications watch") {
	}
	command = strings.TrimSpace(lines.Text())
	go func() { _, _ = io.Copy(io.Discard, out) }()
	t.Cleanup(func() {
		stop()
		if c := <-code; c != exitOK {
			t.Errorf("serve ended with %d:\n%s", c, log.String())
		}
	})
	return file, command
}

// sharedThreads is an environment that sets GOMAXPROCS, so that serve adds no thread: the tests share one process.
func sharedThreads(name string) (value string, set bool) { return "as they are", name == "GOMAXPROCS" }

func TestDemoFromTheCommandLine(t *testing.T) {
	t.Parallel()
	file := demo(t)
	try := func(code int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		got := run(t.Context(), append(args, "--ready-file", file), environment{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lookup: func(string) (string, bool) { return "", false },
		})
		if got != code {
			t.Fatalf("%v: code %d, want %d\n%s%s", args, got, code, out.String(), errs.String())
		}
		return out.String()
	}
	send := []string{"send", "--template", "hello", "--to", "34600111222", "--var", "body_text_0=Ana"}
	id := strings.TrimSpace(try(exitOK, send...))
	watched := try(exitOK, "notifications", "watch", id, "--timeout", "2m")
	for _, state := range []string{"queued", "sent", "delivered", "read"} {
		before, after, found := strings.Cut(watched, "34600111222  "+state+"\n")
		if !found {
			t.Fatalf("not %s: %s", state, before)
		}
		watched = after
	}
	if key := try(exitOK, "keys", "create", "--label", "ci", "--scope", "notify:read"); !strings.HasPrefix(key, "ck_") {
		t.Errorf("key %q", key)
	}
	if list := try(exitOK, "keys", "list"); !strings.Contains(list, "ci") {
		t.Error(list)
	}
	try(exitOK, "users", "add", "--email", "ana@demo.test", "--password", "long-enough-word", "--role", "teammate")
	// The owner can sign in during maintenance; otherwise nobody could end it.
	try(exitOK, "maintenance", "on", "--until", "30m")
	try(exitFailed, send...)
	try(exitOK, "maintenance", "off")
	try(exitOK, send...)
	waits := try(exitOK, "templates", "create", "--name", "on_command_slow", "--lang", "en", "--category", "UTILITY", "--content",
		"Hi", "--submit")
	_, waits, _ = strings.Cut(waits, "(")
	waits, _, _ = strings.Cut(waits, ")")
	try(exitOK, "templates", "review", waits, "--approve")
	if list := try(exitOK, "templates", "list"); !strings.Contains(list, "on_command_slow") {
		t.Errorf("the reviewer did not approve on command: %s", list)
	}
	if made := try(exitOK, "templates", "create", "--name", "made_here", "--lang", "en", "--category", "UTILITY", "--content",
		"Hi {{1}}"); !strings.Contains(made, "is draft") {
		t.Error(made)
	}
}

func TestReadyFileOfTheDemoIsComplete(t *testing.T) {
	t.Parallel()
	r, err := config.ReadReady(demo(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.BaseURL == "" || r.PanelURL == "" || r.Version == "" || r.AccessKey == "" || r.VoiceWidgetID == "" {
		t.Errorf("%+v", r)
	}
}
