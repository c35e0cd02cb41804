package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryPageOfThePanelIsTriedByAxe holds the panel's routes to the tests: each is opened by a file that has axe look at pages, in both
// themes and on a phone. It reads the files; that axe finds nothing is for the tests themselves.
func TestEveryPageOfThePanelIsTriedByAxe(t *testing.T) {
	routes := panelRoutes(t)
	files, err := filepath.Glob("../../web/e2e/*.test.mjs")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files of tests, %v", len(files), err)
	}
	tests := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := string(text)
		themes := strings.Contains(s, "dye(") || strings.Contains(s, "colorScheme") || strings.Contains(s, "data-theme") || strings.Contains(s, "dataset.theme")
		if strings.Contains(s, "accessible(") && themes && regexp.MustCompile(`\b(390|375|360)\b`).MatchString(s) {
			tests[filepath.Base(file)] = s
		}
	}
	for _, route := range routes {
		if !slices.ContainsFunc(files, func(file string) bool { return opens(tests[filepath.Base(file)], route) }) {
			t.Errorf("no test opens %s and has axe look at it in both themes and on a phone", route)
		}
	}
	if len(routes) < 30 {
		t.Errorf("only %d routes were found: %v", len(routes), routes)
	}
}

// panelRoutes reads the paths of the panel's pages from its router.
func panelRoutes(t *testing.T) (routes []string) {
	t.Helper()
	files, err := filepath.Glob("../../web/src/panel/rout*.ts*")
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile(`createRoute\(\{\s*getParentRoute: [^,]+, path: "([^"]+)"`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range path.FindAllStringSubmatch(string(text), -1) {
			if m[1] != "$" { // what is no page
				routes = append(routes, m[1])
			}
		}
	}
	return routes
}

// reached are the pages that tests come to otherwise than by their addresses, with what the tests call the place.
var reached = map[string]string{
	"/forgotten": `accessible(again.p, "a new password")`, "/senders/new": `accessible(p, "the first step")`, "/senders/$id/connect": `accessible(p, "the callbacks")`,
}

// opens reports whether a test goes to a route: by its address, in which a parameter stands for any text or expression.
func opens(test, route string) bool {
	if name, ok := reached[route]; ok {
		return strings.Contains(test, "accessible(") && strings.Contains(test, name)
	}
	if route == "/" {
		return strings.Contains(test, "panel_url}/`") || strings.Contains(test, "panel_url)") || strings.Contains(test, `"/panel"`)
	}
	pattern := regexp.QuoteMeta(route)
	pattern = regexp.MustCompile(`\\\$[a-z]+`).ReplaceAllLiteralString(pattern, `(\$\{[^}]+\}|[\w-]+|" ?\+ ?[\w.]+)`)
	pattern = strings.ReplaceAll(pattern, `/(\$\{`, `/"?(\$\{`)
	return regexp.MustCompile(pattern + `["\x60?/#',\])[]`).MatchString(test)
}
