package document

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The program reads nothing before its memory and its time are limited.
func TestTheProgramIsLimited(t *testing.T) {
	r := New(nil)
	stand := func(script string) (string, error) {
		r.program = filepath.Join(t.TempDir(), "pdftotext")
		if err := os.WriteFile(r.program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		all, err := r.Read(t.Context(), "c", "a.pdf", []byte("%PDF-1.7\n"))
		if err != nil {
			return "", err
		}
		return all[0].Text, nil
	}
	const whole = "cat >/dev/null; "
	text, err := stand(whole + `for l in v t f c; do ulimit -$l; done; env | sort`)
	if want := "286720 30 0 0 HOME=/nonexistent LC_ALL=C.UTF-8 PATH="; err != nil || !strings.HasPrefix(text, want) {
		t.Errorf("%q, %v", text, err)
	}
	for script, want := range map[string]Reason{
		"head -c 300000000 /dev/zero | tr '\\0' x":      TooLarge,
		whole + "echo 'Incorrect password' >&2; exit 1": Encrypted,
		whole + "exit 3":     Protected,
		whole + "kill -9 $$": TooComplex,
		whole + "echo terminate: std::bad_alloc >&2; exit 1": TooComplex,
		whole + "exit 1":          Damaged,
		whole + "printf '\\f\\f'": NoText,
	} {
		_, err := stand(script)
		var f *Fault
		if !errors.As(err, &f) || f.Reason != want {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
	// A child of the program ends with it.
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(t.TempDir(), "started")
	r.program = filepath.Join(t.TempDir(), "pdftotext")
	if err := unix.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nsleep 600 & echo $! >%s; wait\n", started)
	if err := os.WriteFile(r.program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := r.Read(ctx, "c", "a.pdf", []byte("%PDF-1.7\n"))
		ended <- err
	}()
	child, err := os.ReadFile(started)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(child)))
	if err != nil {
		t.Fatal(err)
	}
	process, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(process) }()
	poll := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	for n := 0; n == 0; { // readable when the process has ended
		if n, err = unix.Poll(poll, 60_000); err == nil && n == 0 {
			t.Fatal("a child goes on")
		} else if err != nil && !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
		n = max(n, 0)
	}
}
