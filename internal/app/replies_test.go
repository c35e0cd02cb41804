package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/config"
	"carillon/internal/store/storetest"
	"carillon/internal/whatsapp/graphtest"
)

// person writes to a number of a company over the channel, and gets what is sent to them.
type person struct {
	t      *testing.T
	graph  *graphtest.Server
	a      *app.App
	base   string
	number string
	n      int
	log    *quiet
	token  string // of a teammate

	refused bool // the channel refuses some of what is sent
}

var repliesSetUp = `companies:
  - name: Acme
    limits: {daily_recipients: 0, daily_bytes: 0, sends_per_minute: 0}
    users: [{email: ben@acme.test, password: carillon-demo, name: Ben, role: owner}]
    keys: [{key: ck_channel_test, label: test}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax, per_recipient_interval: 0, settings: {base_url: %q,
         phone_number_id: "1000001", waba_id: "2000001", access_token: provider-token, app_secret: provider-app-secret, verify_token: provider-verify-token}}
    flows:
      - name: order-follow-up
        trigger: {event: order-shipped}
        steps:
          - {say: "Hola {{first_name}}, ¿recibió su pedido {{order}}?"}
          - {ask: received, choices: [sí, no]}
          - {http: {method: POST, url: "%s/orders/{{order}}", body: '{"received": "{{received}}"}', save: {thanks: "text.0"}, status: status}}
          - {if: "received == 'no'", then: [{handoff: support}], else: [{say: "{{thanks}} {{status}}"}, {say: "Hasta luego"}]}
      - name: menu
        trigger: {keywords: [menu]}
        steps:
          - {say: "What?"}
          - {ask: what, choices: [one, two, three, four], retries: 1}
          - {send_template: {name: plain, language: en, variables: {body_text_0: "{{what}}"}}}
          - {say: "done"}
      - name: private
        trigger: {keywords: [private]}
        steps:
          - {http: {url: "https://10.0.0.1/secret", status: first, save: {body: text}}}
          - {http: {url: "https://user.test@[::1]:1/", status: second}}
          - {http: {url: "%s/elsewhere?{{hostile}}", status: third}}
          - {say: "{{first}} {{second}} {{third}} {{body}}"}
      - name: echo
        trigger: {keywords: [echo]}
        steps: [{say: "What?"}, {ask: what}, {say: "{{what}}"}]
    templates:` + strings.ReplaceAll(channelTemplates, "sender: second", "sender: main")

func startReplies(t *testing.T, engine string) *person {
	t.Helper()
	return startPerson(t, engine, repliesSetUp)
}

// startPerson starts the program with a set-up in which the channel's address, and twice that of a shop, are left open.
func startPerson(t *testing.T, engine, setUp string) *person {
	t.Helper()
	graph, err := graphtest.New(graphtest.Options{PhoneNumberID: "1000001", Templates: knownTemplates(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = graph.Close() })
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "http://10.0.0.1/secret", http.StatusFound)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/orders/A-7" || string(body) != `{"received": "sí"}` || r.Header.Get("Idempotency-Key") == "" {
			t.Errorf("the shop gets %s %s", r.URL, body)
		}
		_, _ = io.WriteString(w, `{"text": ["Gracias"]}`)
	}))
	t.Cleanup(shop.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(setUp, graph.URL(), shop.URL, shop.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Addr: "127.0.0.1:0", Data: dir, Provision: []string{file}, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: time.Minute, MediaAllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	if engine == "postgres" {
		cfg.DatabaseURL, cfg.MasterKeyFile = config.Secret(storetest.Postgres(t)), storetest.MasterKey(t)
	}
	log := &quiet{}
	a, err := app.New(cfg, app.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
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
	return &person{t: t, graph: graph, a: a, base: a.BaseURL(), number: "34600111222", log: log}
}

// writes has the channel report messages of the person, each twice, the whole in the reverse order too.
func (p *person) writes(messages ...graphtest.Inbound) {
	p.t.Helper()
	for range 2 {
		body := p.graph.InboundBody("Ana "+p.number, messages...)
		if status, err := p.graph.Deliver(p.t.Context(), p.base+"/callbacks/whatsapp/main", body); status != http.StatusOK || err != nil {
			p.t.Fatal(status, err)
		}
		slices.Reverse(messages)
	}
}

func (p *person) text(text string) {
	p.t.Helper()
	p.n++
	p.writes(graphtest.Text(p.number, fmt.Sprintf("wamid.%s.%d", p.number, p.n), text, time.Now()))
}

// gets are the replies that the channel accepted for the person, in order, each in short.
func (p *person) gets() (all []string) {
	var posts []graphtest.Post
	for ref, each := range p.graph.All() {
		if strings.HasPrefix(ref, "reply.") && each[0].To == p.number {
			if p.refused && !each[0].Accepted {
				continue
			}
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

// expect waits until the person has got exactly these replies, and no more in a moment.
func (p *person) expect(want ...string) {
	p.t.Helper()
	p.got(want...)
	time.Sleep(50 * time.Millisecond)
	p.got(want...)
}

// first waits until the person has at least n replies, and returns the first n.
func (p *person) first(n int) []string {
	p.t.Helper()
	for late := time.Now().Add(30 * time.Second); len(p.gets()) < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			p.t.Fatalf("%s gets %v", p.number, p.gets())
		}
	}
	return p.gets()[:n]
}

// got waits until the person has got exactly these replies.
func (p *person) got(want ...string) {
	p.t.Helper()
	for late := time.Now().Add(30 * time.Second); time.Now().Before(late) && len(p.gets()) < len(want); time.Sleep(20 * time.Millisecond) {
	}
	if got := p.gets(); !slices.Equal(got, want) {
		p.t.Fatalf("%s gets\n%s\nnot\n%s\nthe inbox shows\n%s", p.number, strings.Join(got, "\n"), strings.Join(want, "\n"), strings.Join(p.inbox(), "\n"))
	}
}

// notify has a template with an event sent to the person, and returns the channel's id of it.
func (p *person) notify() string {
	p.t.Helper()
	body := fmt.Sprintf(`{"contact":{"number":%q,"first_name":"Ana","order":"A-7"},"recipient_id":"main","name_template":"plain","language_template":"en",
		"notification_type":"utility","campaign_name":"c","name_event":"order-shipped","components_push":{"body_text_0":"A-7"}}`, p.number)
	resp, err := http.Post(p.base+"/functions/v1/notify?access_key=ck_channel_test", "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	id, _ := decode(p.t, resp, http.StatusOK)["notification_id"].(string)
	for late := time.Now().Add(30 * time.Second); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
		for ref, posts := range p.graph.All() {
			if strings.HasPrefix(ref, id) {
				return posts[0].ID
			}
		}
	}
	p.t.Fatal("it is not sent")
	return ""
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
			p.expect("Hola Ana, ¿recibió su pedido A-7? [sí] [no]")
			p.text("qué?")
			p.expect("Hola Ana, ¿recibió su pedido A-7? [sí] [no]", "I did not understand that.\nHola Ana, ¿recibió su pedido A-7? [sí] [no]")
			p.text("Si")
			all := []string{
				"Hola Ana, ¿recibió su pedido A-7? [sí] [no]", "I did not understand that.\nHola Ana, ¿recibió su pedido A-7? [sí] [no]", "Gracias 200", "Hasta luego",
			}
			p.expect(all...)
			if marks := p.graph.Marks(); len(marks) < 3 || !marks[0].Typing || marks[0].ID != "wamid.button" {
				t.Errorf("marks %v", marks)
			}
			p.text("menu")
			all = append(all, "What? (one) (two) (three) (four)")
			p.expect(all...)
			p.text("3")
			p.expect(append(all, "done")...)
			sent := 0
			for ref := range p.graph.All() {
				if !strings.HasPrefix(ref, "reply.") {
					sent++
				}
			}
			if sent != 2 {
				t.Errorf("%d templates were sent", sent)
			}
		})
	}
}

func TestWhoWritesStopGetsNoMoreAndIsTold(t *testing.T) {
	t.Parallel()
	p := startReplies(t, "sqlite")
	p.notify()
	p.text("hi")
	asked := "Hola Ana, ¿recibió su pedido A-7? [sí] [no]"
	p.expect(asked)
	p.text(" ¡Baja! ")
	stopped := "No recibirá más mensajes nuestros. Escriba ALTA para recibirlos de nuevo."
	p.expect(asked, stopped)
	suppressed := func() bool {
		resp, err := http.Get(p.base + "/functions/v1/suppressions?access_key=ck_channel_test")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(decode(t, resp, http.StatusOK))
		return strings.Contains(string(text), p.number)
	}
	if !suppressed() {
		t.Error("the number is not suppressed")
	}
	p.text("sí") // no answer to the flow any more
	p.text("START")
	p.expect(asked, stopped, "You will get our messages again. Write STOP to end them.")
	if suppressed() {
		t.Error("the number is still suppressed")
	}
}

func TestAFlowReachesNoPrivateAddressAndFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	hosts := []string{
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "167772161", "0x0a000001", "0x0a.0.0.1", "012.0.0.1", "10.1", "[::ffff:10.0.0.1]",
		"[::ffff:0a00:1]", "[64:ff9b::10.0.0.1]", "[2002:a00:1::]", "[fc00::1]", "[fe80::1]", "[::]", "user:word@10.0.0.1", "1.1.1.1@10.0.0.1", "10.0.0.1:443", "１０.0.0.1",
	}
	steps := ""
	for i, host := range hosts {
		for j, scheme := range []string{"https", "http"} {
			steps += fmt.Sprintf("          - {http: {url: %q, status: s%d_%d}}\n", scheme+"://"+host+"/", i, j)
		}
	}
	all := strings.Join(strings.Fields(regexp.MustCompile(`.*?status: (\w+)}}\n`).ReplaceAllString(steps, "{{$1}} ")), " ")
	p := startPerson(t, "sqlite", strings.Replace(repliesSetUp, "    flows:\n", "    flows:\n      - name: everywhere\n        trigger: {keywords: [everywhere]}\n        steps:\n"+steps+"          - {say: \""+all+"\"}\n", 1))
	p.text("private")
	p.expect("failed failed 302")
	p.text("everywhere")
	p.expect("failed failed 302", strings.TrimSuffix(strings.Repeat("failed ", 2*len(hosts)), " "))
	for _, entry := range p.another(p.number).entries() {
		if strings.Contains(entry, "user:word") {
			t.Errorf("the run shows %s", entry)
		}
	}
}

// entries are what happened in the person's newest run.
func (p *person) entries() (all []string) {
	p.t.Helper()
	found, _ := p.office("GET", "/flow-runs/"+fmt.Sprint(p.run()["id"]), "", http.StatusOK)["entries"].([]any)
	for _, e := range found {
		all = append(all, fmt.Sprint(e))
	}
	return all
}

// A reply to a notification walks its flow; an event that no flow knows is accepted, and shown where the conversation is.
func TestAnEventOfNoFlowIsShownAndHidesNone(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			send := func(x *person, event, more string) (wamid string) {
				id := x.send("notify", fmt.Sprintf(`{"contact":{"number":%q,"first_name":"Ana","order":"A-7"},"recipient_id":"main","name_template":"plain","language_template":"en",
					"notification_type":"utility","campaign_name":"c","name_event":%q,"components_push":{"body_text_0":"A-7"}%s}`, x.number, event, more))
				if more != "" {
					return ""
				}
				if got := x.state(id); !strings.HasPrefix(got, "sent") {
					t.Errorf("%s is %s", event, got)
				}
				for ref, posts := range p.graph.All() {
					if strings.HasPrefix(ref, id) {
						wamid = posts[0].ID
					}
				}
				return wamid
			}
			asks := "Hola Ana, ¿recibió su pedido A-7? [sí] [no]"
			shown := "< Hola Ana, ¿recibió su pedido A-7? [sí no]"
			// The newest says nothing to a flow: the one before is walked. What is not sent yet is answered by nothing.
			a := p.another("34600120001")
			send(a, "order-shipped", "")
			send(a, "no-such-flow <b>", "")
			send(a, "order-shipped", `,"datetime_sending":"2099-01-01T00:00:00"`)
			a.text("hi")
			a.expect(asks)
			a.shows("* event_unknown no-such-flow <b>", "> hi", "* flow_began order-follow-up", shown)
			a.text("sí")
			a.expect(asks, "Gracias 200", "Hasta luego")
			a.text("hi")
			time.Sleep(time.Second)
			a.expect(asks, "Gracias 200", "Hasta luego")
			// Who answers the one that no flow knows starts nothing.
			b := p.another("34600120002")
			send(b, "order-shipped", "")
			unknown := send(b, "no-such-flow", "")
			b.write("wamid.b1", parse(t, `{"type":"button","button":{"payload":"p","text":"Details"},"context":{"id":"`+unknown+`"}}`))
			b.shows("* event_unknown no-such-flow", "> Details {Hello A-7.}", "* handoff_requested", "* missed")
			// A reaction is for a notification too, and starts nothing.
			c := p.another("34600120003")
			c.write("wamid.c1", parse(t, `{"type":"reaction","reaction":{"message_id":"`+send(c, "order-shipped", "")+`","emoji":"👍"}}`))
			c.shows("* reacted 👍 {Hello A-7.}")
		})
	}
}

// What a recipient can fill is text, and nothing else: a value is not filled in again, and not read as anything.
func TestHostileTextsStayTexts(t *testing.T) {
	t.Parallel()
	p := startReplies(t, "sqlite")
	want := []string{}
	for _, hostile := range []string{
		"{{number}}", `<script>alert(1)</script>`, `"}],"x":[{"`, "'; DROP TABLE turn; --", `\\0 \\ %s %d`, "= 1 or 1 == 1", "\u202etxt.exe", strings.Repeat("x", 4000),
	} {
		p.text("echo")
		want = append(want, "What?")
		p.expect(want...)
		p.text(hostile)
		want = append(want, hostile)
		p.expect(want...)
	}
}

// Another number of the same application, or of another company, reports at this one's address: nothing of it is taken.
func TestMessagesToOtherNumbersAreNotOurs(t *testing.T) {
	t.Parallel()
	p := startReplies(t, "sqlite")
	other, err := graphtest.New(graphtest.Options{PhoneNumberID: "1000009"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	foreign, err := graphtest.New(graphtest.Options{PhoneNumberID: "1000001", AppSecret: "another-secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = foreign.Close() })
	for g, want := range map[*graphtest.Server]int{other: http.StatusOK, foreign: http.StatusUnauthorized} {
		body := g.InboundBody("Eve", graphtest.Text(p.number, "wamid.eve", "echo", time.Now()))
		if status, err := g.Deliver(t.Context(), p.base+"/callbacks/whatsapp/main", body); status != want || err != nil {
			t.Errorf("%d, not %d, %v", status, want, err)
		}
	}
	p.text("echo")
	p.expect("What?")
}

func TestManyPeopleWriteAtOnceAndEachIsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	p := startReplies(t, "sqlite")
	const people = 20
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			number := fmt.Sprintf("346002%05d", i)
			for n, text := range []string{"menu", "four"} {
				body := p.graph.InboundBody("X", graphtest.Text(number, fmt.Sprintf("wamid.%d.%d", i, n), text, time.Now()))
				if status, err := p.graph.Deliver(t.Context(), p.base+"/callbacks/whatsapp/main", body); status != http.StatusOK || err != nil {
					t.Error(status, err)
				}
				time.Sleep(time.Second)
			}
		})
	}
	all.Wait()
	want := map[string]string{}
	for late := time.Now().Add(30 * time.Second); time.Now().Before(late) && len(want) < people; time.Sleep(50 * time.Millisecond) {
		clear(want)
		for ref, posts := range p.graph.All() {
			if strings.HasPrefix(ref, "reply.") && strings.Contains(string(posts[0].Body), `"body":"done"`) {
				want[posts[0].To] = ref
			}
		}
	}
	if len(want) != people {
		t.Errorf("%d of %d are answered to the end", len(want), people)
	}
}
