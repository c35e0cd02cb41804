package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

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
	body := `{"email":"` + ready.Email + `","password":"` + ready.Password + `"}`
	resp, err := http.Post(ready.BaseURL+"/functions/v1/auth?grant_type=password", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("signed in with %s", resp.Status)
	}
	page, err := http.Get("http://" + ops + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(page.Body); err != nil {
		t.Fatal(err)
	}
	// One for the owner of the demo, one for the sign-in.
	for _, want := range []string{"carillon_password_hashes_total 2\n", "carillon_password_hashes_inside_total 0\n", "carillon_hash_process_deaths_total 0\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the metrics do not say %q", want)
		}
	}
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
