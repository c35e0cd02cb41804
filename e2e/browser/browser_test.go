// Package browser tests the pages of the panel and of the widgets in a real browser. The tests themselves are in
// web/e2e.
package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"carillon/internal/base/need"
	"carillon/web"
)

// The tests are in web/e2e, one folder per subject. An entry runs the parts in the folder of its name, with a demo
// program and a browser. The headless shell of Chromium needs a quarter of the processor time of a window, but cannot
// play every sound.

func TestPagesInABrowser(t *testing.T) {
	need.Browser(t)
	tryPages(t, "chromium-headless-shell", "pages", "sending", "talking", "panel") // the longest first
}

func TestAWalkThroughThePages(t *testing.T) {
	need.Walk(t)
	tryPages(t, "chromium-headless-shell", "walk")
}

func TestPagesThatSound(t *testing.T) {
	need.Sound(t)
	tryPages(t, "chromium", "sound")
}

// tryPages runs entries in a browser (see programs). PAGES=sending selects one of them, PAGES=templates a single part.
func tryPages(t *testing.T, browser string, entries ...string) {
	t.Helper()
	node, chromium := programs(t, browser)
	if only := os.Getenv("PAGES"); only != "" {
		entries = slices.DeleteFunc(entries, func(entry string) bool {
			_, err := os.Stat("../../web/e2e/" + entry + "/" + only + ".mjs")
			return err != nil && entry != only
		})
		if len(entries) == 0 {
			need.That(t, false, "PAGES names nothing here: "+only)
		}
	}
	for _, entry := range entries {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			tryEntry(t, node, chromium, "e2e/"+entry+".test.mjs")
		})
	}
}

// programs returns the paths of Node and of the browser: the one in CHROMIUM, the named one, or Chromium.
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

// The panel's first page, with all resources that it needs to show anything, stays small (compressed bytes).
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
		if err != nil { // compression does not make this file smaller
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

// The resources that a widget loads into a customer's page stay small (compressed bytes).
func TestWidgetsAreSmall(t *testing.T) {
	need.That(t, web.Embedded().Built(), "the pages are not built: run make web")
	for pattern, most := range map[string]int64{
		"embed/chat.js.gz": 2 << 10, "chat/chat-assets/*.gz": 25 << 10, "embed/voice.js.gz": 2 << 10, "voice/voice-assets/*.gz": 35 << 10,
		"embed/ears.js.gz": 2 << 10,
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
