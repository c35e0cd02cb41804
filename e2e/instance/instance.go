// Package instance runs the whole program within a test, and stops it when the test ends.
package instance

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/edge/panel/contracttest"
	"carillon/internal/store/storetest"
)

// Instance is a running program.
type Instance struct {
	*config.Ready // its addresses and, in the demo, its credentials

	App     *app.App
	File    string // path of the ready file in the program's folder
	Printed string // output at the start
}

// hung is the time after which a start or an end of the program counts as hung.
const hung = 10 * time.Minute

// Start runs the program until the test ends. By default it uses SQLite in a separate folder and any free port. Later
// settings override earlier ones. If the test fails, the end of the log is shown, unless the options have a logger.
func Start(t *testing.T, o app.Options, settings ...map[string][]string) *Instance {
	t.Helper()
	dir := t.TempDir()
	all := map[string][]string{
		"addr": {"127.0.0.1:0"}, "data": {dir}, "ready-file": {filepath.Join(dir, "ready.json")},
		"password-memory": {"8"}, "password-passes": {"1"}, // password hashing is not under test
	}
	for _, more := range settings {
		maps.Copy(all, more)
	}
	if all["database-url"] == nil && all["data"][0] == dir {
		if all["master-key-file"] == nil { // a database without one would be refused
			all["master-key-file"] = []string{storetest.MasterKey(t)}
		}
		storetest.Fill(t, dir)
	}
	cfg, err := config.Load(all, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if o.Stdout == nil {
		o.Stdout = &printed
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(logOf(t), nil))
	}
	o.Wrap = func(next http.Handler) http.Handler { return contracttest.Check(t, next) }
	a, err := app.New(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	if err := a.Start(ctx); err != nil {
		t.Fatalf("start the program: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hung)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Errorf("stop the program: %v", err)
		}
	})
	i := &Instance{App: a, File: cfg.ReadyFile, Printed: printed.String()}
	if i.Ready, err = config.ReadReady(i.File); err != nil {
		t.Fatal(err)
	}
	return i
}

// FreeAddress returns an unused address.
func FreeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// tail is the end of a log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxLogged = 64 << 10 // bytes that are shown

// logOf returns a log that is shown if the test has failed and the program has ended.
func logOf(t *testing.T) *tail {
	t.Helper()
	x := new(tail)
	t.Cleanup(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if t.Failed() && len(x.text) > 0 {
			t.Logf("the program's log:\n%s", x.text[max(0, len(x.text)-maxLogged):])
		}
	})
	return x
}

func (x *tail) Write(line []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.text) > 2*maxLogged {
		x.text = append(x.text[:0], x.text[len(x.text)-maxLogged:]...)
	}
	x.text = append(x.text, line...)
	return len(line), nil
}
