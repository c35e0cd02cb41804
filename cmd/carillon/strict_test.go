package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"carillon"
)

const testKey = "ck_test_secret_key"

// strict is a fake server: it checks requests against the contract and responds accordingly.
type strict struct {
	t    *testing.T
	url  string
	mu   sync.Mutex
	sent []sent
	// answers are canned responses by path, used in order before the regular ones.
	answers map[string][]string
	kept    map[string]string // Idempotency-Key → body
	asked   []string          // method and path of every request
	denied  bool              // the key may not read notifications
}

type sent struct {
	Key      string
	Body     map[string]any
	Contacts []map[string]any
}

func newStrict(t *testing.T) *strict {
	s := &strict{t: t, answers: map[string][]string{}, kept: map[string]string{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// answer queues responses of the form `429 {...}` before the regular ones.
func (s *strict) answer(path string, answers ...string) { s.answers[path] = answers }

func (s *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	if (len(body) > 0) != (r.Header.Get("Content-Type") == "application/json") {
		s.t.Errorf("%s %s: %d bytes of %q", r.Method, r.URL.Path, len(body), r.Header.Get("Content-Type"))
	}
	if queue := s.answers[r.URL.Path]; len(queue) > 0 {
		s.answers[r.URL.Path] = queue[1:]
		s.write(w, queue[0])
		return
	}
	s.write(w, s.usual(w, r, body))
}

func (s *strict) write(w http.ResponseWriter, answer string) {
	var status int
	_, err := fmt.Sscan(answer, &status)
	_, body, _ := strings.Cut(answer, " ")
	if err != nil {
		s.t.Errorf("answer %q: %v", answer, err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (s *strict) usual(w http.ResponseWriter, r *http.Request, body []byte) string {
	path, byKey := strings.CutPrefix(r.URL.Path, "/functions/v1/")
	if path == "auth" {
		return s.signIn(r, body)
	}
	if byKey && r.URL.Query().Get("access_key") != testKey {
		return `401 {"error":"unauthorized","message":"The access key is invalid","details":{"reason":"invalid"},"request_id":"req_401"}`
	}
	if !byKey && r.Header.Get("Authorization") != "Bearer the-token" {
		return `401 {"error":"unauthorized","message":"The token is invalid","details":{"reason":"invalid"},"request_id":"req_401"}`
	}
	if strings.HasPrefix(r.Method+" "+path, "GET notify/n-") && len(s.sent) > 0 {
		if s.denied {
			return `403 {"error":"forbidden","message":"Forbidden","details":{"reason":"The key lacks the scope notify:read"},` +
				`"request_id":"req_403"}`
		}
		return s.read(strings.TrimPrefix(path, "notify/"))
	}
	switch r.Method + " " + path {
	case "POST notify":
		return s.notify(w, r, body)
	case "GET notify/templates":
		if !carillon.ValidNumber(r.URL.Query().Get("phone_number")) {
			return `400 {"error":"validation_failed","message":"Invalid value","request_id":"req_1"}`
		}
		return `200 [{"id":"1","name":"hello","status":"APPROVED","category":"UTILITY","language":"en","components":[{"text":"Hi ` +
			`{{1}}","type":"BODY"}],"parameter_format":"POSITIONAL"}]`
	case "POST notify/templates":
		return s.exact(body, `{"category":"UTILITY","content":"Hi {{who}}","language":"en","name":"hello","submit":true}`,
			`200 {"success":true,"message":"Template created successfully","template":{"id":"7","name":"hello","status":"pending"}}`)
	case "POST notify/templates/7/submit":
		return `200 {"id":"7","name":"hello","status":"PENDING","category":"UTILITY","language":"en","components":[],` +
			`"parameter_format":"NAMED"}`
	case "DELETE notify/n-1":
		return `200 {"notification_id":"n-1","canceled":3,"already_sent":1}`
	case "POST /panel/v1/keys":
		return s.exact(body, `{"label":"ci","scopes":["notify:send"]}`,
			`201 {"id":"k-1","label":"ci","key":"ck_made","prefix":"ck_m","scopes":["notify:send"],"is_active":true}`)
	case "DELETE /panel/v1/keys/k-1", "DELETE /panel/v1/maintenance":
		return "204"
	case "POST /panel/v1/users":
		return s.exact(body, `{"email":"ana@a.test","name":"ana","password":"long-enough-word","role":"teammate"}`,
			`201 {"id":"u-1","email":"ana@a.test","name":"ana","role":"teammate"}`)
	}
	return `404 {"error":"not_found","message":"Route not found","request_id":"req_404"}`
}

func (s *strict) exact(body []byte, want, answer string) string {
	if string(body) != want {
		s.t.Errorf("got  %s\nwant %s", body, want)
	}
	return answer
}

func (s *strict) signIn(r *http.Request, body []byte) string {
	if r.URL.RawQuery != "grant_type=password" {
		s.t.Errorf("sign-in with %s", r.URL.RawQuery)
	}
	var in struct{ Email, Password string }
	if err := json.Unmarshal(body, &in); err != nil || in.Email != "owner@a.test" || in.Password != "the-password" {
		return `401 {"error":"unauthorized","message":"Wrong e-mail or password","details":{"reason":"invalid"},"request_id":"req_2"}`
	}
	return `200 {"access_token":"the-token","token_type":"bearer"}`
}

// notify accepts a messaging request that contains only contacts, and handles repeats as docs/reference/sending.md
// says.
func (s *strict) notify(w http.ResponseWriter, r *http.Request, body []byte) string {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var in struct {
		Contacts   []map[string]any  `json:"contacts"`
		Language   string            `json:"language_template"`
		Template   string            `json:"name_template"`
		Recipient  string            `json:"recipient_id"`
		Type       string            `json:"notification_type"`
		Campaign   string            `json:"campaign_name"`
		Event      string            `json:"name_event"`
		At         string            `json:"datetime_sending"`
		Zone       string            `json:"timezone"`
		Components map[string]string `json:"components_push"`
	}
	if err := d.Decode(&in); err != nil {
		s.t.Errorf("%v in %s", err, body)
	}
	if n := len(in.Contacts); n < 1 || n > 100 || in.Language == "" || in.Template == "" || in.Recipient == "" || in.Campaign == "" ||
		!slices.Contains([]string{"marketing", "transactional", "utility"}, in.Type) {
		s.t.Errorf("not in the contract's form: %d contacts in %.200s", n, body)
	}
	for i, c := range in.Contacts {
		if number, _ := c["number"].(string); !carillon.ValidNumber(number) {
			s.t.Errorf("contacts.%d has the number %v", i, c["number"])
		}
		if c["name"] == "Refuse" {
			return fmt.Sprintf(`400 {"error":"validation_failed","message":"Invalid value","details":{"field":"contacts.%d.name",`+
				`"reason":"No"},"request_id":"req_3"}`, i)
		}
	}
	key := r.Header.Get("Idempotency-Key")
	if before, found := s.kept[key]; found {
		if before != string(body) {
			return `422 {"error":"idempotency_key_reused","message":"Another request","request_id":"req_4"}`
		}
		w.Header().Set("Idempotent-Replayed", "true")
	} else {
		s.kept[key] = string(body)
		all := map[string]any{}
		_ = json.Unmarshal(body, &all)
		s.sent = append(s.sent, sent{key, all, in.Contacts})
	}
	return fmt.Sprintf(`200 {"success":true,"message":"Notification queued successfully","notification_id":"n-%s"}`, key[len(key)-4:])
}

// read responds with the last notification sent. The fake server's only sender is main.
func (s *strict) read(id string) string {
	given, _ := s.sent[len(s.sent)-1].Body["recipient_id"].(string)
	note := ""
	if given != "main" {
		note = fmt.Sprintf(`,{"at":"2026-01-31T00:00:00.000Z","event":"default_sender","text":"default sender main sends; \"%s\" is `+
			`none of the senders"}`, given)
	}
	return fmt.Sprintf(`200 {"notification_id":%q,"channel":"messaging","state":"completed","recipient_id":%q,"sender":{"id":"main",`+
		`"number":"15555550100"},`+
		`"notification_type":"utility","campaign_name":"c","created_at":"2026-01-31T00:00:00Z","counts":{"sent":1},`+
		`"timeline":[{"at":"2026-01-31T00:00:00.000Z","event":"accepted","text":"accepted"}%s],"recipients":[]}`, id, given, note)
}

// posts counts the POST requests.
func (s *strict) posts() (n int) {
	for _, asked := range s.asked {
		if strings.HasPrefix(asked, http.MethodPost+" ") {
			n++
		}
	}
	return n
}

// result is the exit code and output of a command.
type result struct {
	code           int
	stdout, stderr string
}

// try runs a command line against the fake server.
func (s *strict) try(env map[string]string, args ...string) result {
	s.t.Helper()
	var out, errs bytes.Buffer
	code := run(s.t.Context(), args, environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Lookup: func(name string) (string, bool) {
			if v, set := env[name]; set {
				return v, true
			}
			v, set := map[string]string{
				"CARILLON_URL": s.url, "CARILLON_ACCESS_KEY": testKey, "CARILLON_EMAIL": "owner@a.test",
				"CARILLON_PASSWORD":   "the-password",
				"CARILLON_READY_FILE": "nowhere",
			}[name]
			return v, set
		},
	})
	r := result{code, out.String(), errs.String()}
	for _, secret := range []string{testKey, "the-password", "the-token"} {
		if strings.Contains(r.stdout+r.stderr, secret) {
			s.t.Errorf("%v shows %s:\n%s%s", args, secret, r.stdout, r.stderr)
		}
	}
	return r
}
