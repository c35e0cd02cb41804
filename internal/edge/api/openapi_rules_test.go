package api

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"carillon/internal/account/auth"
)

// These rules are recommended by linters, in addition to validity.

// eachOperation calls fn with each operation and its name, for example GET /healthz.
func eachOperation(doc *openapi3.T, fn func(name string, o *openapi3.Operation)) {
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			fn(method+" "+path, o)
		}
	}
}

func describe(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOperationsOfTheDescriptionHaveWhatClientsAreGeneratedFrom(t *testing.T) {
	doc := describe(t)
	ids := map[string]string{}
	plain := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.~-]*$`)
	eachOperation(doc, func(name string, o *openapi3.Operation) {
		if other, used := ids[o.OperationID]; used || !plain.MatchString(o.OperationID) {
			t.Errorf("%s: operationId %q is missing, is not safe in an address, or is that of %s", name, o.OperationID, other)
		}
		ids[o.OperationID] = name
		if o.Summary == "" || strings.HasSuffix(o.Summary, ".") {
			t.Errorf("%s: summary %q", name, o.Summary)
		}
		if len(o.Tags) == 0 {
			t.Errorf("%s has no tag", name)
		}
		for _, tag := range o.Tags {
			if doc.Tags.Get(tag) == nil {
				t.Errorf("%s: the tag %s is not defined", name, tag)
			}
		}
		if o.Security == nil && len(doc.Security) == 0 {
			t.Errorf("%s has no security", name)
		}
		good, bad := 0, 0
		for status, response := range o.Responses.Map() {
			switch status[0] {
			case '1', '2', '3': // 101: a WebSocket
				good++
			case '4':
				bad++
			}
			if response.Value.Description == nil || *response.Value.Description == "" {
				t.Errorf("%s: the response %s has no description", name, status)
			}
		}
		if good == 0 || bad == 0 {
			t.Errorf("%s: %d responses of success and %d of 4xx", name, good, bad)
		}
	})
	if len(ids) == 0 {
		t.Error("there is no operation")
	}
}

func TestTagsAndPathsOfTheDescriptionAreUsedAndUnambiguous(t *testing.T) {
	doc := describe(t)
	used := map[string]bool{}
	eachOperation(doc, func(_ string, o *openapi3.Operation) {
		for _, tag := range o.Tags {
			used[tag] = true
		}
	})
	for _, tag := range doc.Tags {
		if !used[tag.Name] || tag.Description == "" {
			t.Errorf("the tag %s is not used or not described", tag.Name)
		}
	}
	if doc.Info.License == nil || doc.Info.License.Name == "" || len(doc.Servers) == 0 {
		t.Error("a license or a server is missing")
	}
	for _, s := range doc.Servers {
		if strings.HasSuffix(s.URL, "/") || strings.Contains(s.URL, "example.com") {
			t.Errorf("server %s", s.URL)
		}
	}
	shapes := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		if strings.HasSuffix(path, "/") || strings.Contains(path, "?") || strings.Contains(path, "{}") {
			t.Errorf("path %s", path)
		}
		shape := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "{}")
		if other, twice := shapes[shape]; twice {
			t.Errorf("%s and %s are one path", other, path)
		}
		shapes[shape] = path
	}
}

// A component counts as used only if it is reachable from the paths, not if only another unused component refers to
// it.
func TestEveryComponentOfTheDescriptionIsUsed(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	components, _ := doc["components"].(map[string]any)
	used := map[string]bool{}
	var walk func(x any)
	follow := func(ref string) {
		parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
		if len(parts) != 2 || used[strings.Join(parts, "/")] {
			return
		}
		used[strings.Join(parts, "/")] = true
		section, _ := components[parts[0]].(map[string]any)
		walk(section[parts[1]])
	}
	walk = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, e := range x {
				walk(e)
			}
		case map[string]any:
			if ref, ok := x["$ref"].(string); ok {
				follow(ref)
			}
			if list, ok := x["security"].([]any); ok {
				for _, e := range list {
					for scheme := range e.(map[string]any) {
						follow("#/components/securitySchemes/" + scheme)
					}
				}
			}
			for _, e := range x {
				walk(e)
			}
		}
	}
	walk(doc["paths"])
	walk(map[string]any{"security": doc["security"]})
	for section, all := range components {
		for name := range all.(map[string]any) {
			if !used[section+"/"+name] {
				t.Errorf("components/%s/%s is not used", section, name)
			}
		}
	}
	if len(used) < 20 {
		t.Errorf("only %d components are used", len(used))
	}
}

func TestTheDescriptionSaysWhatOperationsDoAndWhichScopesTheyTake(t *testing.T) {
	doc := describe(t)
	if doc.Info.Contact == nil {
		t.Error("a contact is missing")
	}
	eachOperation(doc, func(name string, o *openapi3.Operation) {
		if len(o.Description) < 20 || o.Description == o.Summary {
			t.Errorf("%s: description %q", name, o.Description)
		}
		if o.Security == nil {
			return
		}
		for _, way := range *o.Security {
			for scheme, scopes := range way {
				if doc.Components.SecuritySchemes[scheme] == nil {
					t.Errorf("%s: the security scheme %s is not defined", name, scheme)
				}
				for _, scope := range scopes {
					if !auth.ValidScope(scope) {
						t.Errorf("%s: there is no scope %s", name, scope)
					}
				}
			}
		}
	})
}
