package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/storetest"
)

// person writes to a number of a company over the channel, and receives the replies.
type person struct {
	t      *testing.T
	graph  *graphtest.Server
	a      *app.App
	base   string
	number string
	n      int
	log    *quiet
	token  string // of a teammate
	// data is the data folder; database is the PostgreSQL address, empty for SQLite.
	data, database string
}

var repliesSetUp = `companies:
  - name: Acme
    limits: {daily_recipients: 0, daily_bytes: 0, sends_per_minute: 0}
    users: [{email: ben@acme.test, password: carillon-demo, name: Ben, role: owner}]
    keys: [{key: ck_channel_test, label: test}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax,
        per_recipient_interval: 0, settings: {base_url: %q,
         phone_number_id: "1000001", waba_id: "2000001", access_token: provider-token, app_secret: provider-app-secret,
           verify_token: provider-verify-token}}
      - {id: line, number: "15555550101", channel: voice, provider: sandbox, default: true, max_concurrent: 10}
    agents:
      - {id: 5a1c9e30-52bd-4f0a-9d47-18f3c7e25b21, name: Ann, language: en, engine: builtin}
    flows:
      - name: order-follow-up
        trigger: {event: order-shipped}
        steps:
          - {say: "Hola {{first_name}}, ¿recibió su pedido {{order}}?"}
          - {ask: received, choices: [sí, no]}
          - {http: {method: POST, url: "%s/orders/{{order}}", body: '{"received": "{{received}}"}', save: {thanks: "text.0"},
            status: status}}
          - {if: "received == 'no'", then: [{handoff: support}], else: [{say: "{{thanks}} {{status}}"}, {say: "Hasta luego"}]}
      - name: menu
        trigger: {keywords: [menu]}
        steps:
          - {say: "What?"}
          - {ask: what, choices: [one, two, three, four], retries: 1}
          - {send_template: {name: plain, language: en, variables: {body_text_0: "{{what}}"}}}
          - {say: "done"}
      - name: reach
        trigger: {keywords: [reach]}
        steps:
          - {send_template: {name: plain, language: en, variables: {body_text_0: "x"}}}
          - {place_call: {agent: Ann}}
          - {say: "done {{notification_id}}"}
    templates:` + strings.ReplaceAll(channelTemplates, "sender: second", "sender: main")

func startReplies(t *testing.T, engine string) *person {
	t.Helper()
	return startPerson(t, engine, repliesSetUp)
}

// startPerson starts the program with a set-up that has placeholders for the addresses of the channel and of a shop.
func startPerson(t *testing.T, engine, setUp string) *person {
	t.Helper()
	graph, err := graphtest.New(graphtest.Options{PhoneNumberID: "1000001", Templates: knownTemplates(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = graph.Close() })
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/orders/A-7" || string(body) != `{"received": "sí"}` || r.Header.Get("Idempotency-Key") == "" {
			t.Errorf("the shop gets %s %s", r.URL, body)
		}
		_, _ = io.WriteString(w, `{"text": ["Gracias"]}`)
	}))
	t.Cleanup(shop.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(setUp, graph.URL(), shop.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{
		Addr: "127.0.0.1:0", Data: dir, Provision: []string{file}, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
		MediaAllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		MetaAppID:         "3000001", MetaAppSecret: "provider-app-secret", MetaConfigID: "4000001",
	}
	if engine == "postgres" {
		cfg.DatabaseURL, cfg.MasterKeyFile = config.Secret(storetest.PatientPostgres(t)), storetest.MasterKey(t)
	}
	log := &quiet{}
	a, err := app.New(cfg, app.Options{
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), GraphURL: graph.URL(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &person{
		t: t, graph: graph, a: a, base: a.BaseURL(), number: "34600111222", log: log, data: dir, database: string(cfg.DatabaseURL),
	}
}

// writes delivers messages of the person, each twice, the second time in reverse order. Like the channel, it gives up
// on a callback after ten seconds and repeats it.
func (p *person) writes(messages ...graphtest.Inbound) {
	p.t.Helper()
	for range 2 {
		body := p.graph.InboundBody("Ana "+p.number, messages...)
		app.Within(p.t, "a callback is taken", func() bool {
			status, err := p.graph.Deliver(p.t.Context(), p.base+"/callbacks/whatsapp/main", body)
			return status == http.StatusOK && err == nil
		})
		slices.Reverse(messages)
	}
}

func (p *person) text(text string) {
	p.t.Helper()
	p.n++
	p.writes(graphtest.Text(p.number, fmt.Sprintf("wamid.%s.%d", p.number, p.n), text, time.Now()))
}

// gets returns the replies accepted for the person, in order and in short form.
func (p *person) gets() (all []string) {
	var posts []graphtest.Post
	for ref, each := range p.graph.All() {
		if strings.HasPrefix(ref, "reply.") && each[0].To == p.number {
			if len(each) != 1 {
				p.t.Errorf("%s was posted %d times", ref, len(each))
			}
			posts = append(posts, each[0])
		}
	}
	slices.SortFunc(posts, func(a, b graphtest.Post) int { return a.At.Compare(b.At) })
	for _, post := range posts {
		if !post.Accepted {
			p.t.Errorf("%+v", post)
		}
		var m struct {
			Type        string
			Text        struct{ Body string }
			Interactive struct {
				Type   string
				Body   struct{ Text string }
				Action struct {
					Buttons  []struct{ Reply struct{ Title string } }
					Sections []struct{ Rows []struct{ Title string } }
				}
			}
		}
		if err := json.Unmarshal(post.Body, &m); err != nil {
			p.t.Error(err)
		}
		line := m.Text.Body + m.Interactive.Body.Text
		for _, b := range m.Interactive.Action.Buttons {
			line += " [" + b.Reply.Title + "]"
		}
		for _, s := range m.Interactive.Action.Sections {
			for _, r := range s.Rows {
				line += " (" + r.Title + ")"
			}
		}
		all = append(all, line)
	}
	return all
}

// got waits for replies to the person and checks that they are exactly these.
func (p *person) got(want ...string) {
	p.t.Helper()
	app.Within(p.t, fmt.Sprintf("%s gets %q", p.number, want), func() bool { return len(p.gets()) >= len(want) })
	if got := p.gets(); !slices.Equal(got, want) {
		p.t.Fatalf("%s gets\n%s\nnot\n%s\nthe inbox shows\n%s", p.number, strings.Join(got, "\n"), strings.Join(want, "\n"),
			strings.Join(p.inbox(), "\n"))
	}
}

// notify sends the person a template with an event, and returns its channel ID.
func (p *person) notify() string {
	p.t.Helper()
	body := fmt.Sprintf(
		`{"contact":{"number":%q,"first_name":"Ana","order":"A-7"},"recipient_id":"main","name_template":"plain","language_template":"en",
		"notification_type":"utility","campaign_name":"c","name_event":"order-shipped","components_push":{"body_text_0":"A-7"}}`, p.number)
	resp, err := http.Post(p.base+"/functions/v1/notify?access_key=ck_channel_test", "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	id, _ := decode(p.t, resp, http.StatusOK)["notification_id"].(string)
	wamid := ""
	app.Within(p.t, "it is sent", func() bool {
		for ref, posts := range p.graph.All() {
			if strings.HasPrefix(ref, id) {
				wamid = posts[0].ID
			}
		}
		return wamid != ""
	})
	return wamid
}

// A flow sends only from its own company's senders, whatever IDs and numbers other companies give theirs.
func TestAFlowSendsByItsOwnSenders(t *testing.T) {
	t.Parallel()
	p := startPerson(t, "sqlite", repliesSetUp+`
  - name: Squatter
    senders:
      - {id: flow, number: "34600111222", channel: messaging, provider: sandbox}
      - {id: flow-line, number: "34600111223", channel: voice, provider: sandbox}
      - {id: main, number: "34600111224", channel: voice, provider: sandbox}
`)
	p.text("reach")
	app.Within(t, "the flow has placed its call", func() bool {
		return slices.ContainsFunc(p.gets(), func(line string) bool { return strings.HasPrefix(line, "done ") })
	})
}

func TestAFlowAnswersTheReplyToANotification(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			wamid := p.notify()
			p.writes(graphtest.Inbound{
				"from": p.number, "id": "wamid.button", "timestamp": fmt.Sprint(time.Now().Unix()), "type": "button",
				"context": map[string]any{"id": wamid, "from": "15555550100"}, "button": map[string]any{"payload": "p", "text": "Details"},
			})
			const asks = "Hola Ana, ¿recibió su pedido A-7? [sí no]"
			p.got("Hola Ana, ¿recibió su pedido A-7? [sí] [no]")
			p.text("qué?")
			p.got("Hola Ana, ¿recibió su pedido A-7? [sí] [no]", "Sorry, I didn't catch that.\nHola Ana, ¿recibió su pedido A-7? [sí] [no]")
			p.text("Si")
			all := []string{
				"Hola Ana, ¿recibió su pedido A-7? [sí] [no]",
				"Sorry, I didn't catch that.\nHola Ana, ¿recibió su pedido A-7? [sí] [no]", "Gracias 200", "Hasta luego",
			}
			p.got(all...)
			app.Within(t, "what arrived is marked as read", func() bool { return len(p.graph.Marks()) >= 3 })
			if marks := p.graph.Marks(); !marks[0].Typing || marks[0].ID != "wamid.button" {
				t.Errorf("marks %v", marks)
			}
			p.text("menu")
			all = append(all, "What? (one) (two) (three) (four)")
			p.got(all...)
			p.text("3")
			p.got(append(all, "done")...)
			app.Within(t, "both templates are sent", func() bool { return p.templates() >= 2 })
			// A teammate answers over the channel too, and sends a template.
			at := "/conversations/" + p.conversation()
			p.office("POST", at+"/take", "{}", http.StatusOK)
			p.office("POST", at+"/answers", `{"client_id":"1","text":"Welcome"}`, http.StatusOK)
			p.got(append(all, "done", "Welcome")...)
			if offered := p.office("GET", at+"/templates", "", http.StatusOK); !strings.Contains(fmt.Sprint(offered), "plain") {
				t.Error(offered)
			}
			const template = `{"client_id":"2","name":"plain","language":"en","variables":{"body_text_0":"{{name}}"}}`
			p.office("POST", at+"/templates", template, http.StatusOK)
			app.Within(t, "the template is sent", func() bool { return p.templates() >= 3 })
			p.graph.PutFile("pdf", graphtest.File{Type: "application/pdf", Data: []byte("%PDF-1.4\n%%EOF\n")})
			p.writes(graphtest.Inbound{
				"from": p.number, "id": "wamid.file", "timestamp": fmt.Sprint(time.Now().Unix()), "type": "document",
				"document": map[string]any{"id": "pdf", "mime_type": "application/pdf", "filename": "../../etc/b.pdf"},
			})
			p.shows("> Details {Hello A-7.}", "* flow_began order-follow-up", "< "+asks, "> qué?",
				"< Sorry, I didn't catch that.\n"+asks, "> Si",
				"< Gracias 200", "< Hasta luego", "> menu", "* flow_began menu", "< What? [one two three four]", "> 3", "< done",
				"* joined", "<< Welcome", "* template_sent Hello Ana 34600111222.", "> (b.pdf application/pdf)")
			// The panel shows the steps of the runs, newest first.
			var runs []string
			for _, x := range p.office("GET", "/flow-runs?limit=100", "", http.StatusOK)["data"].([]any) {
				run := x.(map[string]any)
				runs = append(runs, fmt.Sprint(run["flow"], " ", run["number"], " ", run["state"]))
				one := p.office("GET", "/flow-runs/"+fmt.Sprint(run["id"]), "", http.StatusOK)
				if entries, _ := one["entries"].([]any); len(entries) == 0 {
					t.Errorf("the run shows %v", one)
				}
			}
			if want := []string{
				"menu " + p.number + " completed", "order-follow-up " + p.number + " completed",
			}; !slices.Equal(runs, want) {
				t.Errorf("the runs are %v", runs)
			}
			if n := p.templates(); n != 3 {
				t.Errorf("%d templates were sent", n)
			}
		})
	}
}

func TestWhoWritesStopGetsNoMoreAndIsTold(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			p.text(" ¡Baja! ")
			stopped := "Se ha dado de baja. Responda ALTA para volver a recibir nuestros mensajes."
			p.got(stopped)
			if !p.suppressed()[p.number] {
				t.Error("the number is not suppressed")
			}
			contact := fmt.Sprintf(`"contact":{"number":%q},"recipient_id":"x","campaign_name":"c","name_event":"none"`, p.number)
			message := func(kind string) string {
				return p.state(p.send("notify", `{`+contact+`,"name_template":"plain","language_template":"en",
					"notification_type":"`+kind+`","components_push":{"body_text_0":"x"}}`))
			}
			for _, kind := range []string{"marketing", "utility", "transactional"} {
				if got := message(kind); got != "skipped suppressed" {
					t.Errorf("a notification of type %s is %s", kind, got)
				}
			}
			call := p.send("notify/voice", `{`+contact+`,
				"agent_id":"5a1c9e30-52bd-4f0a-9d47-18f3c7e25b21","notification_type":"transactional"}`)
			if got := p.state(call); got != "skipped suppressed" {
				t.Errorf("a call is %s", got)
			}
			// Notifications and calls of a flow are suppressed too; only its conversation with the person is not.
			p.text("reach")
			app.Within(t, "the flow replies", func() bool { return len(p.gets()) == 2 })
			id, done := strings.CutPrefix(p.gets()[1], "done ")
			if !done {
				t.Fatalf("the flow says %q", p.gets())
			}
			if state := p.state(id); state != "skipped suppressed" || p.templates() > 0 {
				t.Errorf("the call of a flow is %s, and %d templates are sent", state, p.templates())
			}
			p.text("START")
			p.got(stopped, "done "+id, "You're subscribed again. Reply STOP to unsubscribe.")
			// the confirmation comes first
			app.Within(t, "the number is not suppressed any more", func() bool { return !p.suppressed()[p.number] })
			if got := message("utility"); strings.HasPrefix(got, "skipped") {
				t.Errorf("a notification after START is %s", got)
			}
			for _, bad := range []string{"level=ERROR", "provider-token", "provider-app-secret"} {
				if log := p.log.String(); strings.Contains(log, bad) {
					t.Errorf("the log holds %q: %s", bad, log)
				}
			}
		})
	}
}

// quiet keeps a log for tests that search it.
type quiet struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (q *quiet) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.text.Write(b)
}

func (q *quiet) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.text.String()
}

// another returns another person who writes to the same program.
func (p *person) another(number string) *person {
	q := *p
	q.number, q.n = number, 0
	return &q
}

// office sends a panel request as a teammate.
func (p *person) office(method, path, body string, want int) map[string]any {
	p.t.Helper()
	k := talk{t: p.t, a: p.a}
	if p.token == "" {
		p.token = k.signIn("ben@acme.test")
	}
	got := k.ask(method, "/panel/v1"+path, p.token, body, want)
	for _, secret := range []string{"provider-token", "provider-app-secret", "media-token"} {
		if strings.Contains(fmt.Sprint(got), secret) {
			p.t.Errorf("%s %s responds with %s", method, path, secret)
		}
	}
	return got
}

// conversation returns the ID of the person's conversation, or "".
func (p *person) conversation() string {
	p.t.Helper()
	for _, x := range p.office("GET", "/conversations?limit=100&search="+url.QueryEscape("Ana "+p.number), "",
		http.StatusOK)["data"].([]any) {
		if id, ok := x.(map[string]any)["id"].(string); ok {
			return id
		}
	}
	return ""
}

// inbox returns the turns of the person's conversation in the inbox, in short form.
func (p *person) inbox() (lines []string) {
	p.t.Helper()
	id := p.conversation()
	if id == "" {
		return nil
	}
	states := map[any]map[string]any{}
	thread := p.office("GET", "/conversations/"+id, "", http.StatusOK)
	sent, _ := thread["deliveries"].([]any)
	for _, d := range sent {
		states[d.(map[string]any)["seq"]] = d.(map[string]any)
	}
	for _, x := range thread["turns"].([]any) {
		turn := x.(map[string]any)
		parts := []string{map[any]string{"visitor": ">", "system": "*", "agent": "<", "teammate": "<<"}[turn["author"]]}
		for _, key := range []string{"event", "text", "why"} {
			if text, _ := turn[key].(string); text != "" {
				parts = append(parts, text)
			}
		}
		if f, ok := turn["file"].(map[string]any); ok {
			parts = append(parts, fmt.Sprintf("(%v %v)", f["name"], f["type"]))
		}
		if choices, ok := turn["choices"].([]any); ok {
			parts = append(parts, fmt.Sprint(choices))
		}
		if about, ok := turn["about"].(string); ok {
			parts = append(parts, "{"+about+"}")
		}
		if d := states[turn["seq"]]; d != nil && d["state"] == "failed" {
			parts = append(parts, fmt.Sprintf("! %v", d["reason"]))
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

// shows waits until the inbox shows exactly these lines.
func (p *person) shows(want ...string) {
	p.t.Helper()
	var got []string
	app.Within(p.t, fmt.Sprintf("the inbox shows %q", want), func() bool {
		got = p.inbox()
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("of %s the inbox shows something else (-want +got):\n%s", p.number, diff)
	}
}

// templates returns the number of templates sent to the person.
func (p *person) templates() (n int) {
	for ref, posts := range p.graph.All() {
		if !strings.HasPrefix(ref, "reply.") && posts[0].To == p.number {
			n += len(posts)
		}
	}
	return n
}

// suppressed returns the numbers that the company suppresses.
func (p *person) suppressed() map[string]bool {
	p.t.Helper()
	found := map[string]bool{}
	for cursor := ""; ; {
		resp, err := http.Get(p.base + "/functions/v1/suppressions?limit=100&access_key=ck_channel_test&cursor=" + cursor)
		if err != nil {
			p.t.Fatal(err)
		}
		page := decode(p.t, resp, http.StatusOK)
		for _, x := range page["data"].([]any) {
			found[x.(map[string]any)["number"].(string)] = true
		}
		if cursor, _ = page["next_cursor"].(string); cursor == "" {
			return found
		}
	}
}

// state returns the state of a notification's only recipient once the notification is completed.
func (p *person) state(id string) (state string) {
	p.t.Helper()
	app.Within(p.t, "the notification is completed", func() bool {
		resp, err := http.Get(p.base + "/functions/v1/notify/" + id + "?access_key=ck_channel_test")
		if err != nil {
			p.t.Fatal(err)
		}
		got := decode(p.t, resp, http.StatusOK)
		r := got["recipients"].([]any)[0].(map[string]any)
		state = fmt.Sprint(r["state"], " ", r["reason"])
		return got["state"] == "completed"
	})
	return state
}

func (p *person) send(path, body string) string {
	p.t.Helper()
	resp, err := http.Post(p.base+"/functions/v1/"+path+"?access_key=ck_channel_test", "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	id, _ := decode(p.t, resp, http.StatusOK)["notification_id"].(string)
	return id
}
