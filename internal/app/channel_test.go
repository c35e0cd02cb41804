package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/storetest"
)

// channelTemplates cover all component kinds. The set-up and the stand-in use the same ones.
const channelTemplates = `
      - {sender: main, name: text_header, language: en, category: UTILITY, header: {format: TEXT, text: "Order {{1}}"},
         body: "Hello {{1}}, order {{2}} comes {{3}}.", footer: "Acme", buttons: [{type: URL, text: See, url: "https://acme.test/o/{{1}}"},
         {type: QUICK_REPLY, text: Thanks}], examples: {header: [A], body: [Ana, A, today]}}
      - {sender: main, name: image_header, language: en, category: MARKETING, header: {format: IMAGE, example: ["https://acme.test/a.jpg"]},
         body: "Hello {{name}}, see {{thing}}.", examples: {body: [Ana, this]}}
      - {sender: main, name: video_header, language: en, category: MARKETING, header: {format: VIDEO,
        example: ["https://acme.test/a.mp4"]}, body: "Hello."}
      - {sender: main, name: document_header, language: en, category: UTILITY, header: {format: DOCUMENT,
        example: ["https://acme.test/a.pdf"]}, body: "Hello."}
      - {sender: second, name: plain, language: en, category: UTILITY, body: "Hello {{1}}.", examples: {body: [Ana]}}
`

// sends holds one request per template. The one with a text header goes to a hundred recipients.
var sends = map[string]string{
	"text_header": `{"header_text":"{{order}}","body_text_0":"{{name}}","body_text_1":"{{order}}","body_text_2":"today",` +
		`"button_url_0":"https://acme.test/o/A-1","button_payload_1":"thanks"}`,
	"image_header":    `{"header_image":"https://acme.test/a.jpg","body_text_0":"{{name}}","body_text_1":"this"}`,
	"video_header":    `{"header_video":"https://acme.test/a.mp4"}`,
	"document_header": `{"header_document_0":"https://acme.test/a.pdf"}`,
}

type channelRig struct {
	t       *testing.T
	base    string
	numbers []*graphtest.Server // main, second
}

// startChannel starts the program with two numbers of one application, each on a separate strict stand-in. The
// callbacks of both arrive shuffled and twice at the address of the first.
func startChannel(t *testing.T, engine string) *channelRig {
	t.Helper()
	dir := t.TempDir()
	// The stand-ins need the address of callbacks before the program listens.
	var program atomic.Pointer[url.URL]
	relay := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(program.Load()) }})
	t.Cleanup(relay.Close)
	r := &channelRig{t: t}
	for _, number := range []string{"1000001", "1000002"} {
		graph, err := graphtest.New(graphtest.Options{
			PhoneNumberID: number, Templates: knownTemplates(t),
			Callbacks: graphtest.Callbacks{URL: relay.URL + "/callbacks/whatsapp/main"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = graph.Close() })
		r.numbers = append(r.numbers, graph)
	}
	file := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(file, []byte(channelSetUp(r.numbers)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{
		Addr: "127.0.0.1:0", Data: dir, Provision: []string{file}, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
	}
	if engine == "postgres" {
		cfg.DatabaseURL, cfg.MasterKeyFile = config.Secret(storetest.PatientPostgres(t)), storetest.MasterKey(t)
	}
	a, err := app.New(cfg, app.Options{})
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
	r.base = a.BaseURL()
	base, err := url.Parse(r.base)
	if err != nil {
		t.Fatal(err)
	}
	program.Store(base)
	return r
}

// knownTemplates returns the templates that the stand-in knows.
func knownTemplates(t *testing.T) []carillon.Template {
	t.Helper()
	parsed, err := config.ParseProvision("templates", []byte(`companies:
  - name: Acme
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: sandbox}
      - {id: second, number: "15555550101", channel: messaging, provider: sandbox}
    templates:`+channelTemplates+codeTemplate), app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	var known []carillon.Template
	for _, x := range parsed.Companies[0].Templates {
		known = append(known, x.Template)
	}
	return known
}

func channelSetUp(numbers []*graphtest.Server) string {
	sender := func(id, number, phone, url string) string {
		return fmt.Sprintf(`
      - {id: %s, number: %q, channel: messaging, provider: whatsapp, default: %t, media_check: syntax, per_recipient_interval: 0,
        settings: {base_url: %q,
         phone_number_id: %q, waba_id: "2000001", access_token: provider-token, app_secret: provider-app-secret,
           verify_token: provider-verify-token}}`,
			id, number, id == "main", url, phone)
	}
	return `companies:
  - name: Acme
    limits: {daily_recipients: 0, daily_bytes: 0, sends_per_minute: 0}
    keys: [{key: ck_channel_test, label: test}]
    senders:` + sender("main", "15555550100", "1000001", numbers[0].URL()) +
		sender("second", "15555550101", "1000002", numbers[1].URL()) + `
    templates:` + channelTemplates
}

func (r *channelRig) send(template, components, recipient string, contacts int) string {
	r.t.Helper()
	all := make([]string, contacts)
	for i := range all {
		all[i] = fmt.Sprintf(`{"number":"346%09d","name":"Ana %d","order":"A-%d"}`, i, i, i)
	}
	b := fmt.Sprintf(`{"contacts":[%s],"recipient_id":%q,"name_template":%q,"language_template":"en","notification_type":"utility",`+
		`"campaign_name":"c","components_push":%s}`,
		strings.Join(all, ","), recipient, template, components)
	resp, err := http.Post(r.base+"/functions/v1/notify?access_key=ck_channel_test", "application/json", strings.NewReader(b))
	if err != nil {
		r.t.Fatal(err)
	}
	id, _ := decode(r.t, resp, http.StatusOK)["notification_id"].(string)
	return id
}

// await waits until all recipients have read the message.
func (r *channelRig) await(id string, contacts int) {
	r.t.Helper()
	app.Within(r.t, "all are read", func() bool {
		resp, err := http.Get(r.base + "/functions/v1/notify/" + id + "?limit=100&access_key=ck_channel_test")
		if err != nil {
			r.t.Fatal(err)
		}
		n, _ := decode(r.t, resp, http.StatusOK)["counts"].(map[string]any)["read"].(float64)
		return int(n) == contacts
	})
}

func TestEveryKindOfComponentGoesThroughTheChannelAndComesBackRead(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			r := startChannel(t, engine)
			ids := map[string]int{r.send("plain", `{"body_text_0":"{{name}}"}`, "second", 20): 20}
			total := 0
			for template, components := range sends {
				n := 20
				if template == "text_header" {
					n = 100
				}
				ids[r.send(template, components, "main", n)] = n
				total += n
			}
			for id, n := range ids {
				r.await(id, n)
			}
			for i, want := range []int{total, 20} {
				if got := r.numbers[i].Total(); got != want {
					t.Errorf("number %d accepted %d messages, want %d", i, got, want)
				}
				for ref, posts := range r.numbers[i].All() {
					if len(posts) != 1 || !posts[0].Accepted {
						t.Errorf("%s was posted %d times, the first one accepted: %t", ref, len(posts), posts[0].Accepted)
					}
				}
			}
		})
	}
}
