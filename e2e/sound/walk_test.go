package sound

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/e2e/instance"
	"carillon/internal/app"
	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/base/config"
	"carillon/internal/base/need"
	"carillon/internal/call/rtp"
	"carillon/internal/call/sip"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/voice/voicetest"
)

// The same flow runs on every channel: on WhatsApp, in the chat widget, in the voice widget typed and spoken, and on
// calls by keys and by speech. The runs must record the same on all of them.

const (
	walkChat  = "77777777-7777-4777-8777-777777777713"
	walkVoice = "77777777-7777-4777-8777-777777777714"
	walkKey   = "ck_walking"
)

const walkTemplate = `
      - {sender: main, name: plain, language: en, category: UTILITY, body: "Hello {{1}}.", examples: {body: [Ana]}}
`

const walkSetUp = `companies:
  - name: Harbour
    limits: {widget_calls_per_minute: 0, daily_recipients: 0, daily_calls: 0, daily_bytes: 0, sends_per_minute: 0}
    keys: [{key: ck_walking, label: walk}]
    users: [{email: ben@walk.test, password: harbour-horse-battery, name: Ben, role: owner}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax,
        per_recipient_interval: 0, settings: {base_url: "GRAPH",
         phone_number_id: "1000001", waba_id: "2000001", access_token: provider-token, app_secret: provider-app-secret,
           verify_token: provider-verify-token}}
      - {id: line, number: "15555550101", channel: voice, provider: sip, default: true, max_concurrent: 10,
        settings: {trunk: "sip:TRUNK;transport=udp"}}
    agents:
      - {id: 77777777-7777-4777-8777-777777777711, name: Ann, language: en, greeting: "Welcome.", tools: [handoff, hang_up],
         voice: {speaker: espeak, transcriber: openai, transcriber_service: {base_url: "WIDGET/v1", model: test-voice,
           api_key: sk-voice-test}}}
      - {id: 77777777-7777-4777-8777-777777777712, name: Bob, language: en, greeting: "Hello.", tools: [handoff, hang_up],
         voice: {speaker: espeak, transcriber: openai, transcriber_service: {base_url: "CALL/v1", model: test-voice,
           api_key: sk-voice-test}}}
    widgets:
      - {id: 77777777-7777-4777-8777-777777777713, kind: chat, name: Chat, agent: Ann, language: en, welcome: "Write to us."}
      - {id: 77777777-7777-4777-8777-777777777714, kind: voice, name: Voice, agent: Ann, language: en, welcome: "Talk to us."}
    flows:
      - name: tour
        trigger: {event: booked, keywords: [tour], widget: Voice}
        steps:
          - {say: "Which tour is it?"}
          - {ask: tour, choices: [Harbour, Island]}
          - {say: "Your number, please?"}
          - {ask: phone, accept: phone, retry: "That is too short. Your number, please?"}
          - {set: {order: "{{tour}}/{{phone}}"}}
          - {http: {method: POST, url: "SHOP/tours/{{tour}}", body: '{"phone": "{{phone}}"}', save: {pier: "piers.0"}, status: status}}
          - {if: "tour == 'Island' and status == 200", then: [{say: "Pier {{pier}} it is."}, {handoff: "island {{phone}}"}],
            else: [{say: "See you at pier {{pier}}."}, {end: true}]}
    templates:` + walkTemplate

// walking is a program with that flow, and the services for it.
type walking struct {
	*talking
	*instance.Instance
	graph        *graphtest.Server
	token        string
	widget, line *voicetest.Server // transcribers of the widget and of the line
	calls        sync.Map          // channels of callees, by number
}

const (
	wrongChoice = "7"   // there are only two choices
	wrongPhone  = "600" // too short
	phoneNumber = "600111222"
)

func newWalking(t *testing.T) *walking {
	t.Helper()
	need.Sound(t)
	need.Program(t, "espeak-ng", "espeak-ng")
	x := &walking{talking: &talking{t: t, bank: &voicetest.Bank{}}}
	serve := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	x.widget, x.line = voicetest.NewServer(x.bank), voicetest.NewServer(x.bank)
	shop := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"phone": "`+phoneNumber+`"}` || r.Header.Get("Idempotency-Key") == "" {
			t.Errorf("the shop gets %s %s", r.URL, body)
		}
		_, _ = fmt.Fprintf(w, `{"piers": [%d]}`, len(r.URL.Path))
	}))
	known, err := config.ParseProvision("templates", []byte("companies:\n  - name: A\n    senders: [{id: main, number: "+
		"\"15555550100\", channel: messaging, provider: sandbox}]\n    templates:"+walkTemplate), app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	if x.graph, err = graphtest.New(graphtest.Options{
		PhoneNumberID: "1000001", Templates: []carillon.Template{known.Companies[0].Templates[0].Template},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.graph.Close() })
	file := filepath.Join(t.TempDir(), "walk.yaml")
	setUp := strings.NewReplacer("GRAPH", x.graph.URL(), "TRUNK", x.trunk(), "WIDGET", serve(x.widget), "CALL", serve(x.line),
		"SHOP", shop).Replace(walkSetUp)
	if err := os.WriteFile(file, []byte(setUp), 0o600); err != nil {
		t.Fatal(err)
	}
	x.Instance = start(t, file, map[string][]string{"media-allow-private": {"127.0.0.0/8"}, "sip-allow-private": {"127.0.0.1/32"}})
	x.token = x.ask(t, http.MethodPost, "/functions/v1/auth?grant_type=password", "",
		`{"email":"ben@walk.test","password":"harbour-horse-battery"}`)["access_token"].(string)
	return x
}

// callee is a person on the telephone. It counts frames with and without a voice.
type callee struct {
	*sip.Call
	said  atomic.Int64 // frames of 20 ms with a voice
	quiet atomic.Int64 // frames since then
}

func (c *callee) frame(in, _ []int16) {
	if audio.RMS(in) > 200 {
		c.said.Add(1)
		c.quiet.Store(0)
	} else {
		c.quiet.Add(1)
	}
}

// trunk starts a SIP trunk that answers calls.
func (x *walking) trunk() string {
	e, err := sip.New(x.t.Context(), sip.Options{
		Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		OnCall: func(in *sip.Incoming) {
			_ = in.Progress(180, "Ringing")
			<-time.After(100 * time.Millisecond) // packets may overtake each other
			c := &callee{}
			var err error
			if c.Call, err = in.Answer(context.Background(), c.frame); err != nil {
				x.t.Errorf("answer: %v", err)
				return
			}
			if to, known := x.calls.Load(in.To); known {
				to.(chan *callee) <- c
			}
		},
	})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			x.t.Error(err)
		}
	})
	return e.Address().String()
}

// ask calls a route.
func (x *walking) ask(t *testing.T, method, path, token, body string) map[string]any {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, x.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got := map[string]any{}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %v %v", method, path, resp.StatusCode, got, err)
	}
	return got
}

// walkedRun is a run as the panel shows it.
type walkedRun struct {
	ID, State, Number, Path string
	ConversationID          string `json:"conversation_id"`
	Variables               map[string]string
	Entries                 []struct {
		Path, Kind, Text string
		Changed          map[string]string
	}
}

// answered returns the number of responses that a run has received.
func (r *walkedRun) answered() (n int) {
	for _, e := range r.Entries {
		if e.Kind == "response" || e.Kind == "retry" {
			n++
		}
	}
	return n
}

// record returns the part of a run's log that is the same on all channels.
func (r *walkedRun) record() (all []string) {
	for _, e := range r.Entries {
		changed, _ := json.Marshal(e.Changed)
		text, _, _ := strings.Cut(e.Text, " in ") // the duration of a request varies
		all = append(all, strings.Join([]string{e.Path, e.Kind, text, string(changed)}, " "))
	}
	for _, name := range []string{"tour", "phone", "order", "pier", "status"} {
		all = append(all, name+" = "+r.Variables[name])
	}
	return append(all, r.State)
}

// run returns the run of a contact's number or of a conversation, or nil.
func (x *walking) run(t *testing.T, of string) *walkedRun {
	t.Helper()
	var list struct{ Data []walkedRun }
	get(t, x.BaseURL+"/panel/v1/flow-runs?limit=50", x.token, &list)
	for _, row := range list.Data {
		if row.Number == of || row.ConversationID == of {
			var run walkedRun
			get(t, x.BaseURL+"/panel/v1/flow-runs/"+row.ID, x.token, &run)
			return &run
		}
	}
	return nil
}

// walks answers a flow's questions with say, one after the other, and returns the finished run. say repeats answers
// that were not understood.
func (x *walking) walks(t *testing.T, of string, answers []string, say func(answer string)) *walkedRun {
	t.Helper()
	var run *walkedRun
	until := func(what string, reached func() bool) {
		t.Helper()
		for late := time.Now().Add(hung); ; time.Sleep(50 * time.Millisecond) {
			if run = x.run(t, of); run != nil && reached() {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("%s: %+v", what, run)
			}
		}
	}
	for i, answer := range answers {
		until("the flow asks", func() bool { return run.State == "asking" && run.answered() == i })
		say(answer)
		until("the flow takes "+answer, func() bool { return run.answered() == i+1 })
	}
	until("the flow is over", func() bool { return run.State == "completed" || run.State == "handed_off" })
	return run
}

func (x *walking) state(t *testing.T, conversationID string) string {
	t.Helper()
	var c struct{ Conversation struct{ State string } }
	get(t, x.BaseURL+"/panel/v1/conversations/"+conversationID, x.token, &c)
	return c.Conversation.State
}

// notify sends a template or places a call that starts the flow.
func (x *walking) notify(t *testing.T, number, path, more string) {
	t.Helper()
	x.ask(t, http.MethodPost, path+"?access_key="+walkKey, "",
		fmt.Sprintf(`{"contact":{"number":%q,"first_name":"Ana"},"notification_type":"transactional","campaign_name":"c",`+
			`"name_event":"booked",%s}`, number, more))
}

// overWhatsApp walks the flow on WhatsApp.
func (x *walking) overWhatsApp(t *testing.T, number string, answers []string) *walkedRun {
	t.Helper()
	x.notify(t, number, "/functions/v1/notify",
		`"recipient_id":"main","name_template":"plain","language_template":"en","components_push":{"body_text_0":"Ana"}`)
	n := 0
	write := func(text string) {
		n++
		body := x.graph.InboundBody("Ana", graphtest.Text(number, fmt.Sprintf("wamid.%s.%d", number, n), text, time.Now()))
		if status, err := x.graph.Deliver(t.Context(), x.BaseURL+"/callbacks/whatsapp/main", body); status != http.StatusOK || err != nil {
			t.Error(status, err)
		}
	}
	for late := time.Now().Add(hung); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
		if len(x.sentTo(number)) > 0 {
			break
		}
	}
	write("Thanks")
	run := x.walks(t, number, answers, write)
	var all string
	for late := time.Now().Add(hung); time.Now().Before(late) && !strings.Contains(all, "pier"); time.Sleep(20 * time.Millisecond) {
		all = strings.ToLower(strings.Join(x.sentTo(number), " "))
	}
	for _, want := range []string{`"title":"harbour"`, `"title":"island"`, "too short", "pier"} {
		if !strings.Contains(all, want) {
			t.Errorf("the person does not get %s: %s", want, all)
		}
	}
	return run
}

// sentTo returns the bodies of the messages to a number.
func (x *walking) sentTo(number string) (all []string) {
	for _, posts := range x.graph.All() {
		for _, p := range posts {
			if p.To == number {
				all = append(all, string(p.Body))
			}
		}
	}
	return all
}

// inChat walks the flow in the chat widget.
func (x *walking) inChat(t *testing.T, answers []string) *walkedRun {
	t.Helper()
	s := x.ask(t, http.MethodPost, "/functions/v1/chat/session", "",
		fmt.Sprintf(`{"widget_id":%q,"customer_id":%q}`, walkChat, carillon.NewID(time.Now())))
	n := 0
	write := func(text string) {
		n++
		x.ask(t, http.MethodPost, "/functions/v1/chat/turns", s["token"].(string), fmt.Sprintf(`{"client_id":"%d","text":%q}`, n, text))
	}
	write("Tour!")
	return x.walks(t, s["conversation_id"].(string), answers, write)
}

// inBrowser walks the flow in the voice widget, typed or spoken. The conversation begins with the flow.
func (x *walking) inBrowser(t *testing.T, answers []string, speaks bool) *walkedRun {
	t.Helper()
	var s signed
	get(t, x.BaseURL+"/functions/v1/voice-widget/signed-url?access_key="+walkKey+"&id_widget="+walkVoice, "", &s)
	c := talk(t, s.URL)
	m := c.wait("agent_response", saying("Which tour is it?"))
	c.wait("rich_content", saying("Island"))
	if id := int(member(m, "agent_response_event", "event_id").(float64)); !speaks {
		prompt, err := voicetest.Speak(t.Context(), "Which tour is it?", "en", voicetest.Rate)
		if err != nil {
			t.Fatal(err)
		}
		if ncc, _ := audiotest.Correlate(prompt, c.heard(id, len(prompt))); ncc < 0.9 {
			t.Errorf("the first step is heard with a correlation of %.3f", ncc)
		}
	}
	n, answered := 0, 0
	run := x.walks(t, s.ConversationID, answers, func(answer string) {
		if speaks { // an answer counts once its question is playing
			c.until("the sound of a question", func() bool { n = len(c.sound); return n > answered })
			answered = n
			x.speak(t, x.widget, answer, func(pcm []int16) { c.speech <- pcm })
			return
		}
		n++
		c.send(fmt.Sprintf(`{"type":"user_message","text":%q,"client_id":"t%d"}`, answer, n))
	})
	c.wait("agent_response", saying("too short"))
	c.wait("agent_response", saying("ier 1")) // said by the flow after the request
	if run.State == "completed" {
		if status := c.end(); status != websocket.StatusNormalClosure {
			t.Error("closed with", status)
		}
	} else {
		c.wait("conversation_state", saying("queued"))
		if state := x.state(t, s.ConversationID); state != "queued" {
			t.Error("the conversation is", state)
		}
	}
	return run
}

// speak says a text and waits until a transcriber has understood it.
func (x *walking) speak(t *testing.T, ears *voicetest.Server, text string, say func(pcm []int16)) {
	t.Helper()
	pcm := x.utterance(t, text)
	before := len(ears.Heard())
	say(pcm)
	for late := time.Now().Add(hung); time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
		if slices.ContainsFunc(ears.Heard()[before:], func(h voicetest.Heard) bool { return h.Text == text }) {
			return
		}
	}
	t.Errorf("%q is not understood: %+v", text, ears.Heard())
}

// utterance returns the sound of a response.
func (x *walking) utterance(t *testing.T, text string) []int16 {
	t.Helper()
	said := text
	if text == phoneNumber {
		said = "six hundred, one one one, two two two"
	}
	pcm, err := voicetest.Speak(t.Context(), said, "en", voicetest.Rate)
	if err == nil {
		err = x.bank.Add(text, pcm)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// byPhone walks the flow on a call, by keys or by speech.
func (x *walking) byPhone(t *testing.T, number string, answers []string, speaks bool) *walkedRun {
	t.Helper()
	ringing := make(chan *callee, 1)
	x.calls.Store(number, ringing)
	x.notify(t, number, "/functions/v1/notify/voice", `"recipient_id":"line","agent_id":"77777777-7777-4777-8777-777777777712"`)
	var c *callee
	select {
	case c = <-ringing:
	case <-time.After(hung):
		t.Fatal("no call comes")
	}
	defer c.HangUp(context.WithoutCancel(t.Context()))
	defer func() {
		if !t.Failed() {
			return
		}
		select {
		case <-c.Done():
			t.Logf("the call is over: %+v", c.Cause())
		default:
			t.Log("the call goes on")
		}
	}()
	answered := int64(0)
	run := x.walks(t, number, answers, func(answer string) {
		// An answer counts once its question was played.
		for late := time.Now().Add(hung); c.said.Load() == answered || c.quiet.Load() < 50; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("nothing is heard before %q", answer)
			}
		}
		defer func() { answered = c.said.Load() }()
		if !speaks {
			c.SendDigits(keysOf(answer))
			return
		}
		x.speak(t, x.line, answer, func(pcm []int16) {
			narrow, err := audio.Resample(pcm, voicetest.Rate, rtp.Rate)
			if err == nil {
				err = c.Write(narrow)
			}
			if err != nil {
				t.Error(err)
			}
		})
	})
	if run.State == "handed_off" {
		if state := x.state(t, run.ConversationID); state != "queued" {
			t.Error("the conversation is", state)
		}
		return run
	}
	select {
	case <-c.Done():
	case <-time.After(hung):
		t.Error("the call goes on after the flow")
	}
	return run
}

// keysOf returns the keys for a response.
func keysOf(answer string) string {
	if i := slices.Index([]string{"Harbour", "Island"}, answer); i >= 0 {
		return fmt.Sprint(i + 1)
	}
	if len(answer) == 1 {
		return answer
	}
	return answer + "#"
}

func TestAFlowIsTheSameOnEveryChannel(t *testing.T) {
	t.Parallel()
	x := newWalking(t)
	header := http.Header{"Cookie": {signInPanel(t, x.BaseURL, "ben@walk.test", "harbour-horse-battery")}}
	there, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	attend(t, there, x.BaseURL, header)
	answers := func(tour string) []string { return []string{wrongChoice, tour, wrongPhone, phoneNumber} }
	harbour, island := answers("Harbour"), answers("Island")
	var mu sync.Mutex
	records := map[string]map[string][]string{"Harbour": {}, "Island": {}}
	t.Run("walk", func(t *testing.T) {
		for name, w := range map[string]struct {
			tour string
			walk func(t *testing.T) *walkedRun
		}{
			"WhatsApp to the end":        {"Harbour", func(t *testing.T) *walkedRun { return x.overWhatsApp(t, "34600000001", harbour) }},
			"WhatsApp to a person":       {"Island", func(t *testing.T) *walkedRun { return x.overWhatsApp(t, "34600000002", island) }},
			"chat to the end":            {"Harbour", func(t *testing.T) *walkedRun { return x.inChat(t, harbour) }},
			"chat to a person":           {"Island", func(t *testing.T) *walkedRun { return x.inChat(t, island) }},
			"voice spoken to the end":    {"Harbour", func(t *testing.T) *walkedRun { return x.inBrowser(t, harbour, true) }},
			"voice typed to a person":    {"Island", func(t *testing.T) *walkedRun { return x.inBrowser(t, island, false) }},
			"call spoken to the end":     {"Harbour", func(t *testing.T) *walkedRun { return x.byPhone(t, "34600000003", harbour, true) }},
			"call with keys to a person": {"Island", func(t *testing.T) *walkedRun { return x.byPhone(t, "34600000004", island, false) }},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				run := w.walk(t)
				mu.Lock()
				defer mu.Unlock()
				records[w.tour][name] = run.record()
			})
		}
	})
	for tour, all := range records {
		first := all[map[string]string{"Harbour": "WhatsApp to the end", "Island": "WhatsApp to a person"}[tour]]
		if len(first) < 10 {
			t.Errorf("%s: a record of %q", tour, first)
		}
		for name, record := range all {
			if diff := cmp.Diff(first, record); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		}
	}
}

// attend keeps a teammate's inbox open until the context ends.
func attend(t *testing.T, ctx context.Context, base string, header http.Header) { //nolint:revive // the test comes first
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/panel/v1/inbox/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	r.Header.Set("X-Carillon-Panel", "1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	go func() { _, _ = io.Copy(io.Discard, resp.Body) }()
}
