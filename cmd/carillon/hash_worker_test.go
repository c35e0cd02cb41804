package main

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/argon"
	"carillon/internal/config"
)

// TestMain is also the process for password hashes of the programs that the tests serve.
func TestMain(m *testing.M) {
	if slices.Equal(os.Args[1:], hashWorkerArgs) {
		main()
	}
	os.Exit(m.Run())
}

func TestServeHasHashesComputedBesideIt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ops := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file := demo(t, "--ops-addr", ops)
	ready, err := config.ReadReady(file)
	if err != nil {
		t.Fatal(err)
	}
	before := metric(t, ops, "carillon_password_hashes_total")
	body := `{"email":"` + ready.Email + `","password":"` + ready.Password + `"}`
	resp, err := http.Post(ready.BaseURL+"/functions/v1/auth?grant_type=password", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("signed in with %s", resp.Status)
	}
	// How many of them came late, on a machine that is busy, is not told here.
	if n := metric(t, ops, "carillon_password_hashes_total"); n != before+1 {
		t.Errorf("%d hashes after one sign-in, %d before", n, before)
	}
	if n := metric(t, ops, "carillon_hash_process_deaths_total"); n != 0 {
		t.Errorf("the process died %d times", n)
	}
}

// metric reads one of a running program's, whose private address may be served a little later than the other.
func metric(t *testing.T, ops, name string) int {
	t.Helper()
	page, err := http.Get("http://" + ops + "/metrics")
	for deadline := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
		page, err = http.Get("http://" + ops + "/metrics")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	for lines := bufio.NewScanner(page.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

func TestHashWorkerIsNobodysCommand(t *testing.T) {
	s := newStrict(t)
	help := s.try(nil, "--help")
	if !strings.Contains(help.stdout, "serve") || strings.Contains(help.stdout, hashWorkerArgs[0]) {
		t.Errorf("the help says:\n%s", help.stdout)
	}
	c := argon.NewChild(hashWorkerArgs, argon.Options{})
	defer c.Close()
	j := argon.Job{Params: argon.Params{Memory: 64, Passes: 1, Threads: 1}, Secret: []byte("pw"), Salt: []byte("0123456789abcdef"), Size: 32}
	want, err := argon.Here{}.Sum(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Sum(t.Context(), j); err != nil || !bytes.Equal(got, want) || c.Stats().Beside != 1 {
		t.Errorf("it gives %x, %v, want %x; %+v", got, err, want, c.Stats())
	}
}
