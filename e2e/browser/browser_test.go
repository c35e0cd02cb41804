// Package browser tries the pages of the panel and of the widgets in a real browser: the tests themselves are in web/e2e.
package browser

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/config"
	"carillon/web"
)

// need skips the test for want of something, and fails it in CI.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func TestPagesInABrowser(t *testing.T) {
	chromium := os.Getenv("CHROMIUM")
	if chromium == "" {
		chromium, _ = exec.LookPath("chromium")
	}
	node, err := exec.LookPath("node")
	need(t, err == nil, "the pages are tried by Node, which is not installed")
	need(t, chromium != "", "the pages are tried in Chromium, which is not installed (or name it in CHROMIUM)")
	need(t, web.Embedded().Built(), "the pages are not built: run make web")

	ready := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	files, err := filepath.Glob("../../web/e2e/*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in web/e2e: %v", err)
	}
	for i := range files {
		files[i] = "e2e/" + filepath.Base(files[i])
	}
	c := exec.CommandContext(ctx, node, append([]string{"--test", "--test-reporter=spec", "--test-concurrency=1"}, files...)...) //nolint:gosec // found above
	c.Dir = "../../web"
	c.Env = append(os.Environ(), "CARILLON_READY="+ready, "CHROMIUM="+chromium, "SHOTS="+os.Getenv("SHOTS"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// start runs the demo until the test ends and returns the file that says where. The widgets' pages are on a site of their own.
func start(t *testing.T) (ready string) {
	t.Helper()
	dir := t.TempDir()
	ready = filepath.Join(dir, "ready.json")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(map[string][]string{
		"addr": {"127.0.0.1:" + port}, "data": {dir}, "demo": {"true"}, "ready-file": {ready}, "base-url": {"http://panel.localhost:" + port},
		"widget-url": {"http://widget.localhost:" + port}, "password-memory": {"8"}, "password-passes": {"1"}, "log-level": {"warn"},
	}, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(cfg, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("stop the program: %v", err)
		}
	})
	return ready
}

// What a customer's page loads because of the chat stays small (compressed bytes).
func TestTheChatIsSmall(t *testing.T) {
	need(t, web.Embedded().Built(), "the pages are not built: run make web")
	for pattern, most := range map[string]int64{"embed/chat.js.gz": 2 << 10, "chat/chat-assets/*.gz": 25 << 10} {
		files, err := filepath.Glob("../../web/dist/" + pattern)
		if err != nil || len(files) == 0 {
			t.Errorf("no %s: %v", pattern, err)
		}
		var total int64
		for _, name := range files {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			total += info.Size()
		}
		if total > most {
			t.Errorf("%s has %d bytes, more than %d", pattern, total, most)
		}
	}
}
