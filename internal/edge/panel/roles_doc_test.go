package panel_test

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
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/paneltest"
)

// rolesOf lists the roles that may call each route, written by hand.
var rolesOf = map[string]string{
	"GET /panel/v1/{resources}/{id}/seen":             "owner admin developer marketer teammate viewer",
	"GET /panel/v1/widget-sites":                      "owner admin developer marketer teammate viewer",
	"POST /panel/v1/widget-logos":                     "owner admin developer",
	"GET /panel/v1/activity/calls":                    "owner admin developer",
	"GET /panel/v1/activity/calls/{id}":               "owner admin developer",
	"GET /panel/v1/activity/accepted":                 "owner admin developer",
	"GET /panel/v1/activity/changes":                  "owner admin",
	"GET /panel/v1/activity/changes/{id}":             "owner admin",
	"GET /panel/v1/activity/authors":                  "owner admin",
	"GET /panel/v1/keys":                              "owner admin developer",
	"POST /panel/v1/keys":                             "owner admin",
	"DELETE /panel/v1/keys/{id}":                      "owner admin",
	"GET /panel/v1/users":                             "owner admin developer",
	"POST /panel/v1/users":                            "owner admin",
	"PATCH /panel/v1/users/{id}":                      "owner admin",
	"DELETE /panel/v1/users/{id}":                     "owner admin",
	"POST /panel/v1/users/{id}/password":              "owner admin",
	"DELETE /panel/v1/users/{id}/sessions":            "owner admin",
	"DELETE /panel/v1/users/{id}/second-factor":       "owner admin",
	"POST /panel/v1/users/{id}/password-link":         "owner admin",
	"GET /panel/v1/invitations":                       "owner admin developer",
	"POST /panel/v1/invitations":                      "owner admin",
	"POST /panel/v1/invitations/{id}/resend":          "owner admin",
	"DELETE /panel/v1/invitations/{id}":               "owner admin",
	"GET /panel/v1/senders":                           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}/timeline":       "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns":                         "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/one":                     "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/recipients":              "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/reasons":                 "owner admin developer marketer teammate viewer",
	"GET /panel/v1/campaigns/export":                  "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications":                     "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/lookup":              "owner admin developer marketer teammate viewer",
	"GET /panel/v1/search":                            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}":                "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}/request":        "owner admin developer marketer teammate viewer",
	"GET /panel/v1/notifications/{id}/filled":         "owner admin developer marketer teammate viewer",
	"POST /panel/v1/notifications/{id}/cancel":        "owner admin developer marketer",
	"POST /panel/v1/notifications/{id}/move":          "owner admin developer marketer",
	"GET /panel/v1/notifications/{id}/resend":         "owner admin developer marketer",
	"POST /panel/v1/notifications/{id}/resend":        "owner admin developer marketer",
	"GET /panel/v1/overview":                          "owner admin developer marketer teammate viewer",
	"GET /panel/v1/overview/attention":                "owner admin developer marketer teammate viewer",
	"GET /panel/v1/overview/first-steps":              "owner admin developer marketer teammate viewer",
	"GET /panel/v1/usage":                             "owner admin developer marketer teammate viewer",
	"GET /panel/v1/charges":                           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/charges/export":                    "owner admin developer marketer teammate viewer",
	"GET /panel/v1/charges/prices":                    "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/charges/prices":                    "owner admin",
	"POST /panel/v1/people":                           "owner admin",
	"POST /panel/v1/people/export":                    "owner admin",
	"POST /panel/v1/people/erase":                     "owner admin",
	"GET /panel/v1/suppressions":                      "owner admin developer marketer teammate viewer",
	"GET /panel/v1/suppressions/export":               "owner admin developer marketer teammate viewer",
	"POST /panel/v1/suppressions":                     "owner admin developer marketer",
	"DELETE /panel/v1/suppressions/{id}":              "owner admin developer marketer",
	"GET /panel/v1/events":                            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/maintenance":                       "owner admin developer marketer teammate viewer",
	"POST /panel/v1/maintenance":                      "owner",
	"DELETE /panel/v1/maintenance":                    "owner",
	"GET /panel/v1/numbers":                           "owner",
	"PUT /panel/v1/numbers/{number}":                  "owner",
	"DELETE /panel/v1/numbers/{number}":               "owner",
	"GET /panel/v1/restored":                          "owner",
	"POST /panel/v1/restored":                         "owner",
	"GET /panel/v1/send/sample":                       "owner admin developer marketer",
	"POST /panel/v1/senders":                          "owner admin",
	"GET /panel/v1/senders/{id}":                      "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/senders/{id}":                      "owner admin",
	"DELETE /panel/v1/senders/{id}":                   "owner admin",
	"POST /panel/v1/senders/{id}/check":               "owner admin",
	"POST /panel/v1/senders/check":                    "owner admin",
	"POST /panel/v1/senders/{id}/subscribe":           "owner admin",
	"POST /panel/v1/senders/{id}/register":            "owner admin",
	"PUT /panel/v1/senders/{id}/pin":                  "owner admin",
	"GET /panel/v1/senders/{id}/calls":                "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/senders/{id}/calls":                "owner admin",
	"POST /panel/v1/senders/{id}/history":             "owner admin",
	"GET /panel/v1/sender-sign-up":                    "owner admin",
	"POST /panel/v1/sender-sign-up":                   "owner admin",
	"GET /panel/v1/senders/{id}/state":                "owner admin developer marketer teammate viewer",
	"GET /panel/v1/company":                           "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/company":                           "owner admin",
	"POST /panel/v1/senders/{id}/test-call":           "owner admin",
	"GET /panel/v1/sandbox/phone":                     "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/sandbox/phone":                     "owner admin developer marketer",
	"POST /panel/v1/sandbox/phone/messages":           "owner admin developer marketer",
	"GET /panel/v1/sandbox/phone/numbers":             "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}/templates":      "owner admin teammate",
	"POST /panel/v1/conversations/{id}/templates":     "owner admin teammate",
	"GET /panel/v1/sandbox/calls":                     "owner admin developer marketer teammate viewer",
	"POST /panel/v1/sandbox/calls":                    "owner admin developer marketer",
	"GET /panel/v1/sandbox/calls/{id}/recording":      "owner admin developer marketer teammate viewer",
	"GET /panel/v1/secrets":                           "owner admin developer",
	"POST /panel/v1/secrets":                          "owner admin",
	"GET /panel/v1/secrets/{id}":                      "owner admin developer",
	"PUT /panel/v1/secrets/{id}":                      "owner admin",
	"DELETE /panel/v1/secrets/{id}":                   "owner admin",
	"GET /panel/v1/webhooks":                          "owner admin developer",
	"POST /panel/v1/webhooks":                         "owner admin developer",
	"GET /panel/v1/webhooks/{id}":                     "owner admin developer",
	"PUT /panel/v1/webhooks/{id}":                     "owner admin developer",
	"DELETE /panel/v1/webhooks/{id}":                  "owner admin developer",
	"GET /panel/v1/webhooks/{id}/status":              "owner admin developer",
	"GET /panel/v1/webhooks/{id}/deliveries":          "owner admin developer",
	"POST /panel/v1/webhooks/{id}/test":               "owner admin developer",
	"POST /panel/v1/webhooks/{id}/rotate":             "owner admin developer",
	"POST /panel/v1/webhooks/{id}/enable":             "owner admin developer",
	"POST /panel/v1/webhooks/{id}/replay":             "owner admin developer",
	"GET /panel/v1/webhook-events":                    "owner admin developer",
	"GET /panel/v1/webhook-events/{id}":               "owner admin developer",
	"POST /panel/v1/webhook-events/{id}/replay":       "owner admin developer",
	"POST /panel/v1/webhook-events/test":              "owner admin developer",
	"GET /panel/v1/{resources}":                       "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}":                      "owner admin developer",
	"GET /panel/v1/{resources}/{id}":                  "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/{resources}/{id}":                  "owner admin developer",
	"DELETE /panel/v1/{resources}/{id}":               "owner admin developer",
	"GET /panel/v1/canned-replies":                    "owner admin developer marketer teammate viewer",
	"POST /panel/v1/canned-replies":                   "owner admin teammate",
	"PUT /panel/v1/canned-replies/{id}":               "owner admin teammate",
	"DELETE /panel/v1/canned-replies/{id}":            "owner admin teammate",
	"POST /panel/v1/{resources}/import":               "owner admin developer",
	"GET /panel/v1/{resources}/search":                "owner admin developer marketer teammate viewer",
	"GET /panel/v1/questions":                         "owner admin developer marketer teammate viewer",
	"DELETE /panel/v1/questions/{id}":                 "owner admin developer",
	"GET /panel/v1/questions/groups":                  "owner admin developer marketer teammate viewer",
	"POST /panel/v1/questions/attach":                 "owner admin developer",
	"POST /panel/v1/questions/resolve":                "owner admin developer",
	"GET /panel/v1/answers":                           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/answers/export":                    "owner admin developer marketer teammate viewer",
	"GET /panel/v1/answers/articles":                  "owner admin developer marketer teammate viewer",
	"GET /panel/v1/answers/reviews":                   "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}/{id}/playground":      "owner admin developer",
	"POST /panel/v1/{resources}/{id}/talk":            "owner admin developer",
	"POST /panel/v1/{resources}/{id}/speak":           "owner admin developer",
	"GET /panel/v1/conversations/{id}/voice":          "owner admin teammate",
	"GET /panel/v1/conversations":                     "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/times":               "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/counts":              "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}":                "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}/turns":          "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}/reach":          "owner admin developer marketer teammate viewer",
	"GET /panel/v1/conversations/{id}/contact":        "owner admin developer marketer teammate viewer",
	"GET /panel/v1/inbox/teammates":                   "owner admin developer marketer teammate viewer",
	"GET /panel/v1/inbox/events":                      "owner admin developer marketer teammate viewer",
	"POST /panel/v1/conversations/{id}/take":          "owner admin teammate",
	"POST /panel/v1/conversations/{id}/answers":       "owner admin teammate",
	"POST /panel/v1/conversations/{id}/notes":         "owner admin teammate",
	"POST /panel/v1/conversations/{id}/release":       "owner admin teammate",
	"POST /panel/v1/conversations/{id}/assign":        "owner admin teammate",
	"POST /panel/v1/conversations/{id}/resolve":       "owner admin teammate",
	"POST /panel/v1/conversations/{id}/reopen":        "owner admin teammate",
	"POST /panel/v1/conversations/{id}/undo":          "owner admin teammate",
	"POST /panel/v1/conversations/{id}/read":          "owner admin teammate",
	"GET /panel/v1/inbox/notices":                     "owner admin teammate",
	"PUT /panel/v1/inbox/notices":                     "owner admin teammate",
	"PUT /panel/v1/inbox/notices/team":                "owner admin",
	"POST /panel/v1/inbox/browsers":                   "owner admin teammate",
	"DELETE /panel/v1/inbox/browsers/{id}":            "owner admin teammate",
	"POST /panel/v1/inbox/browsers/{id}/test":         "owner admin teammate",
	"POST /panel/v1/conversations/{id}/typing":        "owner admin teammate",
	"POST /panel/v1/conversations/{id}/viewing":       "owner admin teammate",
	"PUT /panel/v1/conversations/{id}/tags":           "owner admin teammate",
	"PUT /panel/v1/conversations/{id}/contact":        "owner admin teammate",
	"PUT /panel/v1/inbox/presence":                    "owner admin teammate",
	"GET /panel/v1/{resources}/{id}/tests":            "owner admin developer marketer teammate viewer",
	"GET /panel/v1/{resources}/{id}/tests/runs/{run}": "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}/{id}/tests/check":     "owner admin developer",
	"POST /panel/v1/{resources}/{id}/tests/run":       "owner admin developer",
	"POST /panel/v1/{resources}/import/file":          "owner admin developer",
	"POST /panel/v1/{resources}/{id}/articles":        "owner admin developer",
	"PUT /panel/v1/{resources}/{id}/synonyms":         "owner admin developer",
	"GET /panel/v1/{resources}/{id}/embeddings":       "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/{resources}/{id}/embeddings":       "owner admin developer",
	"DELETE /panel/v1/{resources}/{id}/embeddings":    "owner admin developer",
	"POST /panel/v1/{resources}/{id}/embeddings/try":  "owner admin developer",
	"POST /panel/v1/{resources}/{id}/embeddings/make": "owner admin developer",
	"GET /panel/v1/{resources}/{id}/state":            "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}/{id}/look":            "owner admin developer",
	"GET /panel/v1/{resources}/{id}/looks/{look}":     "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}/{id}/try":             "owner admin developer",
	"GET /panel/v1/{resources}/{id}/remote":           "owner admin developer",

	"GET /panel/v1/templates":                           "owner admin developer marketer teammate viewer",
	"POST /panel/v1/templates":                          "owner admin developer marketer",
	"GET /panel/v1/templates/sync":                      "owner admin developer marketer teammate viewer",
	"POST /panel/v1/templates/sync":                     "owner admin developer marketer",
	"GET /panel/v1/templates/{id}":                      "owner admin developer marketer teammate viewer",
	"PATCH /panel/v1/templates/{id}":                    "owner admin developer marketer",
	"DELETE /panel/v1/templates/{id}":                   "owner admin developer marketer",
	"POST /panel/v1/templates/{id}/submit":              "owner admin developer marketer",
	"GET /panel/v1/templates/{id}/history":              "owner admin developer marketer teammate viewer",
	"POST /panel/v1/templates/{id}/review":              "owner admin developer marketer",
	"GET /panel/v1/templates/{id}/statistics":           "owner admin developer marketer teammate viewer",
	"POST /panel/v1/templates/{id}/statistics":          "owner admin",
	"GET /panel/v1/flow-runs":                           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/flow-runs/{id}":                      "owner admin developer marketer teammate viewer",
	"POST /panel/v1/flow-runs/{id}/stop":                "owner admin teammate",
	"GET /panel/v1/{resources}/overview":                "owner admin developer marketer teammate viewer",
	"POST /panel/v1/{resources}/drafts":                 "owner admin developer",
	"POST /panel/v1/{resources}/check":                  "owner admin developer",
	"POST /panel/v1/{resources}/try":                    "owner admin developer",
	"GET /panel/v1/{resources}/{id}/draft":              "owner admin developer marketer teammate viewer",
	"PUT /panel/v1/{resources}/{id}/draft":              "owner admin developer",
	"DELETE /panel/v1/{resources}/{id}/draft":           "owner admin developer",
	"POST /panel/v1/{resources}/{id}/publish":           "owner admin developer",
	"GET /panel/v1/{resources}/{id}/versions":           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/{resources}/{id}/versions/{version}": "owner admin developer marketer teammate viewer",

	"POST /panel/v1/conversations/{id}/files":       "owner admin teammate",
	"GET /panel/v1/conversations/{id}/files/{file}": "owner admin developer marketer teammate viewer",

	"GET /panel/v1/calls":                "owner admin developer marketer teammate viewer",
	"GET /panel/v1/calls/outcomes":       "owner admin developer marketer teammate viewer",
	"GET /panel/v1/calls/{id}":           "owner admin developer marketer teammate viewer",
	"GET /panel/v1/calls/{id}/recording": "owner admin developer marketer teammate viewer",
	"POST /panel/v1/calls/{id}/hangup":   "owner admin developer marketer",

	"POST /panel/v1/notifications":          "owner admin developer marketer",
	"GET /panel/v1/send/jobs":               "owner admin developer marketer",
	"POST /panel/v1/send/jobs":              "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}":          "owner admin developer marketer",
	"PATCH /panel/v1/send/jobs/{id}":        "owner admin developer marketer",
	"DELETE /panel/v1/send/jobs/{id}":       "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/check":   "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/send":    "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/pause":   "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/resume":  "owner admin developer marketer",
	"POST /panel/v1/send/jobs/{id}/cancel":  "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}/rows":     "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}/samples":  "owner admin developer marketer",
	"GET /panel/v1/send/jobs/{id}/rows.csv": "owner admin developer marketer",
}

var update = flag.Bool("update", false, "rewrite the generated documents")

const rolesPage = "../../../docs/reference/roles.md"

// resourcePath matches the kinds of resources that have the same roles.
var resourcePath = regexp.MustCompile(`/(agents|knowledge|sites|tools|flows|widgets|suites)\b`)

// documented returns the row of a route in docs/reference/roles.md.
func documented(route httpio.Route) string {
	return resourcePath.ReplaceAllString(route.Pattern, "/{resources}")
}

// rolesDocument generates docs/reference/roles.md from the permissions and the routes of the program.
func rolesDocument(t *testing.T, routes []httpio.Route) string {
	t.Helper()
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	b.WriteString(`# Roles and permissions

<!-- Made from internal/account/auth and the routes of internal/edge/panel by: go test ./internal/edge/panel -run TestRolesDoc -update -->

A member has one role in each company, and can have different roles in different companies. A role is a set of permissions. Every panel
route under ` + "`/panel/v1`" + ` requires one permission, and the panel's pages hide everything that a role does not allow. A call without
the permission gets a 403 whose reason names it. The rights of API keys are separate: see the scopes in
[signing-in.md](signing-in.md#api-keys).

An admin has the rights of an owner with three exceptions: only an owner gives or takes the role of owner, changes an owner's account, and
operates the installation.

## Permissions by role

`)
	head, rule := []string{"Permission", "Allows"}, []string{"---", "---"}
	for _, role := range auth.Roles() {
		head, rule = append(head, string(role)), append(rule, ":-:")
	}
	line(head...)
	line(rule...)
	for _, p := range auth.Permissions() {
		if p.Meaning() == "" {
			t.Errorf("internal/account/auth/meaning.go does not explain %s", p)
		}
		cells := []string{"`" + string(p) + "`", p.Meaning()}
		for _, role := range auth.Roles() {
			cells = append(cells, map[bool]string{true: "yes", false: "–"}[role.Can(p)])
		}
		line(cells...)
	}
	b.WriteString("\n## Routes\n\n`{resources}` stands for `agents`, `knowledge`, `sites`, `tools`, `flows`, `widgets` and `suites`, " +
		"if they have the route.\n\n")
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
			rows = append(
				rows,
				fmt.Sprintf(
					"| `%s` | `%s` | %s |\n", documented(route), route.Permission,
					strings.Join(admitted(auth.Permission(route.Permission)), ", "),
				),
			)
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
	list("Your own account", "Everyone who is signed in can call these routes. They need no role and no company.", own)
	list("Before sign-in", "These routes need no session. They check a link's secret, a password or the single sign-on server.", open)
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
	want := rolesDocument(t, paneltest.New(t).Routes)
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

// documentedRoles parses the page for the roles that may call each route.
func documentedRoles(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(rolesPage)
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string][]string{}
	for _, m := range regexp.MustCompile(
		"(?m)^\\| `([A-Z]+ /[^`]+)` \\| `[a-z:]+` \\| ([a-z, ]+) \\|$",
	).FindAllStringSubmatch(string(text), -1) {
		roles[m[1]] = strings.Split(m[2], ", ")
	}
	if len(roles) < 100 {
		t.Fatalf("docs/reference/roles.md has %d routes", len(roles))
	}
	return roles
}

// TestEveryRouteAdmitsTheRolesOfItsPermission verifies the documented table and compares it with rolesOf, which is
// written by hand, so that widening a role requires changing both.
func TestEveryRouteAdmitsTheRolesOfItsPermission(t *testing.T) {
	w := paneltest.New(t)
	acme, _ := w.Company("acme"), w.Company("other")
	tokens := map[auth.Role]string{}
	for _, role := range auth.Roles() {
		tokens[role] = w.As(string(role) + "@acme.test")
	}
	stranger := w.As("owner@other.test")
	page, tried := documentedRoles(t), map[string]bool{}
	for _, route := range w.Routes {
		if route.Access == "user" || route.Access == "none" {
			continue // routes for sign-in and for everyone's own account
		}
		name := documented(route)
		roles := page[name]
		tried[name] = true
		if d := gocmp.Diff(strings.Fields(rolesOf[name]), roles); d != "" || len(roles) == 0 || route.Access != "panel" ||
			!slices.Contains(auth.Permissions(), auth.Permission(route.Permission)) {
			t.Errorf(
				"%s has access %q and permission %q; rolesOf and docs/reference/roles.md (-rolesOf +page):\n%s", route.Pattern,
				route.Access, route.Permission, d,
			)
			continue
		}
		method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "{id}", "nothing"), " ")
		w.Want(method, path, "", "", http.StatusUnauthorized, "unauthorized", "")
		w.Want(method, path, "Bearer x", "", http.StatusUnauthorized, "unauthorized", "")
		w.Want(method, path+"?company="+acme.ID, stranger, "", http.StatusForbidden, "forbidden", "")
		w.Want(method, path+"?company=nobody", stranger, "", http.StatusForbidden, "forbidden", "")
		for _, role := range auth.Roles() {
			status, body := w.Do(method, path, tokens[role], "")
			if admitted := status != http.StatusUnauthorized &&
				status != http.StatusForbidden; admitted != slices.Contains(roles, string(role)) {
				t.Errorf("%s as %s: %d %v", route.Pattern, role, status, body)
			} else if details, _ := body["details"].(map[string]any); !admitted &&
				!strings.Contains(details["reason"].(string), route.Permission) {
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
