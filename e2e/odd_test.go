package e2e

import (
	"regexp"
	"strings"
	"testing"

	"carillon/internal/app"
)

// TestOddIdsAreNoInternalErrors calls every route with bytes that no ID contains: a database may refuse bytes that we
// accept.
func TestOddIdsAreNoInternalErrors(t *testing.T) {
	odd := []string{"a%00b", "%FF", "%C3%28", "%ED%A0%80", "%27%22", strings.Repeat("9", 400), "99999999999999999999", "%F0%9F%94%94", "-1"}
	// parameters of requests that change data
	changes := []string{"company", "unflatten", "access_key", "grant_type", "hub.verify_token"}
	params := append([]string{
		"campaign", "number", "sender", "type", "state", "channel", "from", "to", "cursor", "limit", "template", "language", "phone_number",
	}, changes...)
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := startCompanies(t, engine, app.Options{}, nil)
			token := c.signIn(t, "owner@beta.test", "beta-horse-battery")
			company := c.field(t, "access_token", "POST", withKey("/functions/v1/auth/company", "ck_beta_live"), "")
			turn := 0
			for _, route := range c.app.Routes() {
				method, pattern, _ := strings.Cut(route.Pattern, " ")
				bearer := token
				if strings.HasPrefix(route.Access, "key:") {
					bearer = company
				}
				if strings.HasSuffix(pattern, "/logout") {
					continue // it would end the session of the rest
				}
				var all []string
				if strings.Contains(pattern, "{") {
					for _, o := range odd {
						all = append(all, regexp.MustCompile(`\{[^}]*\}`).ReplaceAllLiteralString(pattern, o))
					}
				}
				asked := changes
				if method == "GET" {
					asked = params
				}
				path := strings.NewReplacer("{id}", alphaID, "{number}", "34600000000", "{sender}", "beta_cloud").Replace(pattern)
				for _, p := range asked {
					for range 3 { // over the routes each parameter has each value many times
						all = append(all, path+"?"+p+"="+odd[turn%len(odd)])
						turn++
					}
				}
				turn++
				for _, target := range all {
					status, answered := c.ask(t, method, target, `{"approve":true,"content":"x"}`, "Authorization", "Bearer "+bearer)
					if status >= 500 {
						t.Errorf("%s %s answered %d: %s", method, target, status, answered)
					}
				}
			}
		})
	}
}
