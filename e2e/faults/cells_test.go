package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/send/whatsapp/graphtest"
)

const (
	movingCompany = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e07"
	movingName    = "Travels"
	stayingKey    = "ck_staying_live"
	cellsURL      = "https://cells.test" // of both installations: the company's addresses stay the same
	trackedNumber = "34620000002"
	trackedTo     = "https://shop.test/orders/7"
	onceNumber    = "34620000001" // of the request that is repeated after each move
)

const travelsProvision = `companies:
  - id: ` + movingCompany + `
    name: ` + movingName + `
    limits: {sends_per_minute: 0, daily_recipients: 0, daily_bytes: 0}
    keys: [{key: ` + accessKey + `, label: faults, scopes: ["*"]}]
    users: [{email: %s, password: %s, role: owner}]
    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e13, name: Robin, language: en}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax,
        per_recipient_interval: 0, settings: {base_url: %q,
         phone_number_id: "1000001", waba_id: "2000001", access_token: provider-token, app_secret: provider-app-secret,
           verify_token: provider-verify-token,
         agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e13}}
    templates:
      - {sender: main, name: plain, language: en, category: UTILITY, body: "Hello {{1}}.", examples: {body: [Ana]}}
      - {sender: main, name: tracked, language: en, category: UTILITY, body: "Hello {{1}}.", examples: {body: [Ana]},
         buttons: [{type: URL, text: Track, url: "` + cellsURL + `/l/{{1}}"}]}
    webhooks: [{url: %q}, {url: %q, ordered: true}]
    flows:
      - name: a question
        trigger: {keywords: [begin]}
        steps:
          - {say: "First?"}
          - {ask: first, choices: ["yes", "no"]}
          - {say: "Thanks."}
          - {end: true}
`

const othersProvision = `companies:
  - name: Others
    limits: {sends_per_minute: 0, daily_recipients: 0, daily_bytes: 0}
    keys: [{key: ` + stayingKey + `, label: faults, scopes: ["*"]}]
    senders: [{id: other, number: "15555550199", channel: messaging, provider: sandbox, default: true}]
    templates: [{sender: other, name: hello, language: en, category: UTILITY, status: approved, body: "Hello {{1}}, bye.",
      examples: {body: [Ana]}}]
`

// cell is an installation with one node.
type cell struct {
	node *node
	at   []string // flags of commands about companies
	db   func(query string, args ...any) int
}

// cells are two installations, and a company that moves between them.
type cells struct {
	t             *testing.T
	graph         *graphtest.Server
	front         *front
	free, ordered *taker
	closed        atomic.Bool // the endpoints do not respond
	home, away    *cell
	numbers       int
	others        int               // messages of the other companies
	accepted      map[string]string // notification by number
	file, link    string            // paths of a file for headers, and of a counted link
}

// newCells starts two installations with different engines and master keys. The company is in the first; each has another
// company.
func newCells(t *testing.T, home, away string) *cells {
	t.Helper()
	s := &cells{t: t, front: newFront(t), free: newTaker(t), ordered: newTaker(t), accepted: map[string]string{}}
	gate := func(x *taker) *httptest.Server {
		g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !await(r.Context(), hung, func() bool { return !s.closed.Load() }) {
				return
			}
			x.ServeHTTP(w, r)
		}))
		t.Cleanup(g.Close)
		return g
	}
	var err error
	if s.graph, err = graphtest.New(graphtest.Options{
		PhoneNumberID: "1000001",
		Callbacks:     graphtest.Callbacks{URL: s.front.server.URL + "/callbacks/whatsapp/main", Delay: 20 * time.Millisecond},
		Templates: []carillon.Template{{
			Name: "plain", Language: "en", Category: "UTILITY", Components: []carillon.Component{{
				Type: "BODY", Text: "Hello {{1}}.", Example: &carillon.ComponentExample{BodyText: [][]string{{"Ana"}}},
			}},
		}, {
			Name: "tracked", Language: "en", Category: "UTILITY", Components: []carillon.Component{{
				Type: "BODY", Text: "Hello {{1}}.", Example: &carillon.ComponentExample{BodyText: [][]string{{"Ana"}}},
			}, {
				Type: "BUTTONS", Buttons: []carillon.Button{{Type: "URL", Text: "Track", URL: cellsURL + "/l/{{1}}"}},
			}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.graph.Close() })
	text := fmt.Sprintf(travelsProvision, operator, password, s.graph.URL(), gate(s.free).URL, gate(s.ordered).URL)
	s.home, s.away = s.cell(home, 1), s.cell(away, 2)
	s.front.set(s.home.node)
	s.run(s.home, "apply", "--file="+s.write("travels.yaml", text))
	return s
}

func (s *cells) write(name, text string) string {
	s.t.Helper()
	name = filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

// cell starts an installation. The set-up that its program applies at each start has the other company alone.
func (s *cells) cell(engine string, number int) *cell {
	s.t.Helper()
	dir, c := s.t.TempDir(), &cell{}
	db, url := database(s.t, engine, dir)
	c.at = []string{"--data=" + dir, "--master-key-file=" + s.write("key", strings.Repeat(fmt.Sprint(number), 32))}
	if url != "" {
		c.at = append(c.at, "--database-url-file="+s.write("url", url))
	}
	c.db = func(query string, args ...any) (n int) {
		s.t.Helper()
		if err := db.QueryRowContext(s.t.Context(), query, args...).Scan(&n); err != nil {
			s.t.Fatal(err)
		}
		return n
	}
	c.node = newNode(s.t, dir, append(slices.Clone(c.at), "--provision="+s.write("others.yaml", othersProvision),
		"--cell="+fmt.Sprint(number),
		"--base-url="+cellsURL, "--password-memory=8", "--password-passes=1", "--media-allow-private=127.0.0.0/8")...)
	c.node.start()
	return c
}

// run runs a command at an installation, which must succeed, and returns its output.
func (s *cells) run(c *cell, args ...string) string {
	s.t.Helper()
	out, ok := command(s.t.Context(), s.t, slices.Concat(args, c.at), "", nil)
	if !ok {
		s.t.Fatalf("%v: %s", args, out)
	}
	return out
}

// killed runs a command and kills it, or the program of the installation, in a phase. The command may be faster than that.
func (s *cells) killed(c *cell, phase string, program bool, args ...string) {
	s.t.Helper()
	out, ok := command(s.t.Context(), s.t, slices.Concat(args, c.at), phase, func(cmd *exec.Cmd) {
		if program {
			c.node.kill()
		} else {
			_ = cmd.Process.Kill()
		}
	})
	s.t.Logf("%v, killed while %s: it had ended: %v, %s", args[:2], phase, ok, strings.TrimSpace(out))
	if c.node.dead() {
		c.node.start()
	}
}

// state returns the state of the company at an installation; empty if it is not there.
func (s *cells) state(c *cell) string {
	s.t.Helper()
	var all []struct{ ID, State string }
	out, _, _ := strings.Cut(s.run(c, "company", "list", "--json"), "\ntime=")
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&all); err != nil {
		s.t.Fatal(err, out)
	}
	for _, x := range all {
		if x.ID == movingCompany {
			return x.State
		}
	}
	return ""
}

// post sends a request of a company to an installation.
func (s *cells) post(c *cell, method, path, key, body string) (status int, answer map[string]any, header http.Header) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+c.node.addr+"/functions/v1"+path+"?access_key="+key,
		strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if strings.Contains(body, onceNumber) {
		r.Header["Idempotency-Key"] = []string{"once"}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	_ = json.Unmarshal(text, &answer)
	return resp.StatusCode, answer, resp.Header
}

// accept sends requests of twenty messages each, due at an instant; the zero value means now.
func (s *cells) accept(c *cell, requests int, at time.Time) {
	s.t.Helper()
	when := ""
	if !at.IsZero() {
		when = "," + schedule(at)
	}
	for range requests {
		var contacts, numbers []string
		for range 20 {
			s.numbers++
			number := fmt.Sprintf("3460%07d", s.numbers)
			numbers = append(numbers, number)
			contacts = append(contacts, fmt.Sprintf(`{"number":%q,"name":"Ana"}`, number))
		}
		status, answer, _ := s.post(c, http.MethodPost, "/notify", accessKey, `{"contacts":[`+strings.Join(contacts, ",")+
			`],"recipient_id":"main","name_template":"plain","language_template":"en","notification_type":"transactional",`+
			`"campaign_name":"cells","components_push":{"body_text_0":"Ana"}`+when+`}`)
		if status != http.StatusOK {
			s.t.Fatal(status, answer)
		}
		id, _ := answer["notification_id"].(string)
		for _, n := range numbers {
			s.accepted[n] = id
		}
	}
}

// publish stores a file, and sends a message with a counted link.
func (s *cells) publish(c *cell) {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "tour.pdf")
	if err == nil {
		_, err = io.WriteString(part, cellsFile)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		"http://"+c.node.addr+"/functions/v1/media?access_key="+accessKey, &body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var stored struct{ URL string }
	if err := json.NewDecoder(resp.Body).Decode(&stored); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatal(resp.StatusCode, err)
	}
	s.file = strings.TrimPrefix(stored.URL, cellsURL)
	status, answer, _ := s.post(c, http.MethodPost, "/notify", accessKey, `{"contacts":[{"number":"`+trackedNumber+`","name":"Ana"}],`+
		`"recipient_id":"main","name_template":"tracked","language_template":"en","notification_type":"transactional",`+
		`"campaign_name":"cells","components_push":{"body_text_0":"Ana","button_url_0":"`+trackedTo+`"}}`)
	if status != http.StatusOK {
		s.t.Fatal(status, answer)
	}
	s.accepted[trackedNumber], _ = answer["notification_id"].(string)
	token := regexp.MustCompile(`"type":"text","text":"([A-Za-z0-9_-]{22})"`)
	if !await(s.t.Context(), hung, func() bool {
		for _, posts := range s.graph.All() {
			for _, p := range posts {
				if found := token.FindSubmatch(p.Body); p.To == trackedNumber && found != nil {
					s.link = "/l/" + string(found[1])
				}
			}
		}
		return s.link != ""
	}) {
		s.t.Fatal("the message with a counted link was not sent")
	}
}

const cellsFile = "%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n"

// published follows the addresses of publish at an installation.
func (s *cells) published(c *cell) {
	s.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]func(r *http.Response, body string) bool{
		s.file: func(r *http.Response, body string) bool { return r.StatusCode == http.StatusOK && body == cellsFile },
		s.link: func(r *http.Response, _ string) bool { return r.Header.Get("Location") == trackedTo },
	} {
		r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+c.node.addr+path, http.NoBody)
		if err != nil {
			s.t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			s.t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !want(resp, string(body)) {
			s.t.Errorf("%s: %d, %v, %q", path, resp.StatusCode, resp.Header, body)
		}
	}
}

// repeat sends the same request with the same idempotency key; it is accepted once.
func (s *cells) repeat(c *cell) {
	s.t.Helper()
	status, answer, _ := s.post(c, http.MethodPost, "/notify", accessKey, `{"contacts":[{"number":"`+onceNumber+`","name":"Ana"}],`+
		`"recipient_id":"main","name_template":"plain","language_template":"en","notification_type":"transactional",`+
		`"campaign_name":"cells","components_push":{"body_text_0":"Ana"}}`)
	id, _ := answer["notification_id"].(string)
	if first := s.accepted[onceNumber]; status != http.StatusOK || first != "" && first != id {
		s.t.Errorf("a repeated request: %d, %v, first %s", status, answer, first)
	}
	s.accepted[onceNumber] = id
}

// other sends a message of the other company at an installation, which works all the time.
func (s *cells) other(c *cell) {
	s.t.Helper()
	s.others++
	if status, answer, _ := s.post(c, http.MethodPost, "/notify", stayingKey, fmt.Sprintf(
		`{"contacts":[{"number":"3461%07d","name":"Ana"}],"recipient_id":"other","name_template":"hello","language_template":"en",`+
			`"notification_type":"transactional","campaign_name":"others","components_push":{"body_text_0":"Ana"}}`, s.others),
	); status != http.StatusOK {
		s.t.Error("the other company:", status, answer)
	}
}

// refused checks the responses for the company while it is not in use at an installation.
func (s *cells) refused(c *cell, status int, code string) {
	s.t.Helper()
	var got int
	var answer map[string]any
	var header http.Header
	await(s.t.Context(), hung, func() bool { // a node learns of it within a second
		got, answer, header = s.post(c, http.MethodGet, "/usage", accessKey, "")
		return got == status
	})
	if got != status || answer["error"] != code || status == http.StatusServiceUnavailable && header.Get("Retry-After") == "" {
		s.t.Errorf("%d, Retry-After %q, %v", got, header.Get("Retry-After"), answer)
	}
	body := s.graph.InboundBody("Ana", graphtest.Text("34600500999", "wamid.refused", "hello", time.Now()))
	if got, err := s.graph.Deliver(s.t.Context(), "http://"+c.node.addr+"/callbacks/whatsapp/main", body); err != nil ||
		got != http.StatusServiceUnavailable {
		s.t.Errorf("a callback: %d, %v", got, err)
	}
}

// move moves the company. Each command is killed once, or its program.
func (s *cells) move(from, to *cell) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "travels")
	export := []string{"company", "export", movingCompany, "--to=" + file}
	s.killed(from, "writing", false, export...)
	if state := s.state(from); state != "active" && state != "moving" {
		s.t.Fatal("after a killed export the company is", state)
	}
	if _, err := os.Stat(file); err == nil { // it was faster
		s.t.Log("the file was complete")
	} else {
		s.killed(from, "writing", true, export...)
	}
	if _, err := os.Stat(file); err != nil {
		s.run(from, export...)
	}
	s.refused(from, http.StatusServiceUnavailable, "service_unavailable")
	s.other(from)
	imports := []string{"company", "import", file, "--key=" + file + ".key"}
	s.killed(to, "importing", false, imports...)
	if state := s.state(to); state == "" || state == "arriving" {
		s.killed(to, "importing", true, imports...)
	}
	if state := s.state(to); state == "" || state == "arriving" {
		s.run(to, imports...)
	}
	s.refused(to, http.StatusServiceUnavailable, "service_unavailable")
	s.other(to)
	out := s.run(from, "company", "moved", movingCompany, "--json")
	var moved struct{ Code string }
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&moved); err != nil {
		s.t.Fatal(err, out)
	}
	s.refused(from, http.StatusForbidden, "forbidden")
	s.run(to, "company", "resume", movingCompany, "--code="+moved.Code)
	if !await(s.t.Context(), hung, func() bool { // a node learns of it within a second
		status, _, _ := s.post(to, http.MethodGet, "/usage", accessKey, "")
		return status == http.StatusOK
	}) {
		s.t.Fatal("the company is not in use after the move")
	}
	s.front.set(to.node)
	remove := []string{"company", "remove", movingCompany, "--confirm=" + movingName}
	s.killed(from, "removing", true, remove...)
	if s.state(from) != "" {
		s.run(from, remove...)
	}
	s.other(from)
	s.other(to)
}

// finish waits until everything of the company is done at an installation, except for messages of tomorrow.
func (s *cells) finish(c *cell) {
	s.t.Helper()
	var open, behind, waiting int
	if !await(s.t.Context(), hung, func() bool {
		open = c.db("SELECT COUNT(*) FROM notification WHERE company_id = $1 AND open > 0 AND due_at < $2", movingCompany,
			time.Now().Add(time.Hour).UnixMilli())
		behind = c.db(`SELECT COALESCE(SUM(t.seq - c.seq), 0) FROM hook_cursor AS c JOIN event_topic AS t
			ON t.company_id = c.company_id AND t.topic = c.topic WHERE c.company_id = $1`, movingCompany)
		waiting = c.db("SELECT COUNT(*) FROM hook_retry WHERE company_id = $1", movingCompany)
		return open == 0 && behind == 0 && waiting == 0
	}) {
		s.t.Fatalf("%d notifications are open, %d events are behind, %d wait", open, behind, waiting)
	}
}

// balance compares the messages at the channel and the events at the endpoints with those that were accepted.
func (s *cells) balance(c *cell, tomorrow int) {
	s.t.Helper()
	s.finish(c)
	sent := map[string]int{}
	for _, posts := range s.graph.All() {
		for _, p := range posts {
			if p.Accepted && !strings.HasPrefix(p.Ref, "reply.") {
				sent[p.To]++
			}
		}
	}
	missing := 0
	for number := range s.accepted {
		switch n := sent[number]; {
		case n == 0:
			missing++
		case n > 1:
			s.t.Errorf("%s got %d messages", number, n)
		}
	}
	if missing != tomorrow {
		s.t.Errorf("%d messages were not sent, %d are due tomorrow", missing, tomorrow)
	}
	last := c.db("SELECT seq FROM event_topic WHERE company_id = $1 AND topic = 'notifications'", movingCompany)
	rows := c.db("SELECT COALESCE(SUM(events), 0) FROM event WHERE company_id = $1 AND topic = 'notifications'", movingCompany)
	s.finish(c) // messages that had ended are read later: some of those events may just have been written
	for name, x := range map[string]*taker{"free": s.free, "ordered": s.ordered} {
		x.mu.Lock()
		twice := 0
		for seq := int64(1); seq <= int64(last); seq++ {
			if x.came[seq] == 0 {
				s.t.Errorf("%s: event %d never came", name, seq)
			}
			twice += max(0, x.came[seq]-1)
		}
		s.t.Logf("%s: %d events (%d stored), %d came twice", name, last, rows, twice)
		x.mu.Unlock()
	}
}

// TestACompanyMovesToAnotherInstallationAndBack moves a company with messages that wait, are being sent and become due meanwhile, a
// flow that waits for an answer, and events that its endpoints have not taken, to another installation and back.
func TestACompanyMovesToAnotherInstallationAndBack(t *testing.T) {
	t.Parallel()
	for _, engines := range [][2]string{{"sqlite", "postgres"}, {"postgres", "sqlite"}} {
		t.Run(engines[0], func(t *testing.T) {
			t.Parallel()
			s := newCells(t, engines[0], engines[1])
			tomorrow := time.Now().Add(24 * time.Hour)
			s.accept(s.home, 1, tomorrow)
			s.closed.Store(true)
			s.ask("34600500001", "begin", "First?")
			s.repeat(s.home)
			s.publish(s.home)
			s.accept(s.home, 10, time.Time{})
			s.accept(s.home, 5, time.Now().Add(3*time.Second))
			s.accept(s.home, 5, time.Now().Add(6*time.Second))
			s.move(s.home, s.away)
			s.closed.Store(false)
			s.accept(s.away, 2, time.Time{})
			s.repeat(s.away)
			s.published(s.away)
			s.balance(s.away, 20)
			s.ask("34600500001", "1", "Thanks.")
			s.closed.Store(true)
			s.accept(s.away, 10, time.Time{})
			s.accept(s.away, 5, time.Now().Add(3*time.Second))
			s.move(s.away, s.home)
			s.closed.Store(false)
			s.accept(s.home, 2, time.Time{})
			s.repeat(s.home)
			s.published(s.home)
			s.balance(s.home, 20)
			for _, id := range s.accepted {
				if status, answer, _ := s.post(s.home, http.MethodGet, "/notify/"+id, accessKey, ""); status != http.StatusOK {
					t.Fatal(id, status, answer)
				}
			}
			if n := s.home.db("SELECT COUNT(*) FROM message WHERE q = 1 AND due_at = $1", tomorrow.UnixMilli()); n != 20 {
				t.Errorf("%d messages are due tomorrow", n)
			}
		})
	}
}

// ask writes to the company and waits for the flow's reply.
func (s *cells) ask(number, text, reply string) {
	s.t.Helper()
	body := s.graph.InboundBody("Ana", graphtest.Text(number, fmt.Sprintf("wamid.%s.%d", number, time.Now().UnixNano()), text, time.Now()))
	if !await(s.t.Context(), hung, func() bool {
		status, err := s.graph.Deliver(s.t.Context(), s.front.server.URL+"/callbacks/whatsapp/main", body)
		return err == nil && status == http.StatusOK
	}) {
		s.t.Fatal("the message is not taken")
	}
	if !await(s.t.Context(), hung, func() bool {
		for ref, posts := range s.graph.All() {
			for _, p := range posts {
				if p.Accepted && p.To == number && strings.HasPrefix(ref, "reply.") && strings.Contains(string(p.Body), reply) {
					return true
				}
			}
		}
		return false
	}) {
		s.t.Fatalf("no reply %q", reply)
	}
}
