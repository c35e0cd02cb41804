package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/send/whatsapp/graphtest"
)

// logged collects a program's log at all levels.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

// Contents of the requests in this test. Each credential begins with one of a few words; texts and values contain
// "secret". A number must stand alone, since the digits of a duration or of an ID are no number. Request IDs are
// random and may look like the beginning of a token, so they are removed first.
var (
	credentials = regexp.MustCompile(`\bck_[A-Za-z0-9_]{4}|eyJ[A-Za-z0-9_-]{8}|horse-battery|` +
		`-provider-token|-app-secret|-verify-token|secretpassword|secrettoken`)
	contents = regexp.MustCompile(`Alphatext|secrettext|secretvalue|(?:^|[^\w.])(?:3461[0-9]{7}|1555555[0-9]{4})\b|` +
		`access_key=|hub\.[a-z_]+=|\?[a-z_.]+=`)
	requestIDs = regexp.MustCompile(`req_[A-Za-z0-9_-]{20,26}`)
)

// TestNothingSecretIsLoggedOrAnswered sends valid and invalid requests of every kind, and checks all that was written
// about them: the log, the responses of failures, the metrics.
func TestNothingSecretIsLoggedOrAnswered(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			log, ops := &logged{}, freeAddress(t, map[string]string{"sqlite": "127.0.0.21", "postgres": "127.0.0.22"}[engine])
			c := startCompanies(t, engine, app.Options{Logger: slog.New(slog.NewJSONHandler(log,
				&slog.HandlerOptions{Level: slog.LevelDebug}))},
				map[string][]string{"ops-addr": {ops}})
			s := &secrets{companies: c}
			s.credentials(t)
			s.notifications(t)
			s.templates(t)
			s.panel(t)
			s.callbacks(t)
			s.oddRequests(t)
			s.deliveries(t)
			if s.failures < 50 {
				t.Errorf("only %d requests failed", s.failures)
			}
			lines := log.lines()
			if len(lines) < s.asked/2 { // refusals for the same reason are logged at most twenty times per second
				t.Errorf("%d lines of log for %d requests", len(lines), s.asked)
			}
			for _, line := range lines {
				if found := shown(line, credentials, contents); found != "" {
					t.Errorf("the log shows %q: %s", found, line)
				}
			}
			res, err := c.bare.Get("http://" + ops + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var metrics bytes.Buffer
			if _, err := metrics.ReadFrom(res.Body); err != nil ||
				!strings.Contains(metrics.String(), "carillon_http_requests_total{route=") {
				t.Fatal(metrics.Len(), err)
			}
			for line := range strings.SplitSeq(metrics.String(), "\n") {
				if found := shown(line, credentials, contents); found != "" {
					t.Errorf("the metrics show %q: %s", found, line)
				}
			}
		})
	}
}

// freeAddress returns an unused loopback address. If loopback is a network, as on Linux, no connection uses it as a
// source, so the port stays free until it is used.
func freeAddress(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// shown returns the first forbidden text, or "".
func shown(text string, forbidden ...*regexp.Regexp) string {
	text = requestIDs.ReplaceAllString(text, "")
	for _, f := range forbidden {
		if found := f.FindString(text); found != "" {
			return found
		}
	}
	return ""
}

// secrets sends requests, counts them, and checks the responses of failures.
type secrets struct {
	*companies
	asked, failures int
}

// try sends a request. An error may repeat the caller's own value in details.provided, but no credential.
func (s *secrets) try(t *testing.T, method, target, body string, header ...string) string {
	t.Helper()
	status, answered := s.ask(t, method, target, body, header...)
	s.asked++
	if status < 400 {
		return answered
	}
	s.failures++
	if found := shown(answered, credentials); found != "" {
		t.Errorf("%s %s %s: the error shows %q: %s", method, target, body, found, answered)
	}
	var e map[string]any
	if err := json.Unmarshal([]byte(answered), &e); err != nil {
		t.Errorf("%s %s: %s: %v", method, target, answered, err)
	}
	if details, ok := e["details"].(map[string]any); ok {
		// The contract allows repeating these values.
		for _, own := range []string{"provided", "template_name", "agent_id", "missing"} {
			delete(details, own)
		}
		if details["example"] == "34600111222" {
			delete(details, "example")
		}
	}
	rest, _ := json.Marshal(e)
	if found := shown(string(rest), contents); found != "" {
		t.Errorf("%s %s %s: the error shows %q: %s", method, target, body, found, answered)
	}
	return answered
}

func (s *secrets) credentials(t *testing.T) {
	t.Helper()
	const sign = "/functions/v1/auth?grant_type=password"
	for _, body := range []string{
		`{"email":"owner@alpha.test","password":"alpha-horse-battery"}`, `{"email":"owner@alpha.test","password":"secretpassword"}`,
		`{"email":"owner@alpha.test","password":["secretpassword"]}`, `{"email":["secretvalue"],"password":"secretpassword"}`,
		`{"email":"owner@alpha.test","password":"secretpassword"`, `{"password":"secretpassword","password":"secretpassword"}`,
		`{"email":"nobody@alpha.test","password":"secretpassword"}`, `"secretpassword"`,
	} {
		s.try(t, "POST", sign, body)
	}
	s.try(t, "POST", "/functions/v1/auth?grant_type=x", `{"email":"owner@alpha.test","password":"secretpassword"}`)
	for _, body := range []string{
		`{"refresh_token":"secrettoken"}`, `{"refresh_token":["secrettoken"]}`, `{"refresh_token":{"a":"secrettoken"}}`,
	} {
		s.try(t, "POST", "/functions/v1/auth/refresh", body)
	}
	token := s.signIn(t, "owner@alpha.test", "alpha-horse-battery")
	for _, bearer := range []string{
		"Bearer " + token, "Bearer " + token + "x", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.", "Basic secrettoken",
		"secrettoken", "Bearer secrettoken",
	} {
		s.try(t, "POST", "/functions/v1/api_keys", "", "Authorization", bearer)
		s.try(t, "GET", "/functions/v1/auth/user", "", "Authorization", bearer)
		s.try(t, "GET", "/functions/v1/usage", "", "Authorization", bearer)
		s.try(t, "GET", "/panel/v1/keys", "", "Authorization", bearer)
	}
	for _, key := range []string{"ck_alpha_live", "ck_unknown_key", "ck_gamma_live", "", strings.Repeat("ck_long_key", 99)} {
		s.try(t, "POST", withKey("/functions/v1/auth/company", key), "")
		s.try(t, "POST", "/functions/v1/auth/company", "", "X-Access-Key", key)
		s.try(t, "GET", withKey("/functions/v1/usage", key), "")
		s.try(t, "GET", withKey("/functions/v1/nowhere", key), "")
		s.try(t, "PUT", withKey("/functions/v1/notify", key), "")
		s.try(t, "GET", withKey("/functions/v1/notify/", key), "")
	}
}

func (s *secrets) notifications(t *testing.T) {
	t.Helper()
	good := fmt.Sprintf(alphaSend, "alpha_main", "alpha_plain", `{"body_text_0":"secrettext"}`)
	for _, change := range [][2]string{
		{"", ""},
		{"34611222333", "+34611222333"},
		{"34611222333", "34 611 222 333 34611222333"},
		{"body_text_0", "body_text_7"},
		{"alpha_plain", "secretvalue"},
		{`"secrettext"`, `["secrettext"]`},
		{`"secrettext"`, `"{{secretvalue}} secrettext"`},
		{`"secrettext"`, `"{{secretvalue}}"`},
		{"alpha_main", "secretvalue"},
		{`"utility"`, `"secretvalue"`},
		{`{"contact"`, `{"contact":{"number":"34611222333"},"contact"`},
		{`{"contact"`, `{"timezone":"secretvalue","datetime_sending":"2099-01-01T00:00:00","contact"`},
		{`{"contact"`, `{"datetime_sending":"secretvalue","contact"`},
		{`{"contact"`, `{"contacts":[{"number":"34611222333"}],"contact"`},
		{"}", ""},
		{"secrettext", strings.Repeat("secrettext", 200)},
		{"secrettext", "\\u0000secrettext"},
		{"secrettext", "secrettext\xff"},
		{"34611222333", "34611" + strings.Repeat("0", 40)},
		{"secrettext", strings.Repeat("secrettext", 1<<17)},
	} {
		body := strings.Replace(good, change[0], change[1], 1)
		s.try(t, "POST", withKey("/functions/v1/notify", "ck_alpha_live"), body)
		s.try(t, "POST", withKey("/functions/v1/notify/voice", "ck_alpha_live"), body)
		s.try(t, "POST", withKey("/functions/v1/notify?unflatten=true", "ck_alpha_live"), body)
		s.try(t, "POST", withKey("/functions/v1/notify", "ck_unknown_key"), body)
		s.try(t, "POST", withKey("/functions/v1/notify", "ck_alpha_second"), body)
	}
	s.try(t, "POST", withKey("/functions/v1/notify", "ck_alpha_live"), good, "Idempotency-Key", "k")
	s.try(t, "POST", withKey("/functions/v1/notify", "ck_alpha_live"), strings.Replace(good, "secrettext", "secretvalue", 1),
		"Idempotency-Key", "k")
	s.try(t, "POST", withKey("/functions/v1/notify", "ck_alpha_live"), good, "Content-Type", "text/secretvalue")
	for _, query := range []string{
		"number=%2B34611222333", "number=34611222333", "from=secretvalue", "cursor=secretvalue", "limit=secretvalue",
		"state=secretvalue", "campaign=a;b",
	} {
		s.try(t, "GET", withKey("/functions/v1/notify?"+query, "ck_alpha_live"), "")
	}
	for _, body := range []string{
		`{"number":"34611222333"}`, `{"number":"+34611222333"}`, `{"number":["34611222333"]}`,
		`{"number":"34611222333","reason":["secrettext"]}`,
	} {
		s.try(t, "POST", withKey("/functions/v1/suppressions", "ck_alpha_live"), body)
	}
	s.try(t, "DELETE", withKey("/functions/v1/suppressions/34611222333", "ck_alpha_live"), "")
	s.try(t, "DELETE", withKey("/functions/v1/suppressions/34611222333", "ck_alpha_live"), "")
	s.try(t, "DELETE", withKey("/functions/v1/notify/34611222333", "ck_alpha_live"), "")
}

func (s *secrets) templates(t *testing.T) {
	t.Helper()
	target := withKey("/functions/v1/notify/templates?phone_number=15555550102", "ck_alpha_live")
	made := `{"name":"one","language":"en_US","content":"secrettext {{a}}","variables":["a"],"category":"UTILITY","submit":true}`
	for _, change := range [][2]string{
		{"secrettext", "Alphatext"},
		{"UTILITY", "secretvalue"},
		{`"one"`, `"secrettext!"`},
		{`["a"]`, `["secretvalue"]`},
		{`"secrettext {{a}}"`, `["secrettext"]`},
		{"}", ""},
	} {
		s.try(t, "POST", target, strings.Replace(made, change[0], change[1], 1))
	}
	s.try(t, "POST", strings.Replace(target, "15555550102", "15555550103", 1), made) // its channel is down
	id := s.column(t, "SELECT id FROM template WHERE name = 'alpha_draft'")[0]
	for _, body := range []string{`{"content":"secrettext {{x}} {{y"}`, `{"content":["secrettext"]}`, `{"category":"secretvalue"}`} {
		s.try(t, "PATCH", withKey("/functions/v1/notify/templates/"+id, "ck_alpha_live"), body)
	}
	s.try(t, "GET", withKey("/functions/v1/notify/templates?phone_number=%2B15555550102", "ck_alpha_live"), "")
	s.try(t, "GET", withKey("/functions/v1/notify/templates?phone_number=15555550202", "ck_alpha_live"), "")
	s.try(t, "GET", withKey("/functions/v1/notify/template/components?template=secretvalue", "ck_alpha_live"), "")
}

func (s *secrets) panel(t *testing.T) {
	t.Helper()
	owner := "Bearer " + s.signIn(t, "owner@alpha.test", "alpha-horse-battery")
	for _, body := range []string{
		`{"label":"l"}`, `{"label":["secretvalue"]}`, `{"label":"l","key":"ck_made_up"}`, `{"label":"l","scopes":["secretvalue"]}`,
		`{"label":"l","expires_at":"secretvalue"}`,
		`{"label":"` + strings.Repeat("secretvalue", 20) + `"}`,
	} {
		s.try(t, "POST", "/panel/v1/keys", body, "Authorization", owner)
	}
	for _, body := range []string{
		`{"email":"a@alpha.test","password":"secretpassword"}`, `{"email":"a@alpha.test","password":"secretpassword"}`,
		`{"email":"secretvalue","password":"secretpassword"}`,
		`{"email":"b@alpha.test","password":["secretpassword"]}`,
		`{"email":"b@alpha.test","password":"secretpassword","phone":"34611222333"}`,
		`{"email":"b@alpha.test","password":"` + strings.Repeat("secretpassword", 99) + `"}`,
		`{"email":"b@alpha.test","password":"secretpassword","first":true,"name":"n","company":"c"}`,
	} {
		s.try(t, "POST", "/panel/v1/users", body, "Authorization", owner)
		s.try(t, "POST", "/panel/v1/users", body, "Authorization", "Bearer first_secrettoken")
	}
	for _, until := range []string{"secretvalue", "2000-01-01T00:00:00Z"} {
		s.try(t, "POST", "/panel/v1/maintenance", `{"until":"`+until+`"}`, "Authorization", owner)
	}
	s.try(t, "POST", "/panel/v1/templates/1/review", `{"approve":"secretvalue","reason":"secrettext"}`, "Authorization", owner)
	s.try(t, "DELETE", "/panel/v1/keys/ck_alpha_live", "", "Authorization", owner)
	s.agents(t, owner)
	s.senders(t, owner)
}

// senders checks senders that are not stored, and adds one, with unreachable addresses and refused settings.
func (s *secrets) senders(t *testing.T, owner string) {
	t.Helper()
	const sender = `{"id":"secretive","number":"15555550188","channel":"messaging","provider":"whatsapp",` +
		`"settings":{"base_url":"%s","phone_number_id":"1","waba_id":"2",` +
		`"access_token":"%s","app_secret":"alpha-app-secret","verify_token":"alpha-verify-token"}}`
	for _, body := range []string{
		fmt.Sprintf(sender, "https://127.0.0.1", "secrettoken"), fmt.Sprintf(sender, "secretvalue", "secrettoken"),
		fmt.Sprintf(sender, "https://127.0.0.1", "secrettoken with a space"),
		fmt.Sprintf(sender, "https://secretpassword@127.0.0.1", "secrettoken"), fmt.Sprintf(sender, "http://127.0.0.1:1", "secrettoken"),
	} {
		for _, path := range []string{"/panel/v1/senders/check", "/panel/v1/senders"} {
			if shown := s.try(t, "POST", path, body, "Authorization", owner); credentials.MatchString(shown) {
				t.Errorf("%s: %s", path, shown)
			}
		}
	}
	for _, path := range []string{
		"/panel/v1/senders/alpha_main/check", "/panel/v1/senders/alpha_cloud/check", "/panel/v1/senders/alpha_cloud/subscribe",
	} {
		if shown := s.try(t, "POST", path, "", "Authorization", owner); credentials.MatchString(shown) {
			t.Errorf("%s: %s", path, shown)
		}
	}
	s.try(t, "PUT", "/panel/v1/company", `{"name":"secretvalue","version":"secretvalue"}`, "Authorization", owner)
}

// agents gives an agent an unreachable server with a key, chats with it, and imports pages.
func (s *secrets) agents(t *testing.T, owner string) {
	t.Helper()
	const path, body = "/panel/v1/agents/aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2",
		`{"name":"Alphagent","engine":"openai","openai":{"base_url":"http://127.0.0.1:1/v1","model":"m","api_key":"secrettoken"}}`
	if shown := s.try(t, "PUT", path, body, "Authorization", owner); !strings.Contains(shown, `"model":"m"`) ||
		strings.Contains(shown, "secrettoken") {
		t.Errorf("put: %s", shown)
	}
	if shown := s.try(t, "GET", path, "", "Authorization", owner); strings.Contains(shown, "secrettoken") {
		t.Errorf("read: %s", shown)
	}
	for _, body := range []string{
		`{"name":"a","openai":{"base_url":"https://ai.test","model":"m","api_key":"secrettoken with a space"}}`,
		`{"name":"a","openai":{"api_key":["secrettoken"]}}`,
		`{"name":"a","openai":{"base_url":"https://ai.test","model":"m","api_key":{"env":"secrettoken"}}}`,
	} {
		s.try(t, "POST", "/panel/v1/agents", body, "Authorization", owner)
	}
	said := `{"said":[{"contact":true,"text":"secrettext of 34611222333"}]`
	if played := s.try(t, "POST", path+"/playground", said+"}", "Authorization", owner); !strings.Contains(played, `"fault"`) ||
		strings.Contains(played, "secrettoken") {
		t.Errorf("played: %s", played)
	}
	s.try(t, "POST", path+"/playground", said+`,"agent":{"name":"a","openai":{"api_key":"secrettoken"}}}`, "Authorization", owner)
	for _, url := range []string{
		"http://127.0.0.1:1/?access_key=secrettoken", "https://user:secretpassword@alpha.test/",
		"https://nowhere.invalid/?access_key=secrettoken",
	} {
		s.try(t, "POST", "/panel/v1/knowledge/import", `{"url":"`+url+`"}`, "Authorization", owner)
	}
}

func (s *secrets) callbacks(t *testing.T) {
	t.Helper()
	body := string(s.alpha.StatusBody(graphtest.Status{
		Ref: "secretvalue", To: "34611222333", ID: "wamid.x", State: "failed",
		Code: 131026, At: time.Now(),
	}))
	for _, x := range []string{
		body, `{"object":"secrettext"`, `{"entry":["34611222333"]}`,
		`{"entry":[{"changes":[{"field":"messages","value":{"messages":[{"from":"34611222333","text":{"body":"secrettext"}}]}}]}]}`,
	} {
		s.try(t, "POST", "/callbacks/whatsapp/alpha_cloud", x, "X-Hub-Signature-256", s.alpha.Sign([]byte(x)))
		s.try(t, "POST", "/callbacks/whatsapp/alpha_cloud", x, "X-Hub-Signature-256", "sha256=secrettoken")
		s.try(t, "POST", "/callbacks/whatsapp/nobody", x, "X-Hub-Signature-256", "sha256=secrettoken")
	}
	for _, token := range []string{"alpha-verify-token", "secrettoken"} {
		s.ask(t, "GET", "/callbacks/whatsapp/alpha_cloud?hub.mode=subscribe&hub.challenge=1&hub.verify_token="+token, "")
		s.asked++
	}
}

// oddRequests sends requests that the HTTP server refuses before our code.
func (s *secrets) oddRequests(t *testing.T) {
	t.Helper()
	for _, request := range []string{
		"GET /functions/v1/notify?access_key=ck_alpha_live HTTP/9.9\r\n\r\n",
		"GET /functions/v1/notify?access_key=ck_alpha_live;x HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /functions/v1/notify?access_key=ck_alpha_live\r\n\r\n",
		"POST /functions/v1/notify?access_key=ck_alpha_live HTTP/1.1\r\nHost: x\r\nContent-Length: secretvalue\r\n\r\n",
		"POST /functions/v1/notify?access_key=ck_alpha_live HTTP/1.1\r\nHost: x\r\nContent-Type: " +
			"application/json\r\nContent-Length: 99\r\n\r\n{\"contact\":\"34611222333 secrettext",
		"GET http://ck_alpha_live:secretpassword@x/functions/v1/usage?access_key=ck_alpha_live HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /functions/v1/usage?access_key=ck_alpha_live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secrettoken\r\nbroken " +
			"secrettoken\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(request)); err != nil {
			t.Error(err)
		}
		_ = conn.(*net.TCPConn).CloseWrite() // may already be cut
		var answered bytes.Buffer
		_, _ = answered.ReadFrom(conn) // may be cut
		_ = conn.Close()
		if found := shown(answered.String(), credentials); found != "" {
			t.Errorf("%q: the answer shows %q: %s", request, found, answered.String())
		}
	}
}

// deliveries makes messages fail in all ways, and checks the logs and metrics.
func (s *secrets) deliveries(t *testing.T) {
	t.Helper()
	var ids []string
	send := func(recipient, number, template, components string) {
		body := strings.Replace(fmt.Sprintf(alphaSend, recipient, template, components), "34611222333", number, 1)
		ids = append(ids, s.field(t, "notification_id", "POST", withKey("/functions/v1/notify", "ck_alpha_live"), body))
	}
	for _, suffix := range []string{"0001", "0002", "0005", "0009", "1111"} {
		send("alpha_main", "3461100"+suffix, "alpha_plain", `{"body_text_0":"secrettext"}`)
	}
	failures := []graphtest.Failure{
		{Kind: graphtest.HTML, HTTP: 502},
		{Kind: graphtest.Reset},
		{Kind: graphtest.Garbage},
		{Kind: graphtest.Redirect},
		graphtest.Code(400, 131026),
		// The last one pauses the sender.
		graphtest.Code(400, 132000), graphtest.Code(400, 131056), graphtest.Code(401, 190),
	}
	send("alpha_dead", "34611990001", "alpha_silent", `{}`)
	for i, f := range failures {
		f.Error.Message, f.Error.UserMsg = "(#1) secrettext to 34611222333", "recipient 34611222333, token secrettoken"
		s.alpha.Fail(1, f)
		send("alpha_cloud", fmt.Sprintf("3461155%04d", i), "alpha_cloudy", `{}`)
		until(t, func() bool {
			return slices.Equal(s.column(t, "SELECT 1 FROM message WHERE id >> 7 = $1 AND q <> 2 AND attempt > 0",
				int64(carillon.SeqOf(ids[len(ids)-1]))), []string{"1"})
		})
	}
	until(t, func() bool { return len(s.column(t, "SELECT 1 FROM message WHERE attempt > 0")) >= len(ids) })
	for _, id := range ids {
		s.try(t, "GET", withKey("/functions/v1/notify/"+id, "ck_alpha_live"), "")
		s.try(t, http.MethodDelete, withKey("/functions/v1/notify/"+id, "ck_alpha_live"), "")
	}
}
