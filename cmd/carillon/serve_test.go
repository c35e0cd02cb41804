package main

import (
	"bytes"
	"net"
	"runtime"
	"strings"
	"testing"
)

func TestSQLiteGetsAThreadMoreUnlessTheOperatorSaysHowMany(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for said, want := range map[string]int{"": before + 1, "7": before} {
		runtime.GOMAXPROCS(before)
		e := &environment{Lookup: func(name string) (string, bool) { return said, name == "GOMAXPROCS" && said != "" }}
		e.addThread()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("with GOMAXPROCS %q there are %d threads, want %d", said, got, want)
		}
	}
}

func TestServeSaysWhatToDoAboutATakenPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"serve", "--demo", "--data", t.TempDir(), "--addr", l.Addr().String()}, environment{
		Stdout: &out, Stderr: &errs, Lookup: sharedThreads,
	})
	if code != exitFailed || !strings.Contains(errs.String(),
		"another program listens on "+l.Addr().String()+" already: choose another address with --addr") {
		t.Errorf("code %d\n%s", code, &errs)
	}
}

func TestServeSaysWhatToDoAboutAFolderThatIsNotWritable(t *testing.T) {
	t.Parallel()
	const folder = "/sys/carillon" // even root cannot create it
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"serve", "--data", folder, "--addr", "127.0.0.1:0"}, environment{
		Stdout: &out, Stderr: &errs, Lookup: sharedThreads,
	})
	if code != exitFailed || !strings.Contains(errs.String(),
		" cannot write in the data folder /sys/carillon: name another folder with --data") {
		t.Errorf("code %d\n%s", code, &errs)
	}
}
