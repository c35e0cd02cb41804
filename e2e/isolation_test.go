package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/whatsapp/graphtest"
)

// TestCompaniesAreKeptApart combines every route of the router with every ID of Alpha and every credential of Beta.
func TestCompaniesAreKeptApart(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := startCompanies(t, engine, app.Options{}, nil)
			alpha := c.populate(t)
			before, beta := c.state(t), c.credentials(t)
			all := routeCalls(c, alpha)
			for _, route := range c.app.Routes() {
				t.Run(strings.ReplaceAll(route.Pattern, "/", "|"), func(t *testing.T) {
					calls, known := all[route.Pattern]
					if !known {
						t.Fatal("routeCalls does not say how this route is called")
					}
					for _, x := range calls {
						c.tryCall(t, route, x, alpha, beta)
					}
				})
			}
			if d := cmp.Diff(before, c.state(t)); d != "" {
				t.Errorf("what is Alpha's was changed:\n%s", d)
			}
			c.callbacks(t, alpha)
		})
	}
}

// belongings are Alpha's data: IDs of every kind, and other data that must not be visible.
type belongings struct {
	ids     []string          // IDs or names of notifications, templates, senders, agents, suppressions, keys and users
	sentIDs []string          // of the notifications among them, and the provider IDs of their messages
	markers []string          // lower-case
	cursors map[string]string // by list
	cloudy  string            // the notification behind the channel's stand-in
	sent    string            // body of a request that Alpha sent with an idempotency key
	signed  string            // address of a socket
}

const alphaSend = `{"contact":{"number":"34611222333"},"recipient_id":%q,"name_template":%q,"language_template":"en_US",` +
	`"notification_type":"utility","campaign_name":"alphacampaign","components_push":%s}`

// populate gives Alpha one of everything, and waits until all work is done.
func (c *companies) populate(t *testing.T) *belongings {
	t.Helper()
	a := &belongings{
		cursors: map[string]string{}, sent: fmt.Sprintf(alphaSend, "alpha_main", "alpha_plain", `{"body_text_0":"alphavalue"}`),
	}
	send := func(body string) string {
		return c.field(t, "notification_id", "POST", withKey("/functions/v1/notify", "ck_alpha_live"), body, "Idempotency-Key",
			"alphakey"+fmt.Sprint(len(body)))
	}
	first := send(a.sent)
	send(strings.Replace(a.sent, `"contact"`, `"datetime_sending":"2099-01-01T00:00:00","contact"`, 1))
	a.cloudy = send(fmt.Sprintf(alphaSend, "alpha_cloud", "alpha_cloudy", `{}`))
	for _, id := range []string{first, a.cloudy} {
		until(t, func() bool {
			return c.field(t, "state", "GET", withKey("/functions/v1/notify/"+id, "ck_alpha_live"), "") == "completed"
		})
	}
	until(t, func() bool { // the sandbox's last report
		return slices.Equal(c.column(t, "SELECT rank FROM message WHERE id >> 7 = $1", int64(carillon.SeqOf(first))), []string{"70"})
	})
	status, answered := c.ask(t, "POST", withKey("/functions/v1/notify/templates", "ck_alpha_live"),
		`{"name":"alpha_made","language":"en_US","content":"Alphatext","variables":[],"category":"UTILITY","submit":true}`)
	if status != 200 {
		t.Fatal(status, answered)
	}
	until(t, func() bool {
		return slices.Equal(c.column(t, "SELECT status FROM template WHERE name = 'alpha_made'"), []string{"approved"})
	})
	token := c.field(t, "token", "POST", "/functions/v1/chat/session",
		`{"widget_id":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa3","customer_id":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa4"}`)
	c.field(t, "at", "POST", "/functions/v1/chat/turns", `{"client_id":"1","text":"Alphaturn"}`, "Authorization", "Bearer "+token)
	file := c.field(t, "id", "POST", "/functions/v1/chat/files",
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"alphafile.txt\"\r\n\r\nAlphabytes\r\n--b--\r\n",
		"Authorization", "Bearer "+token, "Content-Type", "multipart/form-data; boundary=b")
	c.field(t, "at", "POST", "/functions/v1/chat/turns", `{"client_id":"2","file":"`+file+`"}`, "Authorization", "Bearer "+token)
	a.signed = c.field(t, "signed_url", "GET",
		withKey("/functions/v1/voice-widget/signed-url?id_widget=aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa5", "ck_alpha_live"), "")
	for _, list := range []string{"notify", "suppressions"} {
		a.cursors[list] = url.QueryEscape(c.field(t, "next_cursor", "GET", withKey("/functions/v1/"+list+"?limit=1", "ck_alpha_live"), ""))
	}
	owner := c.signIn(t, "owner@alpha.test", "alpha-horse-battery")
	c.field(t, "id", "POST", "/panel/v1/canned-replies", `{"shortcut":"alphashort","text":"Alphareply"}`, "Authorization", "Bearer "+owner)
	c.field(t, "id", "POST", "/panel/v1/send/jobs", "--b\r\nContent-Disposition: form-data; name=\"file\"; "+
		"filename=\"alphafile.csv\"\r\n\r\nphone,Alphacolumn\r\n34611222333,Alphacell\r\n--b--\r\n",
		"Authorization", "Bearer "+owner, "Content-Type", "multipart/form-data; boundary=b")
	a.ids = append(a.ids, c.phoned(t, "Bearer "+owner)...)
	c.column(t, `INSERT INTO incoming_call (id, company_id, sender, agent_id, number, node, under_way, state, recording, ringing_at,
		ended_at)
		SELECT $1, $2, uid, 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2', '34611222333', '', FALSE, 'completed', $3, 1, 2 FROM sender
			WHERE id = 'alpha_line' RETURNING id`,
		carillon.NewID(time.Now()), alphaID, file)
	c.column(t, `INSERT INTO api_call (company_id, id, at, bytes, status, code, method, path, key_id, request_id, repeats, micros,
		message, doc)
		VALUES ($1, $2, 1, 1, 400, 'alphacode', 'POST', '/alphapath', 'k', 'req_alpha', 0, 1, 'm', '{"body":"Alphabody"}') RETURNING id`,
		alphaID, carillon.NewID(time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)))
	c.field(t, "id", "POST", "/panel/v1/tools",
		`{"name":"alphatool","description":"Alphatool","http":{"url":"https://alpha.test/alphatool"}}`, "Authorization", "Bearer "+owner)
	c.field(t, "id", "POST", "/panel/v1/suites", `{"name":"alphasuite","agent":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2",`+
		`"cases":[{"name":"alphacase","turns":[{"say":"Alphaturn","expect":{"contains":["a"]}}]}]}`, "Authorization", "Bearer "+owner)
	site := "/panel/v1/sites/" + c.field(t, "id", "POST", "/panel/v1/sites",
		`{"name":"Alphasite","knowledge":"alphafaq","address":"http://127.0.0.1:1/alphapage"}`, "Authorization", "Bearer "+owner)
	until(t, func() bool { // nothing listens there
		_, state := c.ask(t, "GET", site+"/state", "", "Authorization", "Bearer "+owner)
		return strings.Contains(state, `"fault":"unreachable"`)
	})
	draft := c.field(t, "id", "POST", "/panel/v1/flows/drafts", `{"flow":{"name":"Alphadraft","trigger":{},"steps":[]}}`,
		"Authorization", "Bearer "+owner)
	c.column(t, `INSERT INTO flow_run (id, company_id, flow_id, version, conversation_id, cause, rev, state, place, path, variables,
		due_at, started_at, changed_at)
		SELECT $1, $2, $3, 1, id, 'test', 1, 'waiting', 0, 'steps.0', '{"secret":"Alphavariable"}', 4102444800000, 1, 1
			FROM conversation WHERE company_id = $2 LIMIT 1 RETURNING id`,
		carillon.NewID(time.Now()), alphaID, draft)
	c.column(t, `INSERT INTO reply (conversation_id, seq, company_id, sender_uid, number, state, due_at, changed_at, key_id, content)
		SELECT c.id, 1, $1, s.uid, '34611222333', 'sent', 0, 1, 'k', '{"type":"text","text":"Alphatext"}'
			FROM conversation AS c, sender AS s WHERE c.company_id = $1 AND s.id = 'alpha_main'
			AND EXISTS (SELECT 1 FROM turn WHERE conversation_id = c.id AND seq = 1)
			RETURNING state`, alphaID)
	for _, list := range []string{"keys", "users"} {
		a.cursors[list] = c.field(t, "next_cursor", "GET", "/panel/v1/"+list+"?limit=1", "", "Authorization", "Bearer "+owner)
	}
	for _, query := range []string{
		"SELECT id FROM notification WHERE company_id = $1", "SELECT id FROM template WHERE company_id = $1",
		"SELECT provider_id FROM template WHERE company_id = $1 AND provider_id <> ''", "SELECT name FROM template WHERE company_id = $1",
		"SELECT id FROM sender WHERE company_id = $1", "SELECT number FROM sender WHERE company_id = $1",
		"SELECT id FROM incoming_call WHERE company_id = $1", "SELECT flow_id FROM flow_draft WHERE company_id = $1",
		"SELECT id FROM flow_run WHERE company_id = $1", "SELECT id FROM bulk_job WHERE company_id = $1",
		"SELECT id FROM resource WHERE company_id = $1", "SELECT id FROM site_look WHERE company_id = $1",
		"SELECT id FROM conversation WHERE company_id = $1",
		"SELECT conversation_id || '.' || seq FROM reply WHERE company_id = $1",
		"SELECT id FROM contact WHERE company_id = $1", "SELECT id FROM file WHERE company_id = $1",
		"SELECT MAX(id) FROM audit WHERE company_id = $1", "SELECT id FROM api_call WHERE company_id = $1",
		"SELECT id FROM canned_reply WHERE company_id = $1", "SELECT number FROM suppression WHERE company_id = $1",
		"SELECT id FROM access_key WHERE company_id = $1", "SELECT account_id FROM membership WHERE company_id = $1",
		"SELECT s.id FROM session s JOIN membership m ON m.account_id = s.account_id WHERE m.company_id = $1",
		"SELECT m.provider_id FROM message m JOIN notification n ON n.seq = m.id >> 7 WHERE n.company_id = $1 AND m.provider_id IS " +
			"NOT NULL",
	} {
		found := c.column(t, query, alphaID)
		if len(found) == 0 {
			t.Fatalf("Alpha has none: %s", query)
		}
		a.ids = append(a.ids, found...)
	}
	a.ids = append(a.ids, alphaID)
	a.sentIDs = append(c.column(t, "SELECT id FROM notification WHERE company_id = $1", alphaID),
		c.column(t, "SELECT m.provider_id FROM message m JOIN notification n ON n.seq = m.id >> 7 WHERE n.company_id = $1 AND "+
			"m.provider_id IS NOT NULL", alphaID)...)
	for _, marker := range append(a.ids, "alpha", "3461122") {
		if marker = strings.ToLower(marker); !slices.Contains(a.markers, marker) {
			a.markers = append(a.markers, marker)
		}
	}
	return a
}

// phoned makes Alpha call the sandbox's phone, and returns the IDs of the call.
func (c *companies) phoned(t *testing.T, owner string) (ids []string) {
	t.Helper()
	id := c.field(t, "call_id", "POST", "/panel/v1/sandbox/calls",
		`{"sender":"alpha_line","agent_id":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2","suffix":"0017"}`, "Authorization", owner)
	until(t, func() bool {
		return c.field(t, "state", "GET", withKey("/functions/v1/calls/"+id, "ck_alpha_live"), "") == "completed"
	})
	var phone struct {
		Data []struct{ ID, Number string }
	}
	_, text := c.ask(t, "GET", "/panel/v1/sandbox/calls", "", "Authorization", owner)
	if err := json.Unmarshal([]byte(text), &phone); err != nil || len(phone.Data) != 1 {
		t.Fatalf("the phone has %s: %v", text, err)
	}
	return []string{id, phone.Data[0].ID, phone.Data[0].Number}
}

// tryCall sends a call to a route with every credential.
func (c *companies) tryCall(t *testing.T, route httpio.Route, x call, alpha *belongings, beta []credential) {
	t.Helper()
	method, pattern, _ := strings.Cut(route.Pattern, " ")
	for _, by := range beta {
		open, refused := admitted(route, by)
		for i, target := range targets(pattern, alpha.ids) {
			if i > 0 && (!open || strings.HasPrefix(x.query, "company=")) {
				break // refused because of the credential or its company, before the ID was read
			}
			if i > 0 && by.turns > 0 && i%by.turns != by.turn {
				continue
			}
			header := slices.Clone(x.header)
			if x.query != "" {
				target += "?" + x.query
			}
			if by.key != "" {
				target = withKey(target, by.key)
			}
			if by.bearer != nil {
				header = append(header, "Authorization", "Bearer "+by.bearer(t))
			}
			status, answered := c.ask(t, method, target, x.body, header...)
			if fault := judge(x, open, refused, status, answered); fault != "" {
				t.Errorf("%s: %s %s %s answered %d, %s: %.300s", by.name, method, target, x.body, status, fault, answered)
			}
			if seen := alpha.seen(answered, target, x.body); seen != "" {
				t.Errorf("%s: %s %s %s shows Alpha's %q: %d %.300s", by.name, method, target, x.body, seen, status, answered)
			}
		}
	}
}

// targets returns the paths of a pattern with each of the IDs.
func targets(pattern string, ids []string) []string {
	param := regexp.MustCompile(`\{[^}]*\}`)
	if !param.MatchString(pattern) {
		return []string{pattern}
	}
	var all []string
	for _, id := range ids {
		all = append(all, param.ReplaceAllLiteralString(pattern, url.PathEscape(id)))
	}
	return all
}

func judge(x call, open bool, refused, status int, answered string) string {
	away := status == 401 || status == 403 || status == 404
	switch {
	case !open && status != refused:
		return fmt.Sprintf("want %d", refused)
	case open && x.kind == foreign && !away:
		return "want 401, 403 or 404"
	case open && x.kind == plain && !away && status != 400:
		return "want 400, 403 or 404"
	case open && x.kind == empty && !away && !strings.Contains(answered, `"data":[]`):
		return "want nothing found"
	case status >= 500:
		return "want no internal error"
	}
	return ""
}

// random matches random parts of responses, which might spell anything, even Alpha's name.
var random = regexp.MustCompile(requestIDs.String() + `|eyJ[A-Za-z0-9_.-]+`)

// seen returns Alpha's data in a response that the request did not contain itself.
func (a *belongings) seen(answered, target, body string) string {
	answered = random.ReplaceAllString(answered, "")
	var brought []string
	if u, err := url.Parse(target); err == nil {
		brought = strings.Split(u.Path, "/")
		for _, values := range u.Query() {
			brought = append(brought, values...)
		}
	}
	brought = append(brought, regexp.MustCompile(`"[^"]*"`).FindAllString(body, -1)...)
	slices.SortFunc(brought, func(a, b string) int { return len(b) - len(a) })
	for _, b := range brought {
		if b = strings.Trim(b, `"`); len(b) > 3 {
			answered = strings.ReplaceAll(answered, b, "")
		}
	}
	answered = strings.ToLower(answered)
	for _, marker := range a.markers {
		if strings.Contains(answered, marker) {
			return marker
		}
	}
	return ""
}

// statuses returns a callback about Alpha's message from a channel's application.
func (c *companies) statuses(a *belongings, from *graphtest.Server) string {
	var all []graphtest.Status
	for _, state := range []string{"delivered", "read"} {
		for attempt := range 3 {
			all = append(all, graphtest.Status{
				Ref: fmt.Sprintf("%s.0.%d", a.cloudy, attempt), To: "34611222333", ID: "wamid.stolen", State: state, At: time.Now(),
			})
		}
	}
	return string(from.StatusBody(all...))
}

// callbacks posts callbacks signed by Beta's application, and finally one of Alpha's, which must count.
func (c *companies) callbacks(t *testing.T, a *belongings) {
	t.Helper()
	before := c.state(t)
	post := func(from *graphtest.Server, sender, body string, want int) {
		t.Helper()
		status, err := from.Deliver(t.Context(), c.url+"/callbacks/whatsapp/"+sender, []byte(body))
		if err != nil || status != want {
			t.Errorf("a callback to %s answered %d, want %d: %v", sender, status, want, err)
		}
	}
	paused := string(c.beta.TemplateBody("alpha_cloudy", "en_US", "DISABLED", "stolen"))
	for _, body := range []string{
		c.statuses(a, c.beta), c.statuses(a, c.alpha), paused, string(c.alpha.TemplateBody("alpha_cloudy", "en_US", "DISABLED", "stolen")),
	} {
		post(c.beta, "alpha_cloud", body, 401) // another company's secret
		post(c.beta, "beta_cloud", body, 200)  // its own secret, about a message of another company
	}
	if d := cmp.Diff(before, c.state(t)); d != "" {
		t.Errorf("another company's callback changed what is Alpha's:\n%s", d)
	}
	post(c.alpha, "alpha_cloud", c.statuses(a, c.alpha), 200)
	post(c.alpha, "alpha_cloud", string(c.alpha.TemplateBody("alpha_cloudy", "en_US", "DISABLED", "")), 200)
	if d := cmp.Diff([]string{"70"}, c.column(t, "SELECT rank FROM message WHERE id >> 7 = $1", int64(carillon.SeqOf(a.cloudy)))); d != "" {
		t.Errorf("its own callback:\n%s", d)
	}
	if d := cmp.Diff([]string{"disabled"}, c.column(t, "SELECT status FROM template WHERE name = 'alpha_cloudy'")); d != "" {
		t.Errorf("its own callback:\n%s", d)
	}
}
