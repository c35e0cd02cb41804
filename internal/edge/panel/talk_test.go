package panel

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

// talksThere stands for the talks of a node, and for a speaker: what a teammate says comes back to them.
type talksThere struct {
	mu     sync.Mutex
	there  map[string]bool // conversations
	joined []voice.Teammate
	spoken []voice.Utterance
	trials []Trial
	opened string        // the conversation of a trial
	broken chan struct{} // closed when the visitors' connections break
}

func (x *talksThere) Talking(companyID, id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.there[companyID+"/"+id]
}

func (x *talksThere) TalkTo(_ context.Context, by Trial, agentID, language string) (address any, conversationID string, err error) {
	x.trials = append(x.trials, by)
	return map[string]any{"signed_url": "wss://panel.test/" + agentID + "/" + language}, x.opened, nil
}

func (x *talksThere) Join(ctx context.Context, t voice.Teammate) error {
	x.mu.Lock()
	x.joined = append(x.joined, t)
	there := x.there[t.CompanyID+"/"+t.ConversationID]
	x.mu.Unlock()
	if !there {
		return carillon.Absent("Talk")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-x.broken:
			cancel()
		case <-ctx.Done():
		}
	}()
	t.Show(voice.Event{Kind: voice.Transcribed, Text: "Good morning"})
	for {
		pcm, err := t.Line.Read(ctx)
		switch {
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if err := t.Line.Write(pcm); err != nil {
			return err
		}
	}
}

func (x *talksThere) Speak(_ context.Context, u voice.Utterance, emit func(pcm []int16) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.spoken = append(x.spoken, u); u.Text == "fails" {
		return errors.New("no voice")
	}
	for range 3 {
		if err := emit(make([]int16, 1000)); err != nil {
			return err
		}
	}
	return nil
}

// visit begins a conversation of a visitor, who is on the line if it is held aloud.
func (w *world) visit(companyID, channel string) string {
	w.t.Helper()
	c, _, err := w.chats.Open(w.t.Context(), conversation.Start{
		Channel: channel, AgentID: carillon.NewID(time.Now()), Contact: chats.Contact{CompanyID: companyID, WidgetID: "w", VisitorID: carillon.NewID(time.Now())},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.talks.mu.Lock()
	defer w.talks.mu.Unlock()
	if w.talks.there == nil {
		w.talks.there = map[string]bool{}
	}
	w.talks.there[companyID+"/"+c.ID] = channel == voiceChannel
	return c.ID
}

// dial opens the socket of a conversation; the status is that of the response, 101 where it is a socket.
func dial(t *testing.T, url, id string, header ...string) (*websocket.Conn, int, string) {
	t.Helper()
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	ws, resp, err := websocket.Dial(t.Context(), url+"/panel/v1/conversations/"+id+"/voice", &websocket.DialOptions{HTTPHeader: h, Subprotocols: []string{"convai"}})
	if resp == nil {
		t.Fatal(err)
	}
	if err != nil {
		body, _ := io.ReadAll(resp.Body)
		return nil, resp.StatusCode, string(body)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	return ws, resp.StatusCode, ""
}

// next reads messages until one of a type comes; an error ends with the connection's close.
func next(t *testing.T, ws *websocket.Conn, kind string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		_, text, err := ws.Read(ctx)
		if err != nil {
			if kind == "close" {
				return map[string]any{"code": websocket.CloseStatus(err)}
			}
			t.Fatalf("wait for %s: %v", kind, err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if m["type"] == kind {
			return m
		}
		if kind == "error" && m["type"] != "ping" {
			t.Fatalf("before the error came %s", text)
		}
	}
}

func say(t *testing.T, ws *websocket.Conn, text string) {
	t.Helper()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

const initiation = `{"type":"conversation_initiation_client_data"}`

func TestATeammateTakesAConversationAndTalks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	acme := w.company("acme")
	srv := httptest.NewServer(w.router)
	defer srv.Close()
	defer w.router.CloseStreams()
	mate := w.as("teammate@acme.test")
	id := w.visit(acme.ID, voiceChannel)
	ws, status, _ := dial(t, srv.URL, id, "Authorization", mate)
	if status != http.StatusSwitchingProtocols {
		t.Fatal(status)
	}
	say(t, ws, initiation)
	next(t, ws, "conversation_initiation_metadata")
	next(t, ws, "user_transcript")
	say(t, ws, `{"user_audio_chunk":"`+base64.StdEncoding.EncodeToString(make([]byte, 640))+`"}`)
	next(t, ws, "audio")
	if c := w.conversation(acme.ID, id); c.State != chats.Active || c.Assignee != w.id("teammate@acme.test") {
		t.Errorf("while they talk: %s of %q", c.State, c.Assignee)
	}
	if j := w.talks.joined[0]; j.AccountID != w.id("teammate@acme.test") || j.ConversationID != id || j.CompanyID != acme.ID {
		t.Errorf("joined as %+v", j)
	}
	say(t, ws, `{"type":"hang_up"}`)
	if got := next(t, ws, "close"); got["code"] != websocket.StatusNormalClosure {
		t.Errorf("closed with %v", got)
	}
	if c := w.conversation(acme.ID, id); c.State != chats.Active || c.Assignee == "" {
		t.Errorf("after they hung up: %s of %q", c.State, c.Assignee)
	}

	ws, _, _ = dial(t, srv.URL, id, "Authorization", mate)
	say(t, ws, initiation)
	next(t, ws, "conversation_initiation_metadata")
	say(t, ws, `{"type":"to_agent"}`)
	next(t, ws, "close")
	if c := w.conversation(acme.ID, id); c.State != chats.Automated || c.Assignee != "" {
		t.Errorf("given back to the agent: %s of %q", c.State, c.Assignee)
	}
}

func TestASocketOfTheInboxIsRefusedTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	acme, other := w.company("acme"), w.company("other")
	srv := httptest.NewServer(w.router)
	defer srv.Close()
	defer w.router.CloseStreams()
	mate, owner := w.as("teammate@acme.test"), w.as("owner@acme.test")
	own, taken, chat := w.visit(acme.ID, voiceChannel), w.visit(acme.ID, voiceChannel), w.visit(acme.ID, "web_chat")
	w.want("POST", "/panel/v1/conversations/"+taken+"/take", owner, `{"from":""}`, 200, "", "")
	browser := []string{"Cookie", member.SessionCookie + "=" + signedIn(w, "teammate@acme.test").cookie.Value}
	for name, c := range map[string]struct {
		id     string
		header []string
		status int
		text   string
	}{
		"another company's conversation": {w.visit(other.ID, voiceChannel), []string{"Authorization", mate}, 404, "Conversation"},
		"no id":                          {"nothing", []string{"Authorization", mate}, 404, "Conversation"},
		"nobody":                         {own, nil, 401, ""},
		"a viewer":                       {own, []string{"Authorization", w.as("viewer@acme.test")}, 403, ""},
		"a chat":                         {chat, []string{"Authorization", mate}, 409, "aloud"},
		"another teammate has it":        {taken, []string{"Authorization", mate}, 409, "owner@acme.test"},
		"another site":                   {own, append(browser, "Origin", "https://evil.test"), 403, "another site"},
		"another port":                   {own, append(browser, "Origin", "https://panel.test:8443"), 403, "another site"},
		"a sandbox":                      {own, append(browser, "Origin", "null"), 403, "another site"},
		"a browser that names no origin": {own, browser, 403, "another site"},
		"another site's token":           {own, []string{"Authorization", mate, "Origin", "https://evil.test"}, 403, "another site"},
	} {
		if _, status, text := dial(t, srv.URL, c.id, c.header...); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %s, want %d %s", name, status, text, c.status, c.text)
		}
	}
	if c := w.conversation(acme.ID, own); c.State != chats.Automated {
		t.Errorf("refused sockets left the conversation %s", c.State)
	}
	ws, status, text := dial(t, srv.URL, own, append(browser, "Origin", "https://panel.test")...)
	if status != http.StatusSwitchingProtocols {
		t.Fatalf("the panel's own page: %d %s", status, text)
	}
	say(t, ws, initiation)
	next(t, ws, "conversation_initiation_metadata")
}

func TestATalkEndsWithTheRoleThatAllowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.company("acme")
	x := talks{Gate: w.gate(), checkEvery: 10 * time.Millisecond}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Authorization", w.as("teammate@acme.test"))
	left := make(chan struct{})
	go x.watch(t.Context(), r, func() { close(left) })
	select {
	case <-left:
		t.Fatal("it ended although the role allows it")
	case <-time.After(100 * time.Millisecond):
	}
	w.want("PATCH", "/panel/v1/users/"+w.id("teammate@acme.test"), w.as("owner@acme.test"), `{"role":"viewer"}`, 204, "", "")
	select {
	case <-left:
	case <-time.After(2 * time.Minute):
		t.Error("a viewer still talks")
	}
}

func TestATeammateLearnsThatTheVisitorHasLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	acme := w.company("acme")
	srv := httptest.NewServer(w.router)
	defer srv.Close()
	id := w.visit(acme.ID, voiceChannel)
	w.talks.there = nil
	ws, _, _ := dial(t, srv.URL, id, "Authorization", w.as("teammate@acme.test"))
	say(t, ws, initiation)
	got := next(t, ws, "error")
	m, _ := got["error_event"].(map[string]any)
	if m["reason"] != "not_found" {
		t.Errorf("the error is %v", m)
	}
	if got = next(t, ws, "close"); got["code"] != websocket.StatusPolicyViolation {
		t.Errorf("closed with %v", got)
	}
}

func TestATeammateIsToComeBackWhereTheVisitorsConnectionBreaks(t *testing.T) {
	t.Parallel()
	for _, left := range []bool{false, true} {
		w := newWorld(t)
		acme := w.company("acme")
		srv := httptest.NewServer(w.router)
		defer srv.Close()
		id := w.visit(acme.ID, voiceChannel)
		w.talks.broken = make(chan struct{})
		ws, _, _ := dial(t, srv.URL, id, "Authorization", w.as("teammate@acme.test"))
		say(t, ws, initiation)
		next(t, ws, "user_transcript")
		if left {
			if _, err := w.chats.Leave(t.Context(), acme.ID, id); err != nil {
				t.Fatal(err)
			}
		}
		w.talks.mu.Lock()
		w.talks.there = nil
		w.talks.mu.Unlock()
		close(w.talks.broken)
		want := websocket.StatusPolicyViolation
		if left {
			want = websocket.StatusNormalClosure
		}
		if got := next(t, ws, "close"); got["code"] != want {
			t.Errorf("left %v: closed with %v, want %v", left, got, want)
		}
	}
}

func TestAnAgentIsHeardAsTheFormHasIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.company("acme")
	admin := w.as("admin@acme.test")
	made := w.want("POST", "/panel/v1/agents", admin, `{"name":"Reception","language":"es","engine":"builtin"}`, 201, "", "")
	path := "/panel/v1/agents/" + made["id"].(string) + "/speak"
	hear := func(body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", admin)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.router.ServeHTTP(rec, r)
		return rec
	}
	rec := hear(`{"text":" Hola\n"}`)
	pcm, rate, err := audio.ReadWAV(rec.Body, 1<<20)
	if rec.Code != http.StatusOK || rec.Header().Get("Content-Type") != "audio/wav" || err != nil || len(pcm) != 3000 || rate != 16000 {
		t.Errorf("%d %v: %d samples at %d, %v", rec.Code, rec.Header(), len(pcm), rate, err)
	}
	hear(`{"text":"Hello","language":"en","agent":{"name":"R","language":"es","engine":"builtin","voice":{"speaker":"espeak","transcriber":"none","speed":1.5,"silence_ms":600}}}`)
	w.talks.mu.Lock()
	said := w.talks.spoken
	w.talks.mu.Unlock()
	if len(said) != 2 || said[0].Text != "Hola" || said[0].Language != "es" || said[0].Voice.Speed != 1 || said[1].Language != "en" || said[1].Voice.Speed != 1.5 {
		t.Errorf("spoken: %+v", said)
	}
	w.want("POST", path, admin, `{}`, 400, "validation_failed", "text")
	w.want("POST", path, admin, `{"text":"`+strings.Repeat("a", 501)+`"}`, 400, "validation_failed", "text")
	w.want("POST", path, admin, `{"text":"fails"}`, 503, "service_unavailable", "")
	w.want("POST", path, admin, `{"text":"x","agent":{"name":"R","language":"es","engine":"builtin","voice":{"speaker":"openai","transcriber":"none","speaker_service":{"base_url":"https://speech.example/v1","model":"m"}}}}`, 503, "service_unavailable", "")
	w.want("POST", "/panel/v1/agents/"+agent.Kind().Name+"/speak", admin, `{"text":"x"}`, 404, "not_found", "")
}

func TestATeammateTriesAnAgentAloud(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	acme := w.company("acme")
	w.company("other")
	admin := w.as("admin@acme.test")
	w.talks.opened = w.visit(acme.ID, voiceChannel)
	made := w.want("POST", "/panel/v1/agents", admin, `{"name":"Reception","language":"es","engine":"builtin"}`, 201, "", "")["id"].(string)
	got := w.want("POST", "/panel/v1/agents/"+made+"/talk", admin, `{"language":"pt"}`, 200, "", "")
	if got["signed_url"] != "wss://panel.test/"+made+"/pt" || w.talks.trials[0].AccountID != w.id("admin@acme.test") || w.talks.trials[0].CompanyID != acme.ID {
		t.Errorf("%v for %+v", got, w.talks.trials)
	}
	if c := w.conversation(acme.ID, w.talks.opened); len(c.Tags) != 1 || c.Tags[0] != testTag {
		t.Errorf("tagged %v", c.Tags)
	}
	w.want("POST", "/panel/v1/agents/"+made+"/talk", admin, `{"language":"not a language"}`, 400, "validation_failed", "language")
	w.want("POST", "/panel/v1/agents/"+made+"/talk", w.as("owner@other.test"), `{}`, 404, "not_found", "")
	elsewhere := w.want("POST", "/panel/v1/agents", admin, `{"name":"Eleven","language":"es","engine":"elevenlabs","elevenlabs":{"agent_id":"a","api_key":"k"}}`, 201, "", "")["id"].(string)
	w.want("POST", "/panel/v1/agents/"+elsewhere+"/talk", admin, `{}`, 409, "conflict", "")
}

func (w *world) conversation(companyID, id string) *chats.Conversation {
	w.t.Helper()
	c, err := w.store.Chats().Find(w.t.Context(), companyID, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}
