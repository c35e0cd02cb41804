package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/base/content"
	"carillon/internal/send/whatsapp/graphtest"
)

// The companies of testdata/companies.yaml.
const (
	alphaID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1"
	betaID  = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb1"
)

// companies is a program with three companies: Alpha, whose data no other company may see, Beta, which tries to, and
// Gamma, which is suspended. Alpha and Beta each have a number on a separate stand-in of the channel.
type companies struct {
	*program
	alpha, beta *graphtest.Server
	db          *sql.DB
	client      *http.Client // compares responses with the API description
	bare        *http.Client // for the panel, which the description does not cover
}

func startCompanies(t *testing.T, engine string, o app.Options, more map[string][]string) *companies {
	t.Helper()
	templates := map[string][]carillon.Template{"alpha": {{
		Name: "alpha_cloudy", Language: "en_US", Category: "UTILITY",
		Components: []carillon.Component{{Type: content.TypeBody, Text: "Alphatext."}},
	}}}
	graph := func(name, number, secret string) *graphtest.Server {
		s, err := graphtest.New(graphtest.Options{
			PhoneNumberID: number, WABAID: "2" + number[1:], AccessToken: name + "-provider-token", AppSecret: secret, Loose: true,
			VerifyToken: name + "-verify-token", Templates: templates[name],
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	c := &companies{alpha: graph("alpha", "1000001", "alpha-app-secret"), beta: graph("beta", "1000002", "beta-app-secret")}
	text, err := os.ReadFile("testdata/companies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	setup := strings.NewReplacer("GRAPH_ALPHA\n", c.alpha.URL()+"\n", "GRAPH_BETA\n", c.beta.URL()+"\n").Replace(string(text))
	name := filepath.Join(t.TempDir(), "companies.yaml")
	if err := os.WriteFile(name, []byte(setup), 0o600); err != nil {
		t.Fatal(err)
	}
	c.program = startWith(t, engine, name, o, more)
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	c.client, c.bare = &http.Client{Transport: checked(t, transport)}, &http.Client{Transport: transport}
	driver, dsn := "pgx", c.database
	if engine == "sqlite" {
		driver, dsn = "sqlite", "file:"+c.database+"?_pragma=busy_timeout(60000)"
	}
	if c.db, err = sql.Open(driver, dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.db.Close() })
	return c
}

// ask sends a request and returns the status and body of the response.
func (c *companies) ask(t *testing.T, method, target, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.url+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := c.client
	if strings.HasPrefix(target, "/panel/") {
		client = c.bare
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return res.StatusCode, "" // an endless stream
	}
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// field sends a request that must succeed and returns a field of the response.
func (c *companies) field(t *testing.T, name, method, target, body string, header ...string) string {
	t.Helper()
	status, answer := c.ask(t, method, target, body, header...)
	var fields map[string]any
	if err := json.Unmarshal([]byte(answer), &fields); err != nil || status >= 300 {
		t.Fatalf("%s %s answered %d: %s", method, target, status, answer)
	}
	value, _ := fields[name].(string)
	if value == "" {
		t.Fatalf("%s %s answered without %s: %s", method, target, name, answer)
	}
	return value
}

func (c *companies) signIn(t *testing.T, email, password string) string {
	t.Helper()
	return c.field(t, "access_token", "POST", "/functions/v1/auth?grant_type=password",
		fmt.Sprintf(`{"email":%q,"password":%q}`, email, password))
}

// column returns the first column of a query's rows as strings.
func (c *companies) column(t *testing.T, query string, args ...any) []string {
	t.Helper()
	var all []string
	for _, row := range c.table(t, query, args...) {
		all = append(all, fmt.Sprint(row[0]))
	}
	return all
}

func (c *companies) table(t *testing.T, query string, args ...any) [][]any {
	t.Helper()
	rows, err := c.db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]any
	for rows.Next() {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		all = append(all, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// state returns all stored data of Alpha, one row per line, except times of last use and of the next check of a
// template's review.
func (c *companies) state(t *testing.T) string {
	t.Helper()
	var lines []string
	for table, query := range map[string]string{
		"company":    "SELECT id, name, suspended, strict, hours, limits FROM company WHERE id = $1",
		"membership": "SELECT account_id, role FROM membership WHERE company_id = $1",
		"account": "SELECT a.id, a.email, a.name, a.phone, a.password_hash FROM account a JOIN membership m ON m.account_id = " +
			"a.id WHERE m.company_id = $1",
		"session": "SELECT s.id, s.expires_at, s.ended_at FROM session s JOIN membership m ON m.account_id = s.account_id WHERE " +
			"m.company_id = $1",
		"access_key": "SELECT id, label, digest, sealed, scopes, expires_at, revoked_at FROM access_key WHERE company_id = $1",
		"sender":     "SELECT * FROM sender WHERE company_id = $1",
		"template": "SELECT id, provider_id, sender, name, language, category, status, parameter_format, components, reason, " +
			"created_at, updated_at FROM template WHERE company_id = $1",
		"created":  "SELECT * FROM template_creation WHERE company_id = $1",
		"resource": "SELECT * FROM resource WHERE company_id = $1", "suppression": "SELECT * FROM suppression WHERE company_id = $1",
		"quota": "SELECT * FROM quota WHERE company_id = $1", "idempotency": "SELECT * FROM idempotency WHERE company_id = $1",
		"conversation": "SELECT * FROM conversation WHERE company_id = $1", "contact": "SELECT * FROM contact WHERE company_id = $1",
		"file":         "SELECT * FROM file WHERE company_id = $1",
		"canned_reply": "SELECT * FROM canned_reply WHERE company_id = $1",
		"turn":         "SELECT t.* FROM turn t JOIN conversation c ON c.id = t.conversation_id WHERE c.company_id = $1",
		"notification": "SELECT * FROM notification WHERE company_id = $1",
		"message":      "SELECT m.* FROM message m JOIN notification n ON n.seq = m.id >> 7 WHERE n.company_id = $1",
	} {
		rows := c.table(t, query, alphaID)
		if len(rows) == 0 {
			t.Errorf("Alpha has no %s", table)
		}
		for _, row := range rows {
			lines = append(lines, fmt.Sprintf("%s %v", table, row))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// until repeats a check until the condition holds.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(retryPause)
	defer tick.Stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("it did not come about within %s", patience)
		}
	}
}

// withKey adds an access key to a target.
func withKey(target, key string) string {
	sep := "?"
	if strings.Contains(target, "?") {
		sep = "&"
	}
	return target + sep + "access_key=" + url.QueryEscape(key)
}
