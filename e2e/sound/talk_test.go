package sound

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/e2e/instance"
	"carillon/internal/app"
	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/base/need"
	"carillon/internal/store/storetest"
	"carillon/internal/voice/voicetest"
)

const (
	talkCompany = "77777777-7777-4777-8777-777777777701"
	talkWidget  = "77777777-7777-4777-8777-777777777703"
	talkKey     = "ck_talk_widget"
	greeting    = "Welcome to the harbour, what would you like to know?"
	question    = "What are your opening hours?"
	barge       = "Please stop and say how can I pay?"
)

const talkProvision = `companies:
  - id: 77777777-7777-4777-8777-777777777701
    name: Harbour
    limits: {widget_calls_per_minute: 0}
    keys: [{key: ck_talk_widget, label: page, scopes: ["widget:use"]}]
    users: [{email: ben@harbour.test, password: harbour-horse-battery, name: Ben, role: teammate}]
    knowledge:
      - id: faq
        articles:
          - {title: Opening hours, text: "Our opening hours are from nine in the morning to eight in the evening,
              every day of the week, from the first of March to the last day of October.", url: "https://harbour.test/hours"}
          - {title: Paying, text: "You can pay by card or in cash.", url: "https://harbour.test/pay"}
    agents:
      - id: 77777777-7777-4777-8777-777777777702
        name: Ann
        language: en
        greeting: "Welcome to the harbour, what would you like to know?"
        knowledge: [faq]
        tools: [search, handoff, hang_up]
        voice: {speaker: espeak, transcriber: openai, transcriber_service: {base_url: "SERVICE/v1", model: test-voice,
          api_key: sk-voice-test}}
        client_tools:
          - {name: show_map, description: Shows the map of the harbour, phrases: [show me the map]}
    widgets:
      - {id: 77777777-7777-4777-8777-777777777703, kind: voice, name: Voice, agent: Ann, language: en, welcome: "Talk to us."}
`

// talking is a program with a voice widget, whose agent understands the utterances of a bank.
type talking struct {
	t       *testing.T
	bank    *voicetest.Bank
	service string // address of the transcriber
}

func newTalking(t *testing.T) *talking {
	t.Helper()
	need.Sound(t)
	need.Program(t, "espeak-ng", "espeak-ng")
	x := &talking{t: t, bank: &voicetest.Bank{}}
	server := httptest.NewServer(voicetest.NewServer(x.bank))
	t.Cleanup(server.Close)
	x.service = server.URL
	return x
}

// start runs the program with a set-up and further settings until the test ends.
func start(t *testing.T, provision string, settings map[string][]string) *instance.Instance {
	t.Helper()
	return instance.Start(t, app.Options{}, map[string][]string{"provision": {provision}, "shutdown-timeout": {"60s"}}, settings)
}

func (x *talking) flags() map[string][]string {
	return map[string][]string{"media-allow-private": {"127.0.0.1/32"}}
}

func (x *talking) provision() string {
	x.t.Helper()
	name := filepath.Join(x.t.TempDir(), "talk.yaml")
	if err := os.WriteFile(name, []byte(strings.Replace(talkProvision, "SERVICE", x.service, 1)), 0o600); err != nil {
		x.t.Fatal(err)
	}
	return name
}

// say returns the sound of a sentence.
func (x *talking) say(text string) []int16 {
	x.t.Helper()
	pcm, err := x.bank.Say(x.t.Context(), text, "en")
	if err != nil {
		x.t.Fatal(err)
	}
	return pcm
}

// signed is the response of signed-url.
type signed struct {
	URL            string `json:"signed_url"`
	ConversationID string `json:"conversation_id"`
	Token          string `json:"conversation_token"`
}

func get(t *testing.T, address, token string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode, string(text), err)
	}
}

// sign requests an address; with a token, for the token's conversation.
func sign(t *testing.T, base, token string) signed {
	t.Helper()
	var s signed
	get(t, base+"/functions/v1/voice-widget/signed-url?access_key="+talkKey+"&id_widget="+talkWidget, token, &s)
	return s
}

// caller is a person in a browser. It sends speech in real time and stores what it receives.
type caller struct {
	t      *testing.T
	ws     *websocket.Conn
	speech chan []int16

	mu     sync.Mutex
	got    []map[string]any
	sound  map[int][]int16 // by response
	closed websocket.StatusCode
	change chan struct{}
}

// talk opens a socket and begins the conversation. It sends silence from the start.
func talk(t *testing.T, address string) *caller {
	t.Helper()
	return dial(t, address+"&source=js_sdk&version=1.25.0", nil)
}

// dial opens a socket of a visitor or a teammate.
func dial(t *testing.T, address string, header http.Header) *caller {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{Subprotocols: []string{"convai"}, HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	c := &caller{t: t, ws: ws, speech: make(chan []int16, 4), sound: map[int][]int16{}, change: make(chan struct{}, 1)}
	c.send(`{"type":"conversation_initiation_client_data","dynamic_variables":{"name":"Ana"},"source_info":{"source":"js_sdk",` +
		`"version":"1.25.0"}}`)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	all.Go(c.read)
	all.Go(func() { c.microphone(ctx) })
	t.Cleanup(func() { stop(); _ = ws.CloseNow(); all.Wait() })
	c.wait("conversation_initiation_metadata", nil)
	return c
}

func (c *caller) send(text string) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Error(err)
	}
}

// microphone sends 32 ms of sound at a time, 31 times per second.
func (c *caller) microphone(ctx context.Context) {
	const piece = 512
	tick := time.NewTicker(32 * time.Millisecond)
	defer tick.Stop()
	var left []int16
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if len(left) == 0 {
			select {
			case left = <-c.speech:
			default:
			}
		}
		out := make([]int16, piece)
		n := copy(out, left)
		left = left[n:]
		if c.ws.Write(ctx, websocket.MessageText,
			[]byte(`{"user_audio_chunk":"`+base64.StdEncoding.EncodeToString(audio.Bytes(out))+`"}`)) != nil {
			return
		}
	}
}

func (c *caller) read() {
	for {
		_, text, err := c.ws.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.closed = websocket.CloseStatus(err)
			c.mu.Unlock()
			c.changed()
			return
		}
		var m map[string]any
		_ = json.Unmarshal(text, &m)
		switch m["type"] {
		case "ping":
			_ = c.ws.Write(context.Background(), websocket.MessageText,
				fmt.Appendf(nil, `{"type":"pong","event_id":%v}`, m["ping_event"].(map[string]any)["event_id"]))
		case "audio":
			c.hear(m["audio_event"].(map[string]any))
		}
		c.got = append(c.got, m)
		c.mu.Unlock()
		c.changed()
	}
}

func (c *caller) hear(e map[string]any) {
	raw, _ := base64.StdEncoding.DecodeString(e["audio_base_64"].(string))
	id := int(e["event_id"].(float64))
	c.sound[id] = append(c.sound[id], audio.Samples(raw)...)
}

func (c *caller) changed() {
	select {
	case c.change <- struct{}{}:
	default:
	}
}

// hung is the time after which a wait counts as hung.
const hung = 2 * time.Minute

// wait returns the next matching message of a type, and drops those before it.
func (c *caller) wait(kind string, fits func(m map[string]any) bool) map[string]any {
	c.t.Helper()
	late := time.After(hung)
	for {
		c.mu.Lock()
		for i, m := range c.got {
			if m["type"] == kind && (fits == nil || fits(m)) {
				c.got = c.got[i+1:]
				c.mu.Unlock()
				return m
			}
		}
		closed, others := c.closed, slices.DeleteFunc(slices.Clone(c.got), func(m map[string]any) bool {
			return m["type"] == "audio" || m["type"] == "vad_score"
		})
		c.mu.Unlock()
		if closed != 0 {
			c.t.Fatalf("wait for %s: closed with %d: %.3000s", kind, closed, fmt.Sprint(others))
		}
		select {
		case <-c.change:
		case <-late:
			c.t.Fatalf("no %s came: %.2000s", kind, fmt.Sprint(others))
		}
	}
}

// heard returns the sound of a response once that many samples have arrived.
func (c *caller) heard(id, samples int) (pcm []int16) {
	c.t.Helper()
	c.until("the sound of a response", func() bool {
		pcm = c.sound[id]
		return len(pcm) >= samples
	})
	return pcm
}

// until waits for a condition on the received messages.
func (c *caller) until(what string, is func() bool) {
	c.t.Helper()
	for late := time.Now().Add(hung); ; time.Sleep(20 * time.Millisecond) {
		c.mu.Lock()
		reached := is()
		c.mu.Unlock()
		if reached {
			return
		}
		if time.Now().After(late) {
			c.t.Fatal("does not come: ", what)
		}
	}
}

// received reports the correlation of a sound with the received sound.
func (c *caller) received(pcm []int16) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	best := 0.0
	for _, all := range c.sound {
		_, shift := audiotest.Correlate(all, pcm)
		from := max(0, -shift)
		ncc, _ := audiotest.Correlate(all[from:min(len(all), from+len(pcm))], pcm)
		best = max(best, ncc)
	}
	return best
}

func (c *caller) end() (status websocket.StatusCode) {
	c.t.Helper()
	c.until("the end of the connection", func() bool {
		status = c.closed
		return status != 0
	})
	return status
}

// member returns a nested value of a message.
func member(m map[string]any, names ...string) any {
	var v any = m
	for _, name := range names {
		v = v.(map[string]any)[name]
	}
	return v
}

func saying(text string) func(m map[string]any) bool {
	return func(m map[string]any) bool { return strings.Contains(fmt.Sprint(m), text) }
}

func TestAPersonTalksWithTheAgent(t *testing.T) {
	t.Parallel()
	x := newTalking(t)
	p := start(t, x.provision(), x.flags())
	ask, interrupt := x.say(question), x.say(barge)
	s := sign(t, p.BaseURL, "")
	c := talk(t, s.URL)

	m := c.wait("agent_response", nil)
	if member(m, "agent_response_event", "agent_response") != greeting {
		t.Error(m)
	}
	id := int(member(m, "agent_response_event", "event_id").(float64))
	prompt, err := voicetest.Speak(t.Context(), greeting, "en", 16000)
	if err != nil {
		t.Fatal(err)
	}
	if ncc, _ := audiotest.Correlate(prompt, c.heard(id, len(prompt))); ncc < 0.95 {
		t.Errorf("the greeting is heard with a correlation of %.3f", ncc)
	}

	c.speech <- ask
	if m = c.wait("user_transcript", nil); member(m, "user_transcription_event", "user_transcript") != question {
		t.Error(m)
	}
	m = c.wait("agent_response", saying("nine in the morning"))
	cut := int(member(m, "agent_response_event", "event_id").(float64))
	c.wait("rich_content", saying("https://harbour.test/hours"))
	c.heard(cut, 16_000) // a part of it

	c.speech <- interrupt
	c.wait("interruption", nil)
	c.wait("agent_response_correction", saying("corrected_agent_response"))
	if m = c.wait("user_transcript", nil); member(m, "user_transcription_event", "user_transcript") != barge {
		t.Error(m)
	}
	c.wait("agent_response", saying("card or in cash"))

	c.send(`{"type":"user_message","text":"Please show me the map","client_id":"t1"}`)
	m = c.wait("client_tool_call", nil)
	if member(m, "client_tool_call", "tool_name") != "show_map" {
		t.Error(m)
	}
	c.send(fmt.Sprintf(`{"type":"client_tool_result","tool_call_id":%q,"result":"The map is open.","is_error":false}`,
		member(m, "client_tool_call", "tool_call_id")))
	c.wait("agent_response", nil)

	c.send(`{"type":"hang_up"}`)
	if status := c.end(); status != websocket.StatusNormalClosure {
		t.Error("closed with", status)
	}
	var said struct {
		State string
		Turns []struct {
			Author, Text string
			Voice        map[string]any
		}
	}
	get(t, p.BaseURL+"/functions/v1/voice-widget/chat-by-conversation?conversation_id="+s.ConversationID, s.Token, &said)
	var order []string
	for _, turn := range said.Turns {
		if turn.Author == "visitor" {
			order = append(order, turn.Text)
		}
		if turn.Text == question && turn.Voice["length_ms"] == nil {
			t.Error("the turn has no length:", turn)
		}
	}
	if got := strings.Join(order, "|"); got != question+"|"+barge+"|Please show me the map" || said.State != "resolved" {
		t.Error(said.State, got)
	}
}

func TestAStopAsksToComeAgainAndTheConversationGoesOn(t *testing.T) {
	t.Parallel()
	x := newTalking(t)
	database, flags, provision := storetest.Postgres(t), x.flags(), x.provision()
	flags["database-url"], flags["master-key-file"] = []string{database}, []string{storetest.MasterKey(t)}
	first := start(t, provision, flags)
	second := start(t, provision, flags)

	s := sign(t, first.BaseURL, "")
	other := strings.Replace(s.URL, strings.TrimPrefix(first.BaseURL, "http"), strings.TrimPrefix(second.BaseURL, "http"), 1)
	c := talk(t, other) // signed on one node, opened on the other
	c.wait("agent_response", saying("Welcome"))
	if _, resp, err := websocket.Dial(t.Context(), s.URL, nil); err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized {
		t.Error("the address is good on the other node too:", err)
	}
	c.send(`{"type":"user_message","text":"What are your opening hours?","client_id":"t1"}`)
	c.wait("agent_response", saying("nine in the morning"))
	// The page's network changes, and the loss of the old connection is not noticed yet.
	for _, node := range []*instance.Instance{first, second} {
		before := c
		c = talk(t, sign(t, node.BaseURL, s.Token).URL)
		if status := before.end(); status != websocket.StatusNormalClosure {
			t.Error("the talk on the other node was closed with", status)
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- second.App.Stop(context.WithoutCancel(t.Context())) }()
	if status := c.end(); status != websocket.StatusServiceRestart {
		t.Error("closed with", status)
	}
	again := sign(t, first.BaseURL, s.Token)
	if again.ConversationID != s.ConversationID {
		t.Error("another conversation")
	}
	c = talk(t, again.URL)
	c.send(`{"type":"user_message","text":"How can I pay?","client_id":"t2"}`)
	c.wait("agent_response", saying("card or in cash"))
	var said struct {
		Turns []struct{ Author, Text string }
	}
	get(t, first.BaseURL+"/functions/v1/voice-widget/chat-by-conversation?conversation_id="+s.ConversationID, again.Token, &said)
	var order []string
	for _, turn := range said.Turns {
		if turn.Author == "visitor" {
			order = append(order, turn.Text)
		}
	}
	if got := strings.Join(order, "|"); got != "What are your opening hours?|How can I pay?" {
		t.Error(got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A visitor is connected to one node, and the teammate who takes over is connected to the other.
func TestATeammateOnTheOtherNodeTalksWithTheVisitor(t *testing.T) {
	t.Parallel()
	x := newTalking(t)
	database, flags, provision := storetest.Postgres(t), x.flags(), x.provision()
	flags["database-url"], flags["master-key-file"] = []string{database}, []string{storetest.MasterKey(t)}
	first := start(t, provision, flags)
	second := start(t, provision, flags)
	ask, reply := x.say("Is there room for a wheelchair?"), x.say("Yes, there is room on every boat.")

	s := sign(t, first.BaseURL, "")
	visitor := talk(t, s.URL)
	visitor.wait("agent_response", saying("Welcome"))
	header := http.Header{
		"Cookie": {signInPanel(t, second.BaseURL, "ben@harbour.test", "harbour-horse-battery")}, "Origin": {second.BaseURL},
	}
	ben := dial(t, strings.Replace(second.BaseURL, "http", "ws", 1)+"/panel/v1/conversations/"+s.ConversationID+"/voice", header)
	visitor.wait("external_agent_connected", saying("Ben"))

	for _, c := range []struct {
		from, to *caller
		said     []int16
		text     string
	}{{visitor, ben, ask, "Is there room for a wheelchair?"}, {ben, visitor, reply, "Yes, there is room on every boat."}} {
		best := 0.0
		c.from.speech <- c.said
		for late := time.Now().Add(hung); best < 0.95 && time.Now().Before(late); time.Sleep(100 * time.Millisecond) {
			best = c.to.received(c.said)
		}
		if best < 0.95 {
			t.Errorf("%q is heard with a correlation of %.3f", c.text, best)
		}
	}
	ben.wait("user_transcript", saying("wheelchair"))
	visitor.wait("turn", saying("room on every boat"))

	ben.send(`{"type":"to_agent"}`)
	visitor.wait("external_agent_disconnected", nil)
	visitor.send(`{"type":"user_message","text":"How can I pay?","client_id":"t1"}`)
	visitor.wait("agent_response", saying("card or in cash"))
}

// signInPanel returns the cookie of a panel session.
func signInPanel(t *testing.T, base, email, password string) string {
	t.Helper()
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/panel/v1/session", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Carillon-Panel", "1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if cookies := resp.Cookies(); resp.StatusCode == http.StatusOK && len(cookies) > 0 {
		return cookies[0].Name + "=" + cookies[0].Value
	}
	t.Fatal("sign in: ", resp.Status)
	return ""
}
