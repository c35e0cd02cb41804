package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store/storetest"
)

func demo(t *testing.T, change func(c *config.Config)) (*app.App, *bytes.Buffer) {
	t.Helper()
	cfg := config.Config{
		Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
	}
	if change != nil {
		change(&cfg)
	}
	var out bytes.Buffer
	a, err := app.New(cfg, app.Options{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a, &out
}

// curl sends the request of the printed curl line.
func curl(t *testing.T, line string) map[string]any {
	t.Helper()
	parts := strings.Split(line, "'")
	resp, err := http.Post(parts[1], "application/json", strings.NewReader(parts[5]))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, resp, http.StatusOK)
}

func decode(t *testing.T, resp *http.Response, status int) map[string]any {
	t.Helper()
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("answered %d: %s", resp.StatusCode, b)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

func TestPrintedCurlLineDeliversAMessage(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			a, out := demo(t, func(c *config.Config) {
				if engine == "postgres" {
					c.DatabaseURL = config.Secret(storetest.PatientPostgres(t))
					c.MasterKeyFile = storetest.MasterKey(t)
				}
			})
			_, line, _ := strings.Cut(out.String(), "curl -s ")
			line, _, _ = strings.Cut(line, "\n")
			id, _ := curl(t, line)["notification_id"].(string)
			_, key, _ := strings.Cut(line, "access_key=")
			key, _, _ = strings.Cut(key, "'")
			var states []string
			app.Within(t, "it is read", func() bool {
				resp, err := http.Get(a.BaseURL() + "/functions/v1/notify/" + id + "?access_key=" + key)
				if err != nil {
					t.Fatal(err)
				}
				v := decode(t, resp, http.StatusOK)
				state := v["recipients"].([]any)[0].(map[string]any)["state"].(string)
				if len(states) == 0 || states[len(states)-1] != state {
					states = append(states, state)
				}
				return state == "read"
			})
			// A busy machine may miss states: the observed ones must be in order and end as expected.
			order := []string{"queued", "sending", "sent", "delivered", "read"}
			ranks := make([]int, len(states))
			for i, s := range states {
				ranks[i] = slices.Index(order, s)
			}
			if !slices.IsSorted(ranks) || ranks[0] < 0 || states[len(states)-1] != "read" {
				t.Errorf("the message went %v", states)
			}
		})
	}
}

func TestStoppedProgramStartsAgainOnItsData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 3 {
		cfg := config.Config{
			Addr: "127.0.0.1:0", Data: dir, Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
		}
		a, err := app.New(cfg, app.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		second, err := app.New(cfg, app.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "in use by another carillon") {
			t.Errorf("a second process on the folder got %v", err)
		}
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func TestASignalWhileStartingIsAStop(t *testing.T) {
	t.Parallel()
	cfg := config.Config{
		Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
	}
	ctx, signal := context.WithCancel(t.Context())
	// The program has begun to announce readiness.
	a, err := app.New(cfg, app.Options{Stdout: writerFunc(func() { signal() })})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Run(ctx); err != nil {
		t.Errorf("while it was getting ready: %v", err)
	}
	if a, err = app.New(cfg, app.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Run(ctx); err != nil {
		t.Errorf("from the first moment on: %v", err)
	}
}

// atReady is a log handler that calls itself at the log line that announces readiness.
type atReady func()

func (atReady) Enabled(context.Context, slog.Level) bool { return true }
func (h atReady) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h atReady) WithGroup(string) slog.Handler          { return h }
func (h atReady) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "ready" {
		h()
	}
	return nil
}

func TestTheReadyLineNamesTheNodeAsTheOthersDo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	cfg := config.Config{
		Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
	}
	a, err := app.New(cfg, app.Options{Logger: slog.New(slog.NewJSONHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var x struct{ Msg, Node string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		if x.Msg == "ready" {
			if !carillon.ValidUUID(x.Node) {
				t.Errorf("node %q", x.Node)
			}
			return
		}
	}
	t.Errorf("the log:\n%s", &out)
}

// A database failure after the program begins to serve must not end it: the start makes no further queries.
func TestNothingIsAskedOfTheDatabaseOnceRequestsAreServed(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute}
	ctx, cut := context.WithCancel(t.Context())
	var out bytes.Buffer
	a, err := app.New(cfg, app.Options{Stdout: &out, Logger: slog.New(atReady(cut))})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(ctx); err != nil {
		t.Fatalf("it ended, though it served: %v", err)
	}
	if ctx.Err() == nil || !strings.Contains(out.String(), "users add --first --token first_") {
		t.Errorf("it said %q", out.String())
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestASignalIsToldToABalancerBeforeConnectionsAreRefused(t *testing.T) {
	t.Parallel()
	cfg := config.Config{
		Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
		ShutdownDelay: time.Hour, ReadyFile: filepath.Join(t.TempDir(), "ready.json"),
	}
	a, err := app.New(cfg, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, signal := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	var ready *config.Ready
	app.Within(t, "it is ready", func() bool {
		ready, err = config.ReadReady(cfg.ReadyFile)
		return err == nil
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // a new connection for each request
	status := func(path string) int {
		resp, err := client.Get(ready.BaseURL + path)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	app.Within(t, "requests are wanted", func() bool { return status("/readyz") == http.StatusOK })
	signal()
	app.Within(t, "they are not any more", func() bool { return status("/readyz") == http.StatusServiceUnavailable })
	if got := status("/functions/v1/notify?access_key=" + ready.AccessKey); got != http.StatusOK {
		t.Errorf("a request that came all the same was answered %d", got)
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := status("/readyz"); got != 0 {
		t.Errorf("after the stop it answers %d", got)
	}
}

// writerFunc is called at each write.
type writerFunc func()

func (f writerFunc) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

func TestStopEndsTheOperatorsAddressToo(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, func(c *config.Config) { c.OpsAddr = "127.0.0.1:0" })
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestSlowClientsDoNotHoldTheServer(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, func(c *config.Config) { c.MaxConnections = 300 })
	host := strings.TrimPrefix(a.BaseURL(), "http://")
	for range 200 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := fmt.Fprintf(c, "POST /functions/v1/notify HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := (&http.Client{Timeout: app.Hung}).Get(a.BaseURL() + "/healthz")
	if err != nil {
		t.Fatalf("with 200 slow clients: %v", err)
	}
	decode(t, resp, http.StatusOK)
}
