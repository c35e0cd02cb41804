package panel

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

const rolesPage = "../../../docs/reference/roles.md"

// resourcePath has the kinds of resources that have the same roles.
var resourcePath = regexp.MustCompile(`/(agents|knowledge|flows|widgets)\b`)

// documented is the row of a route in docs/reference/roles.md.
func documented(route httpio.Route) string {
	return resourcePath.ReplaceAllString(route.Pattern, "/{resources}")
}

// rolesDocument is docs/reference/roles.md as the permissions and the routes of the program make it.
func rolesDocument(t *testing.T, routes []httpio.Route) string {
	t.Helper()
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	b.WriteString(`# Roles and permissions

<!-- Made from internal/account/auth and the routes of internal/edge/panel by: go test ./internal/edge/panel -run TestRolesDoc -update -->

A member has one role in each company, and may have another one elsewhere. A role is a set of permissions, and every route of the panel's
interface under ` + "`/panel/v1`" + ` demands one; the panel's pages show nobody what they may not do. A call without it is a 403 whose reason names
the permission. What an application may do with an access key is another matter: see the scopes in [signing-in.md](signing-in.md#access-keys).

An admin is an owner's equal but for three things: only an owner gives or takes the role of an owner, changes the account of an owner, and operates the
installation.

## What each role may do

`)
	head, rule := []string{"Permission", "What it allows"}, []string{"---", "---"}
	for _, role := range auth.Roles() {
		head, rule = append(head, string(role)), append(rule, ":-:")
	}
	line(head...)
	line(rule...)
	for _, p := range auth.Permissions() {
		if p.Meaning() == "" {
			t.Errorf("internal/account/auth/meaning.go does not say what %s allows", p)
		}
		cells := []string{"`" + string(p) + "`", p.Meaning()}
		for _, role := range auth.Roles() {
			cells = append(cells, map[bool]string{true: "yes", false: "–"}[role.Can(p)])
		}
		line(cells...)
	}
	b.WriteString("\n## Routes\n\n`{resources}` stands for `agents`, `knowledge`, `flows` and `widgets`, as far as they have the route.\n\n")
	line("Route", "Permission", "Roles")
	line("---", "---", "---")
	var own, open []string
	var rows []string
	for _, route := range routes {
		switch route.Access {
		case "user":
			own = append(own, route.Pattern)
		case "none":
			open = append(open, route.Pattern)
		default:
			rows = append(rows, fmt.Sprintf("| `%s` | `%s` | %s |\n", documented(route), route.Permission, strings.Join(admitted(auth.Permission(route.Permission)), ", ")))
		}
	}
	path := func(pattern string) string {
		path, _, _ := strings.Cut(pattern[strings.Index(pattern, " /"):], "`")
		return path
	}
	byPath := func(a, b string) int { return cmp.Or(strings.Compare(path(a), path(b)), strings.Compare(a, b)) }
	slices.SortFunc(rows, byPath)
	for _, row := range slices.Compact(rows) {
		b.WriteString(row)
	}
	list := func(title, text string, patterns []string) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", title, text)
		slices.SortFunc(patterns, byPath)
		for _, p := range patterns {
			fmt.Fprintf(&b, "- `%s`\n", p)
		}
	}
	list("Routes of the own account", "Everybody who is signed in may call these; no role and no company are needed.", own)
	list("Routes before the sign-in", "These need no session. A link's secret, a password or the server for single sign-on decides.", open)
	return b.String()
}

func admitted(p auth.Permission) (roles []string) {
	for _, role := range auth.Roles() {
		if role.Can(p) {
			roles = append(roles, string(role))
		}
	}
	return roles
}

func TestRolesDoc(t *testing.T) {
	want := rolesDocument(t, newWorld(t).routes)
	if *update {
		if err := os.WriteFile(rolesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(rolesPage)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(want, string(got)); d != "" {
		t.Errorf("docs/reference/roles.md is stale; run: go test ./internal/edge/panel -run TestRolesDoc -update\n%s", d)
	}
}

// documentedRoles reads from the page who may call each route.
func documentedRoles(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(rolesPage)
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]+ /[^`]+)` \\| `[a-z:]+` \\| ([a-z, ]+) \\|$").FindAllStringSubmatch(string(text), -1) {
		roles[m[1]] = strings.Split(m[2], ", ")
	}
	if len(roles) < 100 {
		t.Fatalf("docs/reference/roles.md has %d routes", len(roles))
	}
	return roles
}

// TestEveryRouteAdmitsTheRolesOfItsPermission proves the documented table, and compares it with rolesOf, which is written by hand: whoever
// widens a role changes both.
func TestEveryRouteAdmitsTheRolesOfItsPermission(t *testing.T) {
	w := newWorld(t)
	acme, _ := w.company("acme"), w.company("other")
	tokens := map[auth.Role]string{}
	for _, role := range auth.Roles() {
		tokens[role] = w.as(string(role) + "@acme.test")
	}
	stranger := w.as("owner@other.test")
	page, tried := documentedRoles(t), map[string]bool{}
	for _, route := range w.routes {
		if route.Access == "user" || route.Access == "none" {
			continue // for everybody's own account, and for who signs in
		}
		name := documented(route)
		roles := page[name]
		tried[name] = true
		if d := gocmp.Diff(strings.Fields(rolesOf[name]), roles); d != "" || len(roles) == 0 || route.Access != "panel" || !slices.Contains(auth.Permissions(), auth.Permission(route.Permission)) {
			t.Errorf("%s has access %q and permission %q; rolesOf and docs/reference/roles.md (-rolesOf +page):\n%s", route.Pattern, route.Access, route.Permission, d)
			continue
		}
		method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "{id}", "nothing"), " ")
		w.want(method, path, "", "", http.StatusUnauthorized, "unauthorized", "")
		w.want(method, path, "Bearer x", "", http.StatusUnauthorized, "unauthorized", "")
		w.want(method, path+"?company="+acme.ID, stranger, "", http.StatusForbidden, "forbidden", "")
		w.want(method, path+"?company=nobody", stranger, "", http.StatusForbidden, "forbidden", "")
		for _, role := range auth.Roles() {
			status, body := w.do(method, path, tokens[role], "")
			if admitted := status != http.StatusUnauthorized && status != http.StatusForbidden; admitted != slices.Contains(roles, string(role)) {
				t.Errorf("%s as %s: %d %v", route.Pattern, role, status, body)
			} else if details, _ := body["details"].(map[string]any); !admitted && !strings.Contains(details["reason"].(string), route.Permission) {
				t.Errorf("%s as %s: the reason is %v", route.Pattern, role, details)
			}
		}
	}
	for name := range page {
		if !tried[name] {
			t.Errorf("docs/reference/roles.md has %s, which is no route", name)
		}
	}
}
