package widget

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"
	"github.com/golang-jwt/jwt/v5"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/edge/httpio"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/purge"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
	"carillon/web"
)

const (
	voiceID   = "33333333-3333-4333-8333-333333333311"
	voice2ID  = "33333333-3333-4333-8333-333333333312"
	thirdID   = "33333333-3333-4333-8333-333333333319"
	shopID    = "33333333-3333-4333-8333-333333333313"
	remoteID  = "33333333-3333-4333-8333-333333333314"
	foreignID = "33333333-3333-4333-8333-333333333321"
	widgetKey = "ck_test_widget"
)

const voiceSetUp = `    keys: [{key: ck_test_widget, label: widget, scopes: ["widget:use"]}, {key: ck_test_reads, label: reads,
	scopes: ["notify:read"]}]
    knowledge: [{id: faq, articles: [{title: Opening hours, text: "We are open from nine to five.", url: "https://acme.test/hours"}]}]
    agents:
      - {id: 44444444-4444-4444-8444-444444444401, name: Ann, language: en, greeting: Hello there., knowledge: [faq],
        tools: [search, handoff]}
      - {id: 44444444-4444-4444-8444-444444444402, name: Far, language: en, engine: elevenlabs, elevenlabs: {agent_id: agent-7,
        api_key: xi-secret, base_url: "BASE"}}
`

const voiceWidgets = `      - {id: 33333333-3333-4333-8333-333333333311, kind: voice, name: Voice, agent: Ann, welcome: Hello.,
	translations: {es: Hola., pt: Olá.}, terms: We record this.}
      - {id: 33333333-3333-4333-8333-333333333319, kind: voice, name: Third, agent: Ann, overrides: [text_only, first_message]}
      - {id: 33333333-3333-4333-8333-333333333312, kind: voice, name: Second, agent: Ann, overrides: [], text_input: false,
        transcript: false, talk_to_person: false, appearance: {primary_color: "#ffee00", position: top-left, animation: wave}}
      - {id: 33333333-3333-4333-8333-333333333313, kind: voice, name: Shop, agent: Ann, allowed_origins: ["https://shop.example"],
        identity_secret: a-secret-of-the-shop-0123}
      - {id: 33333333-3333-4333-8333-333333333314, kind: voice, name: Remote, agent: Far}
  - id: 11111111-1111-4111-8111-111111111102
    name: Other
    keys: [{key: ck_test_other, label: other, scopes: ["*"]}]
    widgets:
      - {id: 33333333-3333-4333-8333-333333333321, kind: voice, name: Foreign}
      - {id: 33333333-3333-4333-8333-333333333322, kind: chat, name: Foreign chat}
`

// mute is a speaker that emits 100 ms of a constant for each utterance.
type mute struct{}

func (mute) Speak(_ context.Context, _ voice.Utterance, emit func(pcm []int16) error) error {
	return emit(slices.Repeat([]int16{7}, 1600))
}

// silent is a detector that never finds speech.
type silent struct{}

func (silent) Chunk() int            { return 512 }
func (silent) Score([]int16) float32 { return 0 }
func (silent) Reset()                {}

// answering looks up agents in the store.
type answering struct{ *store.Store }

func (a answering) TalkingAgent(ctx context.Context, companyID, id string) (*agent.Agent, string, error) {
	x, owner, err := a.Resources.Find(ctx, agent.Kind(), id)
	if found, ok := x.(*agent.Agent); ok && owner == companyID {
		return found, "Acme", nil
	}
	return nil, "", errors.Join(err, carillon.Absent("Agent"))
}

// newVoiceSite returns a site with voice widgets of two companies. The agent Far has the base URL base.
func newVoiceSite(t *testing.T, base string) *site {
	t.Helper()
	return newSite(t, "").voices(cmp.Or(base, "https://api.elevenlabs.io"))
}

// voices adds the dependencies of voice widgets and serves them.
func (x *site) voices(base string) *site {
	x.t.Helper()
	x.apply(strings.Replace(setUp, "    widgets:\n", strings.Replace(voiceSetUp, "BASE", base, 1)+"    widgets:\n", 1) + voiceWidgets)
	talks := conversation.New(conversation.Options{
		Store: x.store, Agents: answering{x.store}, Thinker: agent.NewBuiltin(knowledge.NewSearch(x.store.Resources, x.Log)),
		Publisher: x.Events, Log: x.Log, Alone: true,
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(x.t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = talks.Run(ctx) }()
	x.t.Cleanup(func() { stop(); <-done })
	x.Conversations, x.Signed, x.Engines = talks, x.store.Addresses, http.DefaultClient
	x.Search = knowledge.NewSearch(x.store.Resources, x.Log)
	x.Speaks = func(*agent.Agent) (bool, bool) { return true, false }
	x.Voices = voice.NewSessions(voice.Options{
		Dialogue: conversation.NewAloud(talks), Topics: x.Events, Log: x.Log, Speakers: map[string]voice.Speaker{"espeak": mute{}},
		Transcribers: map[string]voice.Transcriber{},
		Fallback:     "espeak", Detector: func(int) voice.Detector { return silent{} },
	})
	x.serve()
	return x
}

// address requests a signed address.
func (x *site) address(query string, header ...string) *Signed {
	x.t.Helper()
	status, text := x.send("GET", voicePath+"/signed-url?access_key="+widgetKey+"&"+query, "", "", header...)
	if status != 200 {
		x.t.Fatal(status, text)
	}
	return readSigned(x.t, text)
}

func readSigned(t *testing.T, text string) *Signed {
	t.Helper()
	var s Signed
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(text, err)
	}
	return &s
}

// open opens a socket. If it is refused, ws is nil, and status and body are those of the response.
func (x *site) open(address, origin string) (ws *websocket.Conn, status int, body string) {
	x.t.Helper()
	h := http.Header{}
	if origin != "" {
		h.Set("Origin", origin)
	}
	ws, resp, err := websocket.Dial(x.t.Context(), address+"&source=js_sdk&version=1.25.0", &websocket.DialOptions{
		Subprotocols: []string{"convai"}, HTTPHeader: h,
	})
	if err == nil {
		x.t.Cleanup(func() { _ = ws.CloseNow() })
		return ws, resp.StatusCode, ""
	}
	if resp == nil {
		x.t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	return nil, resp.StatusCode, string(text)
}

// read returns the next message of a type.
func read(t *testing.T, ws *websocket.Conn, kind string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		_, text, err := ws.Read(ctx)
		if err != nil {
			t.Fatalf("wait for %s: %v", kind, err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if m["type"] == kind {
			return m
		}
		if m["type"] == "error" {
			t.Fatalf("wait for %s: %s", kind, text)
		}
	}
}

func write(t *testing.T, ws *websocket.Conn, text string) {
	t.Helper()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

const begin = `{"type":"conversation_initiation_client_data","conversation_config_override":{"conversation":{"text_only":true}}}`

func TestASignedAddressIsGoodForOneUseByThePageThatGotIt(t *testing.T) {
	x := newVoiceSite(t, "")
	refused := func(name, address, origin string, status int, part string) {
		t.Helper()
		ws, got, body := x.open(address, origin)
		if ws != nil || got != status || !strings.Contains(body, part) {
			t.Errorf("%s: %d %s, want %d and %s", name, got, body, status, part)
		}
	}
	good := func(name, address, origin string) *websocket.Conn {
		t.Helper()
		ws, got, body := x.open(address, origin)
		if ws == nil {
			t.Fatalf("%s: %d %s", name, got, body)
		}
		return ws
	}
	first := x.address("id_widget=" + voiceID)
	ws := good("without an origin", first.URL, "")
	write(t, ws, begin)
	if m := read(
		t, ws, "conversation_initiation_metadata",
	); m["conversation_initiation_metadata_event"].(map[string]any)["conversation_id"] != first.ConversationID {
		t.Error(m)
	}
	refused("a second use", first.URL, "", 401, `"reason":"used"`)
	good("from the widgets' own page", x.address("id_widget="+voiceID).URL, x.url)
	refused("from another page", x.address("id_widget="+voiceID).URL, "https://other.example", 403, "another origin")

	shop := x.address("id_widget="+shopID, "Origin", "https://shop.example")
	refused("from another page than the one that got it", shop.URL, x.url, 403, "another origin")
	refused("without the page's origin", shop.URL, "", 403, "another origin")
	refused("from a page that may not use the widget", shop.URL, "https://evil.example", 403, "of this origin")
	good("from the page that got it", shop.URL, "https://shop.example")

	late := x.address("id_widget=" + voiceID)
	x.expire(late)
	refused("after its time", late.URL, "", 401, `"reason":"expired"`)

	with := func(address, name, value string) string {
		u, _ := url.Parse(address)
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	bound := x.address("id_widget=" + voiceID)
	other := x.address("id_widget=" + voice2ID)
	refused("for another widget's conversation", with(bound.URL, "conversation", other.ConversationID), "", 403, "another conversation")
	refused("for another agent", with(bound.URL, "agent_id", "x"), "", 403, "another conversation")
	refused("with another token", with(bound.URL, "token", "AAAAAAAAAAAAAAAAAAAAAAAAAA"), "", 401, `"reason":"invalid"`)
	refused("without a token", with(bound.URL, "token", ""), "", 401, `"reason":"missing"`)
	if status, body := x.send("GET", strings.TrimPrefix(bound.URL, socketOf(x.url)), "", ""); status != 400 ||
		!strings.Contains(body, "WebSocket") {
		t.Error("no socket:", status, body)
	}
	good("after all that", bound.URL, "")

	gone := x.address("id_widget=" + voiceID)
	x.apply(strings.Replace(setUp, "name: Acme", "name: Acme\n    status: suspended", 1))
	refused("of a company that was suspended meanwhile", gone.URL, "", 403, "suspended")
	x.apply(strings.Replace(setUp, "name: Acme", "name: Acme\n    status: active", 1))
	x.apply(
		strings.Replace(
			setUp, "    widgets:\n",
			"    keys: [{key: ck_test_widget, label: widget, scopes: [\"widget:use\"], revoked: true}]\n    widgets:\n", 1,
		),
	)
	refused("with a key that was revoked meanwhile", gone.URL, "", 401, `"reason":"revoked"`)
}

// expire moves the expiry of a signed address into the past.
func (x *site) expire(s *Signed) {
	x.t.Helper()
	u, _ := url.Parse(s.URL)
	a, err := x.Signed.Find(x.t.Context(), digest(u.Query().Get("token")))
	if err != nil || a == nil || time.Until(a.ExpiresAt) > time.Minute || time.Until(a.ExpiresAt) <= 0 {
		x.t.Fatal(a, err)
	}
	if _, err := x.store.Purges.Drop(x.t.Context(), purge.Addresses, a.ExpiresAt.Add(time.Millisecond), 100); err != nil {
		x.t.Fatal(err)
	}
	a.ExpiresAt = time.Now().Add(-time.Second)
	if err := x.Signed.Add(x.t.Context(), a); err != nil {
		x.t.Fatal(err)
	}
}

func TestWhoMayAskForAVoiceWidget(t *testing.T) {
	x := newVoiceSite(t, "")
	for _, path := range []string{"", "/signed-url"} {
		for _, c := range []struct {
			query, origin string
			status        int
			part          string
		}{
			{"id_widget=" + voiceID + "&access_key=" + widgetKey, "", 200, ""},
			{"id_widget=" + strings.ToUpper(voiceID) + "&access_key=" + widgetKey, "", 200, ""},
			{"id_widget=" + voiceID, "", 401, `"reason":"missing"`},
			{"id_widget=" + voiceID + "&access_key=ck_nobody", "", 401, `"reason":"invalid"`},
			{"access_key=" + widgetKey, "", 400, `"field":"id_widget"`},
			{"id_widget=7&access_key=" + widgetKey, "", 400, `"expected_format":"UUID"`},
			{"id_widget=" + voiceID + "&access_key=ck_test_reads", "", 403, "widget:use"},
			{"id_widget=" + foreignID + "&access_key=" + widgetKey, "", 403, "another company"},
			{"id_widget=33333333-3333-4333-8333-333333333322&access_key=" + widgetKey, "", 403, "another company"},
			{"id_widget=" + widgetID + "&access_key=" + widgetKey, "", 404, ""},
			{"id_widget=" + visitorID + "&access_key=" + widgetKey, "", 404, ""},
			{"id_widget=" + shopID + "&access_key=" + widgetKey, "https://shop.example", 200, ""},
			{"id_widget=" + shopID + "&access_key=" + widgetKey, "https://evil.example", 403, "of this origin"},
			{"id_widget=" + shopID + "&access_key=" + widgetKey, "null", 403, "of this origin"},
		} {
			var header []string
			if c.origin != "" {
				header = []string{"Origin", c.origin}
			}
			if status, body := x.send("GET", voicePath+path+"?"+c.query, "", "", header...); status != c.status ||
				!strings.Contains(body, c.part) {
				t.Errorf("%s?%s: %d %s, want %d and %s", path, c.query, status, body, c.status, c.part)
			}
		}
	}
	if status, body := x.send("GET", voicePath+"/signed-url?id_widget=7", "", ""); status != 401 {
		t.Error("the key is not checked first:", status, body)
	}
}

func TestTheConfigurationOfAVoiceWidget(t *testing.T) {
	x := newVoiceSite(t, "")
	for query, want := range map[string]string{
		"id_widget=" + voiceID + "&language=es-MX": `{"widget_id":"` + voiceID +
			`","name":"Voice","colors":{"primary":"#2f5bd7","on_primary":"#ffffff","background":"#ffffff","text":"#1d1c1a"},` +
			`"position":"bottom-right","animation":"","language":"es-MX","languages":["en","es","pt"],"agent":{"name":"Ann"},` +
			`"welcome":"Hola.","texts":{},"text_input":true,"transcript":true,` +
			`"terms":"We record this.","speech":true,"hearing":false,"browser_hearing":"device","talk_to_person":true}`,
		"id_widget=" + voice2ID: `{"widget_id":"` + voice2ID +
			`","name":"Second","colors":{"primary":"#ffee00","on_primary":"#15130f","background":"#ffffff","text":"#1d1c1a"},` +
			`"position":"top-left","animation":"wave","language":"en","languages":["en"],"agent":{"name":"Ann"},"welcome":"",` +
			`"texts":{},"text_input":false,"transcript":false,` +
			`"speech":true,"hearing":false,"browser_hearing":"device","talk_to_person":false}`,
	} {
		status, body := x.send("GET", voicePath+"?access_key="+widgetKey+"&"+query, "", "")
		if status != 200 || body != want {
			t.Errorf("%s: %d\n%s\n%s", query, status, body, want)
		}
		_, body = x.send("GET", voicePath+"?access_key="+widgetKey+"&launcher=1&"+query, "", "")
		page, launcher, _ := strings.Cut(body, `,"launcher":`)
		if page+"}" != want || !strings.Contains(launcher, `"name":`) {
			t.Errorf("%s with its launcher:\n%s\n%s", query, body, want)
		}
	}
}

func TestATypedTalkIsKeptAndGoesOnWithItsToken(t *testing.T) {
	x := newVoiceSite(t, "")
	s := x.address(
		"id_widget=" + voiceID + "&customer_id=" + visitorID + "&language=es&page=" + url.QueryEscape("https://acme.test/a?secret=1"),
	)
	ws, _, _ := x.open(s.URL, "")
	write(t, ws, `{"type":"conversation_initiation_client_data","conversation_config_override":{"conversation":{"text_only":true}}}`)
	if m := read(t, ws, "agent_response"); m["agent_response_event"].(map[string]any)["agent_response"] != "Hola." {
		t.Error(m)
	}
	write(t, ws, `{"type":"user_message","text":"When are you open?","client_id":"c1"}`)
	m := read(t, ws, "agent_response")["agent_response_event"].(map[string]any)
	if !strings.Contains(m["agent_response"].(string), "nine to five") {
		t.Error(m)
	}
	if m := read(t, ws, "rich_content")["rich_content"].(map[string]any); m["component"] != "sources" ||
		!strings.Contains(toJSON(m), "https://acme.test/hours") {
		t.Error(m)
	}
	write(t, ws, `{"type":"feedback","score":"like","event_id":`+toJSON(m["event_id"])+`}`)
	_ = ws.Close(websocket.StatusGoingAway, "")

	again := x.address("id_widget="+voiceID, "Authorization", "Bearer "+s.ConversationToken)
	if again.ConversationID != s.ConversationID {
		t.Error("another conversation")
	}
	ws, _, _ = x.open(again.URL, "")
	write(t, ws, begin)
	read(t, ws, "conversation_initiation_metadata")
	token := again.ConversationToken
	hung := time.Now().Add(2 * time.Minute)
	var body string
	for !strings.Contains(body, `"event":"scored"`) && time.Now().Before(hung) {
		_, body = x.send("GET", voicePath+"/chat-by-conversation?conversation_id="+s.ConversationID, token, "")
	}
	for _, part := range []string{
		`"state":"bot"`, `"text":"Hola."`, `"text":"When are you open?"`, `"client_id":"c1"`, `"event":"scored"`, `"text":"like"`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
	if status, body := x.send("GET", voicePath+"/chat-by-conversation?conversation_id="+visitorID, token, ""); status != 403 {
		t.Error("another conversation:", status, body)
	}
	if status, _ := x.send("GET", voicePath+"/chat-by-conversation", token, ""); status != 400 {
		t.Error("no conversation:", status)
	}
	// The visitor without the token continues the same conversation. A token of another widget is refused.
	if same := x.address("id_widget=" + voiceID + "&customer_id=" + visitorID); same.ConversationID != s.ConversationID {
		t.Error("the visitor has another conversation")
	}
	other := x.address("id_widget=" + voice2ID)
	if status, body := x.send("GET", voicePath+"/signed-url?access_key="+widgetKey+"&id_widget="+
		voiceID, other.ConversationToken, ""); status != 403 {
		t.Error("another widget's token:", status, body)
	}
	write(t, ws, `{"type":"hang_up"}`)
	for {
		_, _, err := ws.Read(t.Context())
		if err != nil {
			if websocket.CloseStatus(err) != websocket.StatusNormalClosure {
				t.Error(err)
			}
			break
		}
	}
	if status, body := x.send("GET", voicePath+"/signed-url?access_key="+widgetKey+"&id_widget="+voiceID, token, ""); status != 409 {
		t.Error("after its end:", status, body)
	}
	if status, body := x.send("POST", voicePath+"/feedback", token, `{"rating":4,"comment":"Good"}`); status != 204 {
		t.Error(status, body)
	}
	if status, body := x.send("POST", "/v1/convai/conversations/"+s.ConversationID+
		"/feedback", token, `{"feedback":"dislike"}`); status != 204 {
		t.Error(status, body)
	}
	if status, body := x.send("POST", "/v1/convai/conversations/"+s.ConversationID+"/feedback", "", `{"feedback":"like"}`); status != 401 {
		t.Error("without a token:", status, body)
	}
	if status, body := x.send("POST", "/v1/convai/conversations/"+visitorID+"/feedback", token, `{"feedback":"like"}`); status != 403 {
		t.Error("the token of another conversation:", status, body)
	}
	if c, err := x.Chats.Find(t.Context(), companyID, s.ConversationID); err != nil || c.Rating != 1 ||
		c.Page != "https://acme.test/a" || c.Channel != "web_voice" {
		t.Error(c, err)
	}
	if next := x.address("id_widget=" + voiceID + "&customer_id=" + visitorID); next.ConversationID == s.ConversationID {
		t.Error("the visitor has no new conversation")
	}
}

func toJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func TestATokenIsGoodForAnHourBeyondTheEnd(t *testing.T) {
	x := newVoiceSite(t, "")
	s := x.address("id_widget=" + voiceID)
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(s.ConversationToken, claims); err != nil {
		t.Fatal(err)
	}
	search := func(name, token string, status int, part string) {
		t.Helper()
		if got, body := x.send("POST", voicePath+"/search", token, `{"query":"opening hours","limit":1}`); got != status ||
			!strings.Contains(body, part) {
			t.Errorf("%s: %d %s, want %d and %s", name, got, body, status, part)
		}
	}
	search("good", s.ConversationToken, 200, `"title":"Opening hours"`)
	search("none", "", 401, `"reason":"missing"`)
	search("nonsense", "x.y.z", 401, `"reason":"invalid"`)
	chatToken, _ := x.begin(widgetID, visitorID)
	search("a chat's", chatToken, 401, `"reason":"invalid"`)
	search(
		"expired",
		x.signed(jwt.SigningMethodHS256, x.key, claims, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Second).Unix() }), 401,
		`"reason":"expired"`,
	)
	search("another key's", x.signed(jwt.SigningMethodHS256, []byte("another key"), claims, nil), 401, `"reason":"invalid"`)
	search(
		"another company's",
		x.signed(jwt.SigningMethodHS256, x.key, claims, func(c jwt.MapClaims) { c["company"] = "11111111-1111-4111-8111-111111111102" }),
		401, `"reason":"revoked"`,
	)
	if _, err := x.Conversations.Leave(t.Context(), companyID, s.ConversationID); err != nil {
		t.Fatal(err)
	}
	search("after the end", s.ConversationToken, 200, "")
	if err := x.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE conversation SET state_at = state_at - 3601000 WHERE id = $1", s.ConversationID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	search("an hour after the end", s.ConversationToken, 401, `"reason":"expired"`)
}

func TestAVisitorAsksForATeammateAndDoesWithout(t *testing.T) {
	x := newVoiceSite(t, "")
	s := x.address("id_widget=" + voiceID)
	ask := func(path, token string, status int, want string) {
		t.Helper()
		if got, body := x.send("POST", voicePath+path, token, `{"reason":"lost"}`); got != status || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %d and %s", path, got, body, status, want)
		}
	}
	ask("/handoff/end", s.ConversationToken, 409, "")
	ask("/handoff", s.ConversationToken, 200, `{"state":"missed"}`) // no teammate is available
	ask("/handoff", s.ConversationToken, 200, `{"state":"missed"}`)
	ask("/handoff/end", s.ConversationToken, 200, `{"state":"bot"}`)
	ask("/handoff/end", s.ConversationToken, 409, "")
	ask("/handoff", x.address("id_widget="+voice2ID).ConversationToken, 409, "offers no teammate")
}

func TestAnAgentAtElevenLabsIsHandedOut(t *testing.T) {
	var fault string
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.Method != http.MethodGet || r.URL.Path != "/v1/convai/conversation/get-signed-url":
			http.NotFound(w, r)
		case r.Header.Get("xi-api-key") != "xi-secret":
			http.Error(w, `{"detail":{"status":"invalid_api_key"}}`, http.StatusUnauthorized)
		case len(q) != 2 || q.Get("agent_id") != "agent-7" || q.Get("include_conversation_id") != "true":
			http.Error(w, `{"detail":[]}`, http.StatusUnprocessableEntity)
		case fault != "":
			_, _ = io.WriteString(w, fault)
		default:
			_, _ = io.WriteString(
				w, `{"signed_url":"wss://api.elevenlabs.io/v1/convai/conversation?agent_id=agent-7&conversation_signature=cvtkn_x"}`,
			)
		}
	}))
	defer fake.Close()
	x := newVoiceSite(t, fake.URL)
	s := x.address("id_widget=" + remoteID)
	if s.URL != "wss://api.elevenlabs.io/v1/convai/conversation?agent_id=agent-7&conversation_signature=cvtkn_x" ||
		s.ConversationToken == "" {
		t.Error(s)
	}
	if status, _ := x.send("GET", voicePath+"/chat-by-conversation?conversation_id="+
		s.ConversationID, s.ConversationToken, ""); status != 200 {
		t.Error("the conversation is not ours too:", status)
	}
	for _, fault = range []string{"{", `{"signed_url":"https://evil.example"}`, `{}`} {
		status, body := x.send("GET", voicePath+"/signed-url?access_key="+widgetKey+"&id_widget="+remoteID, "", "")
		if status != 502 || !strings.Contains(body, `"service":"elevenlabs"`) || strings.Contains(body, "xi-secret") {
			t.Error(fault, status, body)
		}
	}
	fake.Close()
	if status, body := x.send("GET", voicePath+"/signed-url?access_key="+widgetKey+"&id_widget="+remoteID, "", ""); status != 502 {
		t.Error("down:", status, body)
	}
}

func TestATeammateTalksWithAnAgentWithoutAWidget(t *testing.T) {
	x := newVoiceSite(t, "")
	by := Teammate{CompanyID: companyID, AccountID: visitorID, Name: "Tess", Origin: x.url}
	s, err := x.TalkTo(t.Context(), by, "44444444-4444-4444-8444-444444444401", "en")
	if err != nil {
		t.Fatal(err)
	}
	if ws, status, _ := x.open(s.URL, "https://evil.example"); ws != nil || status != 403 {
		t.Error("from another page:", status)
	}
	ws, _, body := x.open(s.URL, x.url)
	if ws == nil {
		t.Fatal(body)
	}
	write(t, ws, `{"type":"conversation_initiation_client_data"}`)
	read(t, ws, "audio")
	if status, body := x.send("POST", voicePath+"/search", s.ConversationToken, `{"query":"opening"}`); status != 200 {
		t.Error(status, body)
	}
}

func TestAVerifiedVisitorHasOneHistory(t *testing.T) {
	x := newVoiceSite(t, "")
	token := func(secret, subject string) string {
		return url.QueryEscape(
			x.signed(
				jwt.SigningMethodHS256, []byte(secret),
				jwt.MapClaims{"sub": subject, "exp": time.Now().Add(time.Hour).Unix(), "name": "Ana"}, nil,
			),
		)
	}
	a := x.address("id_widget=" + shopID + "&customer_id=" + visitorID + "&identity=" + token("a-secret-of-the-shop-0123", "u1"))
	b := x.address("id_widget=" + shopID + "&customer_id=" + visitor2ID + "&identity=" + token("a-secret-of-the-shop-0123", "u1"))
	c := x.address("id_widget=" + shopID + "&customer_id=" + visitorID)
	if a.ConversationID != b.ConversationID || a.ConversationID == c.ConversationID {
		t.Error(a, b, c)
	}
	if status, body := x.send("GET", voicePath+"/signed-url?access_key="+widgetKey+"&id_widget="+shopID+"&identity="+
		token("another-secret-of-24-bytes", "u1"), "", ""); status != 401 {
		t.Error(status, body)
	}
}

func TestWhatAPageMayOverride(t *testing.T) {
	x := newVoiceSite(t, "")
	for id, want := range map[string]bool{voiceID: true, voice2ID: false} {
		ws, _, _ := x.open(x.address("id_widget="+id).URL, "")
		write(t, ws, begin)
		_, text, err := ws.Read(t.Context())
		if got := strings.Contains(string(text), "conversation_initiation_metadata"); err != nil || got != want {
			t.Errorf("%s: %s, %v", id, text, err)
		}
	}
}

// The greeting is the page's, none or the agent's. The first message shows which.
func TestAPageSaysTheFirstWordsOrNone(t *testing.T) {
	x := newVoiceSite(t, "")
	for override, want := range map[string]string{
		`,"agent":{"first_message":""}`:            "nine to five",
		`,"agent":{"first_message":" \n"}`:         "nine to five",
		`,"agent":{"first_message":"Hi {{x-y}}!"}`: "Hi 7!",
		`,"agent":{"first_message":null}`:          "Hello there.",
		"":                                         "Hello there.",
	} {
		ws, _, body := x.open(x.address("id_widget="+thirdID).URL, "")
		if ws == nil {
			t.Fatal(body)
		}
		write(t, ws, `{"type":"conversation_initiation_client_data","dynamic_variables":{"x-y":"7"},`+
			`"conversation_config_override":{"conversation":{"text_only":true}`+override+`}}`)
		read(t, ws, "conversation_initiation_metadata")
		write(t, ws, `{"type":"user_message","text":"When are you open?","client_id":"c1"}`)
		m := read(t, ws, "agent_response")["agent_response_event"].(map[string]any)
		if text, _ := m["agent_response"].(string); !strings.Contains(text, want) {
			t.Errorf("%s: %q comes first, not %q", override, text, want)
		}
	}
}

func TestATalkEndsWhenItsCompanyIsSuspendedOrItsKeyRevoked(t *testing.T) {
	for name, change := range map[string]string{
		"suspended": strings.Replace(setUp, "name: Acme", "name: Acme\n    status: suspended", 1),
		"revoked": strings.Replace(
			setUp, "    widgets:\n",
			"    keys: [{key: ck_test_widget, label: widget, scopes: [\"widget:use\"], revoked: true}]\n    widgets:\n", 1,
		),
	} {
		t.Run(name, func(t *testing.T) {
			x := newVoiceSite(t, "")
			x.CheckEvery = 20 * time.Millisecond
			x.serve()
			ws, _, body := x.open(x.address("id_widget="+voiceID).URL, "")
			if ws == nil {
				t.Fatal(body)
			}
			write(t, ws, begin)
			read(t, ws, "conversation_initiation_metadata")
			x.apply(change)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for {
				_, _, err := ws.Read(ctx)
				if err == nil {
					continue
				}
				if e := (websocket.CloseError{}); !errors.As(err, &e) || e.Code != websocket.StatusPolicyViolation ||
					!strings.Contains(e.Reason, name) {
					t.Error(err)
				}
				return
			}
		})
	}
}

func TestThePageOfAVoiceWidgetIsServedWithAStrictPolicy(t *testing.T) {
	x := newVoiceSite(t, "https://api.eu.example")
	x.Pages = web.In(fstest.MapFS{"voice/index.html": {Data: []byte("the page")}, "voice/voice-assets/a.js": {Data: []byte("1")}})
	router := httpio.NewRouter(x.Log, nil, Pages(x.Deps, func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, "the root")
		return err
	})...)
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	get := func(path string) (*http.Response, string) {
		t.Helper()
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(resp.Body)
		return resp, string(text)
	}
	socket := strings.Replace(x.url, "http", "ws", 1)
	const common = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; media-src " +
		"'self' blob:; connect-src 'self' "
	for id, policy := range map[string]string{
		voiceID: common + x.url + " " + socket + "; base-uri 'none'; form-action 'none'",
		shopID: common + x.url + " " + socket + "; base-uri 'none'; form-action 'none'; frame-ancestors " + x.url +
			" https://shop.example",
		remoteID: common + x.url + " " + socket + " https://api.eu.example wss://api.eu.example; base-uri 'none'; form-action 'none'",
	} {
		resp, body := get("/?vw_id=" + id)
		if got := resp.Header.Get("Content-Security-Policy"); resp.StatusCode != 200 || body != "the page" || got != policy ||
			resp.Header.Get("Permissions-Policy") != "microphone=(self)" {
			t.Errorf("%s: %s %q\n%s\n%s", id, resp.Status, body, got, policy)
		}
	}
	for _, id := range []string{widgetID, visitorID, "x", ""} {
		if resp, _ := get("/?vw_id=" + id); resp.StatusCode != 404 {
			t.Error(id, resp.Status)
		}
	}
	if resp, body := get("/voice-assets/a.js"); resp.StatusCode != 200 || body != "1" {
		t.Error(resp.Status, body)
	}
	if _, body := get("/"); body != "the root" {
		t.Error(body)
	}
}
