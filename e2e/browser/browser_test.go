// Package browser tries the pages of the panel and of the widgets in a real browser: the tests themselves are in web/e2e.
package browser

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/e2e/instance"
	"carillon/internal/app"
	"carillon/internal/need"
	"carillon/internal/sip"
	"carillon/internal/sso/ssotest"
	"carillon/internal/voice/voicetest"
	"carillon/internal/whatsapp/graphtest"
	"carillon/web"
)

// sounding are the files whose tests play and record sound, which a busy machine tears: they are a test of their own, for which the machine
// can be kept quiet.
var sounding = []string{"calls", "elevenlabs", "panel-aloud", "panel-voice", "voice", "voiceflow"}

func TestPagesThatSound(t *testing.T) {
	tryPages(t, "chromium", func(name string) bool { return slices.Contains(sounding, name) })
}

// The shell that Chromium has for this takes a quarter of the processor's time for a window, and plays not every sound.
func TestPagesInABrowser(t *testing.T) {
	tryPages(t, "chromium-headless-shell", func(name string) bool { return !slices.Contains(sounding, name) })
}

// tryPages runs the files of tests in web/e2e that are wanted, or of them those that PAGES names, in a browser (programs).
func tryPages(t *testing.T, browser string, wanted func(name string) bool) {
	t.Helper()
	node, chromium := programs(t, browser)
	files, err := filepath.Glob("../../web/e2e/" + cmp.Or(os.Getenv("PAGES"), "*") + ".test.mjs") // PAGES=voice runs one of them
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in web/e2e: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".test.mjs")
		if !wanted(name) {
			continue
		}
		with := chromium
		if name == "phone" && os.Getenv("CHROMIUM") == "" { // in the shell its log of messages does not rest at the last one
			if whole, err := exec.LookPath("chromium"); err == nil {
				with = whole
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages(t, node, with, file)
		})
	}
}

// programs are Node, and the browser that CHROMIUM names, else the named one, else Chromium.
func programs(t *testing.T, browser string) (node, chromium string) {
	t.Helper()
	chromium = os.Getenv("CHROMIUM")
	for _, name := range []string{browser, "chromium"} {
		if chromium == "" {
			chromium, _ = exec.LookPath(name)
		}
	}
	node, err := exec.LookPath("node")
	need.That(t, err == nil, "the pages are tried by Node, which is not installed")
	need.That(t, chromium != "", "the pages are tried in Chromium, which is not installed (or name it in CHROMIUM)")
	need.That(t, web.Embedded().Built(), "the pages are not built: run make web")
	return node, chromium
}

// pages runs one file of tests on programs of its own, so that no test finds what those of another file left.
func pages(t *testing.T, node, chromium, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	demo := start(t, map[string][]string{"demo": {"true"}, "media-allow-private": {"127.0.0.1/32"}, "sip-allow-private": {"127.0.0.1/32"}})
	env := append(os.Environ(), "CARILLON_READY="+demo.File, "CHROMIUM="+chromium, "SHOTS="+os.Getenv("SHOTS"))
	// Most files need nothing else.
	if bytes.Contains(text, []byte("CARILLON_EMPTY")) {
		empty := start(t, nil)
		env = append(env, "CARILLON_EMPTY="+empty.File, "CARILLON_TOKEN="+regexp.MustCompile(`first_[\w-]+`).FindString(empty.Printed))
	}
	if bytes.Contains(text, []byte("CARILLON_SEVERAL")) {
		env = append(env, "CARILLON_SEVERAL="+withSSO(t))
	}
	if bytes.Contains(text, []byte("voice.mjs")) {
		services := httptest.NewServer(voicetest.NewServer(nil)) // which transcribe for agents
		t.Cleanup(services.Close)
		env = append(env, "CARILLON_VOICE="+services.URL)
	}
	if bytes.Contains(text, []byte("CARILLON_TRUNK")) {
		env = append(env, "CARILLON_TRUNK="+trunk(t))
	}
	if bytes.Contains(text, []byte("CARILLON_GRAPH")) {
		env = append(env, "CARILLON_GRAPH="+graph(t))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 24*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, node, "--test", "--test-reporter=spec", "e2e/"+filepath.Base(file))
	c.Dir = "../../web"
	c.Env = env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// withSSO runs the program with several companies, and a server by which people sign in.
func withSSO(t *testing.T) (ready string) {
	t.Helper()
	issuer := ssotest.Start(t)
	several := start(t, map[string][]string{
		"provision": {"testdata/several.yaml"}, "oidc-issuer": {issuer}, "oidc-client-id": {issuer}, "oidc-client-secret": {"a-secret"}, "oidc-name": {"Acme ID"},
	})
	ssotest.Allow(issuer, "a-secret", several.BaseURL+"/panel/v1/sso/callback")
	return several.File
}

// trunk is a telephone company until the test ends, and returns its address: the last three digits of a number are what it refuses
// the call with, or it answers.
func trunk(t *testing.T) string {
	t.Helper()
	e, err := sip.New(t.Context(), sip.Options{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), OnCall: func(in *sip.Incoming) {
		_ = in.Progress(180, "Ringing")
		if code, err := strconv.Atoi(in.To[max(0, len(in.To)-3):]); err == nil && code >= 400 && code < 700 {
			in.Refuse(code, "Because")
			return
		}
		<-time.After(100 * time.Millisecond) // packets may overtake each other
		if _, err := in.Answer(context.Background(), nil); err != nil {
			t.Errorf("answer: %v", err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.Address().String()
}

// graph is a stand-in for the Cloud API until the test ends, and returns its address. It approves templates at once, and sends no callbacks
// to anybody before somebody subscribes.
func graph(t *testing.T) string {
	t.Helper()
	g, err := graphtest.New(graphtest.Options{AutoApprove: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g.URL()
}

// start runs the program with these settings until the test ends. The widgets' pages are on a site of their own.
func start(t *testing.T, settings map[string][]string) *instance.Instance {
	t.Helper()
	addr := instance.FreeAddress(t)
	_, port, _ := strings.Cut(addr, ":")
	return instance.Start(t, app.Options{}, map[string][]string{
		"addr": {addr}, "base-url": {"http://panel.localhost:" + port}, "widget-url": {"http://widget.localhost:" + port},
	}, settings)
}

// The panel's first page, with all that it needs before it shows anything, stays small (compressed bytes).
func TestThePanelOpensWithLittle(t *testing.T) {
	need.That(t, web.Embedded().Built(), "the pages are not built: run make web")
	page, err := web.Embedded().Page(web.Panel)
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`(?:src|href)="/panel/(assets/[^"]+)"`).FindAllSubmatch(page, -1)
	if len(files) < 2 {
		t.Fatalf("the page names %d files:\n%s", len(files), page)
	}
	total := int64(len(page))
	for _, f := range files {
		name := "../../web/dist/panel/" + string(f[1])
		info, err := os.Stat(name + ".gz")
		if err != nil { // a file that compressing does not make smaller
			info, err = os.Stat(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	t.Logf("%d bytes", total)
	if most := int64(240 << 10); total > most {
		t.Errorf("the first page has %d bytes, more than %d", total, most)
	}
}

// What a customer's page loads because of a widget stays small (compressed bytes).
func TestWidgetsAreSmall(t *testing.T) {
	need.That(t, web.Embedded().Built(), "the pages are not built: run make web")
	for pattern, most := range map[string]int64{
		"embed/chat.js.gz": 2 << 10, "chat/chat-assets/*.gz": 25 << 10, "embed/voice.js.gz": 2 << 10, "voice/voice-assets/*.gz": 35 << 10,
	} {
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
