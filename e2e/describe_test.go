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

// forPages matches what is not part of the interface: what browsers load, the panel's API, and the questions that browsers
// ask before a request.
var forPages = regexp.MustCompile(`^GET /\{\$\}/|^GET /(chat-assets|voice-assets|embed|demo|try|docs|llms\.txt)/|^[A-Z]+ /panel/|^OPTIONS `)

// TestEveryRouteIsDescribed holds the router and the OpenAPI description to each other, both ways. The panel's API and the
// pages for browsers are not part of the interface.
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

// nameless sorts patterns and drops the names of their parameters.
func nameless(patterns []string) []string {
	param := regexp.MustCompile(`\{[^}]*\}`)
	for i := range patterns {
		patterns[i] = param.ReplaceAllString(patterns[i], "{}")
	}
	slices.Sort(patterns)
	return patterns
}
