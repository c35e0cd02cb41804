package inbox_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/edge/panel/inbox"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/chats"
)

// dial opens the socket of a conversation. The status is that of the response, 101 for an open socket.
func dial(t *testing.T, url, id string, header ...string) (*websocket.Conn, int, string) {
	t.Helper()
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	ws, resp, err := websocket.Dial(t.Context(), url+"/panel/v1/conversations/"+id+"/voice", &websocket.DialOptions{
		HTTPHeader: h, Subprotocols: []string{"convai"},
	})
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

// next reads messages until one of a type arrives. An error message ends with the close of the connection.
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
	w := paneltest.New(t)
	acme := w.Company("acme")
	srv := httptest.NewServer(w.Router)
	defer srv.Close()
	defer w.Router.CloseStreams()
	mate := w.As("teammate@acme.test")
	id := w.Visit(acme.ID, paneltest.HeldAloud)
	ws, status, _ := dial(t, srv.URL, id, "Authorization", mate)
	if status != http.StatusSwitchingProtocols {
		t.Fatal(status)
	}
	say(t, ws, initiation)
	next(t, ws, "conversation_initiation_metadata")
	next(t, ws, "user_transcript")
	say(t, ws, `{"user_audio_chunk":"`+base64.StdEncoding.EncodeToString(make([]byte, 640))+`"}`)
	next(t, ws, "audio")
	if c := w.Conversation(acme.ID, id); c.State != chats.Active || c.Assignee != w.ID("teammate@acme.test") {
		t.Errorf("while they talk: %s of %q", c.State, c.Assignee)
	}
	if j := w.Talks.Joined[0]; j.AccountID != w.ID("teammate@acme.test") || j.ConversationID != id || j.CompanyID != acme.ID {
		t.Errorf("joined as %+v", j)
	}
	say(t, ws, `{"type":"hang_up"}`)
	if got := next(t, ws, "close"); got["code"] != websocket.StatusNormalClosure {
		t.Errorf("closed with %v", got)
	}
	if c := w.Conversation(acme.ID, id); c.State != chats.Active || c.Assignee == "" {
		t.Errorf("after they hung up: %s of %q", c.State, c.Assignee)
	}

	ws, _, _ = dial(t, srv.URL, id, "Authorization", mate)
	say(t, ws, initiation)
	next(t, ws, "conversation_initiation_metadata")
	say(t, ws, `{"type":"to_agent"}`)
	next(t, ws, "close")
	if c := w.Conversation(acme.ID, id); c.State != chats.Automated || c.Assignee != "" {
		t.Errorf("given back to the agent: %s of %q", c.State, c.Assignee)
	}
}

func TestASocketOfTheInboxIsRefusedTo(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	acme, other := w.Company("acme"), w.Company("other")
	srv := httptest.NewServer(w.Router)
	defer srv.Close()
	defer w.Router.CloseStreams()
	mate, owner := w.As("teammate@acme.test"), w.As("owner@acme.test")
	own, taken, chat := w.Visit(acme.ID, paneltest.HeldAloud), w.Visit(acme.ID, paneltest.HeldAloud), w.Visit(acme.ID, "web_chat")
	w.Want("POST", "/panel/v1/conversations/"+taken+"/take", owner, `{"from":""}`, 200, "", "")
	browser := []string{"Cookie", member.SessionCookie + "=" + paneltest.SignedIn(w, "teammate@acme.test").Cookie.Value}
	for name, c := range map[string]struct {
		id     string
		header []string
		status int
		text   string
	}{
		"another company's conversation": {w.Visit(other.ID, paneltest.HeldAloud), []string{"Authorization", mate}, 404, "Conversation"},
		"no id":                          {"nothing", []string{"Authorization", mate}, 404, "Conversation"},
		"nobody":                         {own, nil, 401, ""},
		"a viewer":                       {own, []string{"Authorization", w.As("viewer@acme.test")}, 403, ""},
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
	if c := w.Conversation(acme.ID, own); c.State != chats.Automated {
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
	w := paneltest.New(t)
	w.Company("acme")
	x := inbox.Voice{Gate: w.Gate()}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Authorization", w.As("teammate@acme.test"))
	left := make(chan struct{})
	go x.Watch(t.Context(), r, 10*time.Millisecond, func() { close(left) })
	select {
	case <-left:
		t.Fatal("the conversation ended although the role allows it")
	case <-time.After(100 * time.Millisecond):
	}
	w.Want("PATCH", "/panel/v1/users/"+w.ID("teammate@acme.test"), w.As("owner@acme.test"), `{"role":"viewer"}`, 204, "", "")
	select {
	case <-left:
	case <-time.After(2 * time.Minute):
		t.Error("a viewer still talks")
	}
}

func TestATeammateLearnsThatTheVisitorHasLeft(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	acme := w.Company("acme")
	srv := httptest.NewServer(w.Router)
	defer srv.Close()
	id := w.Visit(acme.ID, paneltest.HeldAloud)
	w.Talks.There = nil
	ws, _, _ := dial(t, srv.URL, id, "Authorization", w.As("teammate@acme.test"))
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
		w := paneltest.New(t)
		acme := w.Company("acme")
		srv := httptest.NewServer(w.Router)
		defer srv.Close()
		id := w.Visit(acme.ID, paneltest.HeldAloud)
		w.Talks.Broken = make(chan struct{})
		ws, _, _ := dial(t, srv.URL, id, "Authorization", w.As("teammate@acme.test"))
		say(t, ws, initiation)
		next(t, ws, "user_transcript")
		if left {
			if _, err := w.Chats.Leave(t.Context(), acme.ID, id); err != nil {
				t.Fatal(err)
			}
		}
		w.Talks.Mu.Lock()
		w.Talks.There = nil
		w.Talks.Mu.Unlock()
		close(w.Talks.Broken)
		want := websocket.StatusPolicyViolation
		if left {
			want = websocket.StatusNormalClosure
		}
		if got := next(t, ws, "close"); got["code"] != want {
			t.Errorf("left %v: closed with %v, want %v", left, got, want)
		}
	}
}
