package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/e2e/contract"
	"carillon/internal/store/storetest"
)

const contractDir = "../testdata/contract"

// TestContract runs every case of testdata/contract on both engines. The cases of a file with the same set-up share a
// program, unless a case must run alone.
func TestContract(t *testing.T) {
	t.Parallel()
	_, files, err := contract.Load(contractDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range engines() {
		for _, f := range files {
			t.Run(engine+"/"+strings.TrimSuffix(f.Name, ".json"), func(t *testing.T) {
				t.Parallel()
				shared := map[string]*program{}
				for _, c := range f.Cases {
					if name := setup(c); !c.Alone && !c.InAMinute && shared[name] == nil {
						shared[name] = start(t, engine, name)
					}
				}
				for _, c := range f.Cases {
					t.Run(c.Name, func(t *testing.T) {
						if c.Parallel || c.Alone || c.InAMinute {
							t.Parallel()
						}
						p := shared[setup(c)]
						switch {
						case c.InAMinute:
							p = startWith(t, engine, setup(c), inOneMinute(), nil)
						case c.Alone:
							p = start(t, engine, setup(c))
						}
						run(t, p, f, c)
					})
				}
			})
		}
	}
}

func setup(c contract.Case) string {
	name := c.Provision
	if name == "" {
		name = "provision.yaml"
	}
	return filepath.Join(contractDir, name)
}

// run executes the steps of a case.
func run(t *testing.T, p *program, f contract.File, c contract.Case) {
	t.Helper()
	vars := contract.NewVars()
	for i, s := range c.Steps {
		if s.SQL != "" {
			storetest.Exec(t, p.database, s.SQL)
			continue
		}
		faults := take(t, p, f, s, vars)
		if len(faults) > 0 {
			t.Fatalf("step %d:\n  %s", i+1, strings.Join(faults, "\n  "))
		}
	}
}

// retryPause is the pause before a waiting step is repeated; after patience it counts as hung.
const (
	retryPause = 50 * time.Millisecond
	patience   = 2 * time.Minute
)

// take executes a step, and repeats it until it succeeds if it may wait.
func take(t *testing.T, p *program, f contract.File, s contract.Step, vars *contract.Vars) []string {
	t.Helper()
	if s.After > 0 {
		<-time.After(time.Duration(s.After))
	}
	deadline := time.NewTimer(max(time.Duration(s.Within), patience))
	defer deadline.Stop()
	tick := time.NewTicker(retryPause)
	defer tick.Stop()
	for {
		faults := exchange(t, p, f, s, vars)
		if len(faults) == 0 || s.Within == 0 {
			return faults
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return append(faults, fmt.Sprintf("after %s", max(time.Duration(s.Within), patience)))
		}
	}
}

func exchange(t *testing.T, p *program, f contract.File, s contract.Step, vars *contract.Vars) []string {
	t.Helper()
	built, err := f.Build(s.Request, vars)
	if err != nil {
		t.Fatal(err)
	}
	res, body := send(t, p, built)
	faults := vars.Judge(s.Response, res.StatusCode, res.Header, body)
	if len(faults) > 0 {
		faults = append(faults, fmt.Sprintf("%s %s answered %d: %.2000s", built.Method, built.Target, res.StatusCode, body))
	}
	return faults
}

// send sends a request on a new connection, with the path unchanged and without following redirects.
func send(t *testing.T, p *program, built *contract.Request) (*http.Response, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, built.Method, p.url+built.Target, body(built))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = built.Header
	dialer := net.Dialer{}
	if built.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(built.From)}
	}
	next := &http.Transport{DialContext: dialer.DialContext}
	defer next.CloseIdleConnections()
	res, err := checked(t, next).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, answer
}

// body returns the request's body. Hiding the reader's type from net/http makes the request chunked.
func body(built *contract.Request) io.Reader {
	switch {
	case built.Body == nil:
		return nil
	case built.Chunked:
		return struct{ io.Reader }{bytes.NewReader(built.Body)}
	default:
		return bytes.NewReader(built.Body)
	}
}
