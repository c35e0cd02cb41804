package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryPageOfThePanelIsTriedByAxe compares the panel's router with the table of pages that axe checks, in both
// themes, at two widths and in each language.
func TestEveryPageOfThePanelIsTriedByAxe(t *testing.T) {
	text, err := os.ReadFile("../../web/e2e/pages/table.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct {
		Route string            `json:"route"`
		At    map[string]string `json:"at"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	var tried []string
	for _, row := range table {
		tried = append(tried, row.Route)
		// A parameter of a route may be anything; the rest must match.
		pattern := regexp.MustCompile(`\\\$[a-z]+`).ReplaceAllString(regexp.QuoteMeta(row.Route), `[^/?#]+`)
		page := regexp.MustCompile("^" + pattern + `([?#{].*)?$`)
		if row.Route == "$" { // any unknown address
			page = regexp.MustCompile("^/nowhere$")
		}
		for path := range row.At {
			if !page.MatchString(path) {
				t.Errorf("%s is no address of %s", path, row.Route)
			}
		}
		if len(row.At) == 0 {
			t.Errorf("no address of %s is opened", row.Route)
		}
	}
	routes := panelRoutes(t)
	slices.Sort(routes)
	slices.Sort(tried)
	if diff := cmp.Diff(routes, tried); diff != "" {
		t.Errorf("the router's pages (-) are not those of web/e2e/pages/table.json (+):\n%s", diff)
	}
	if len(routes) < 30 {
		t.Errorf("only %d routes were found: %v", len(routes), routes)
	}
}

// panelRoutes returns the paths of the panel's pages, read from its router.
func panelRoutes(t *testing.T) (routes []string) {
	t.Helper()
	files, err := filepath.Glob("../../web/src/panel/routes/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../../web/src/panel/router.ts")
	path := regexp.MustCompile(`createRoute\(\{\s*getParentRoute: [^,]+,\s*path: "([^"]+)"`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range path.FindAllStringSubmatch(string(text), -1) {
			routes = append(routes, m[1])
		}
	}
	return routes
}
