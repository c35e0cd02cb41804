package e2e

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/edge/api"
)

// forPages matches routes that are not part of the API: pages and their files, the panel's API, and CORS preflight
// requests.
var forPages = regexp.MustCompile(`^GET /\{\$\}/|` +
	`^GET /(l|chat-assets|voice-assets|widget-logo|embed|demo|try|docs|llms\.txt)/|^[A-Z]+ /panel/|^OPTIONS `)

// TestEveryRouteIsDescribed compares the router with the OpenAPI description in both directions. The panel's API and
// the pages for browsers are not part of the description.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	p := start(t, "sqlite", contractDir+"/full.yaml")
	var routed []string
	for _, r := range p.app.Routes() {
		if !forPages.MatchString(r.Pattern + "/") {
			routed = append(routed, r.Pattern)
		}
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, item := range doc.Paths {
		for method := range item {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	if diff := cmp.Diff(nameless(routed), nameless(described)); diff != "" {
		t.Errorf("routes (-) and description (+) differ:\n%s", diff)
	}
}

// nameless sorts patterns and removes the names of their parameters.
func nameless(patterns []string) []string {
	param := regexp.MustCompile(`\{[^}]*\}`)
	for i := range patterns {
		patterns[i] = param.ReplaceAllString(patterns[i], "{}")
	}
	slices.Sort(patterns)
	return patterns
}
