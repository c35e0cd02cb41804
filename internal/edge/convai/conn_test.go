package convai_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/edge/convai"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

// hung is the time after which a test fails instead of waiting longer.
const hung = 2 * time.Minute

// talk is a server with one route, which runs the test's conversation.
type talk struct {
	t      *testing.T
	router *httpio.Router
	server *httptest.Server
	o      convai.Options
	run    func(ctx context.Context, c *convai.Conn, i *convai.Initiation) error
	client convai.Client
	by     string // who recognizes speech
	served chan error
}

func serve(t *testing.T, run func(ctx context.Context, c *convai.Conn, i *convai.Initiation) error) *talk {
	t.Helper()
	x := &talk{t: t, run: run, served: make(chan error, 10)}
	x.router = httpio.NewRouter(slog.New(slog.DiscardHandler), nil, httpio.Route{Pattern: "GET /socket", Stream: true, Handle: x.handle})
	x.server = httptest.NewServer(x.router)
	t.Cleanup(func() { x.router.CloseStreams(); x.server.Close() })
	return x
}

func (x *talk) handle(w http.ResponseWriter, r *http.Request) error {
	c, err := convai.Accept(w, r, x.o)
	if err != nil {
		return err
	}
	defer c.Close()
	i, err := c.Initiation(r.Context())
	if err != nil {
		x.served <- err
		return nil
	}
	c.Begin("conversation-1", x.by)
	err = c.Serve(r.Context(), func(ctx context.Context) error { return x.run(ctx, c, i) }, x.client)
	x.served <- err
	return err
}

// person is a client of the socket.
type person struct {
	t  *testing.T
	ws *websocket.Conn
}

func (x *talk) dial() *person {
	x.t.Helper()
	address := "ws" + strings.TrimPrefix(x.server.URL, "http") + "/socket"
	ws, resp, err := websocket.Dial(x.t.Context(), address, &websocket.DialOptions{Subprotocols: []string{"convai"}})
	if err != nil {
		x.t.Fatal(err)
	}
	if resp.Header.Get("Sec-WebSocket-Protocol") != "convai" || resp.Header.Get("Sec-WebSocket-Extensions") != "" {
		x.t.Error("upgraded with", resp.Header)
	}
	x.t.Cleanup(func() { _ = ws.CloseNow() })
	return &person{x.t, ws}
}

// begin opens a socket and begins the conversation.
func (x *talk) begin() *person {
	x.t.Helper()
	p := x.dial()
	p.say(`{"type":"conversation_initiation_client_data"}`)
	if m := p.next(); m["type"] != "conversation_initiation_metadata" {
		x.t.Fatal("the first message is ", m)
	}
	return p
}

func (p *person) say(text string) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next message other than a ping, and answers pings.
func (p *person) next() map[string]any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), hung)
	defer cancel()
	for {
		_, text, err := p.ws.Read(ctx)
		if err != nil {
			p.t.Fatal("wait for a message: ", err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			p.t.Fatal(err, string(text))
		}
		if m["type"] != "ping" {
			return m
		}
		id, _ := json.Marshal(m["ping_event"].(map[string]any)["event_id"])
		p.say(`{"type":"pong","event_id":` + string(id) + `}`)
	}
}

// closed reads until the server closes the connection, and returns the close code and reason.
func (p *person) closed() (code websocket.StatusCode, reason string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), hung)
	defer cancel()
	for {
		_, _, err := p.ws.Read(ctx)
		if e := (websocket.CloseError{}); errors.As(err, &e) {
			return e.Code, e.Reason
		} else if err != nil {
			p.t.Fatal("wait for the end: ", err)
		}
	}
}

func (x *talk) ended() error {
	x.t.Helper()
	select {
	case err := <-x.served:
		return err
	case <-time.After(hung):
		x.t.Fatal("the server goes on")
		return nil
	}
}

func TestEventsBecomeTheMessagesOfTheProtocol(t *testing.T) {
	x := serve(t, func(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
		for _, e := range []voice.Event{
			{Kind: voice.Responding, ID: 1},
			{Kind: voice.Piece, ID: 1, Text: "We open "},
			{
				Kind: voice.Responded, ID: 1, Seq: 2, Text: "We open at 9.",
				Sources: []chats.Source{{Title: "Hours", URL: "https://x.test/h"}}, Choices: []string{"Yes", "No"},
			},
			{Kind: voice.Piece, ID: 1, Text: "too late"},
			{Kind: voice.Transcribed, ID: 2, Seq: 3, Text: "When?"},
			{Kind: voice.Responding, ID: 2},
			{Kind: voice.Interrupted, ID: 2},
			{Kind: voice.Corrected, ID: 2, Text: "We", Original: "We open"},
			{Kind: voice.Score, Value: 0.5},
			{Kind: voice.Moved, State: chats.Queued, Position: 3},
			{Kind: voice.Connected, Name: "Ana"},
			{Kind: voice.Said, Seq: 4, Author: chats.Teammate, Name: "Ana", Text: "Hi"},
			{Kind: voice.Gone},
			{Kind: voice.ToolCall, ID: 3, Tool: &voice.Tool{ID: "t1", Name: "show", Parameters: `{"a":1}`}},
			{Kind: voice.ToolUsed, ID: 3, Tool: &voice.Tool{ID: "t2", Name: "search"}},
			{Kind: voice.Failure, Text: "Sorry.", Code: "speech_failed"},
			{Kind: voice.Ended, Code: "agent"},
		} {
			c.Show(e)
		}
		return nil
	})
	p := x.begin()
	for _, want := range []string{
		`{"type":"agent_chat_response_part","text_response_part":{"text":"","type":"start","event_id":1}}`,
		`{"type":"agent_chat_response_part","text_response_part":{"text":"We open ","type":"delta","event_id":1}}`,
		`{"type":"agent_chat_response_part","text_response_part":{"text":"","type":"stop","event_id":1}}`,
		`{"type":"agent_response","agent_response_event":{"agent_response":"We open at 9.","event_id":1,"seq":2}}`,
		`{"type":"rich_content","rich_content":{"rich_content_id":"sources-1","component":"sources","event_id":1,` +
			`"props":{"sources":[{"title":"Hours","url":"https://x.test/h"}]}}}`,
		`{"type":"rich_content","rich_content":{"rich_content_id":"choices-1","component":"choices","event_id":1,` +
			`"props":{"choices":["Yes","No"]}}}`,
		`{"type":"user_transcript","user_transcription_event":{"user_transcript":"When?","event_id":2,"seq":3}}`,
		`{"type":"agent_chat_response_part","text_response_part":{"text":"","type":"start","event_id":2}}`,
		`{"type":"agent_chat_response_part","text_response_part":{"text":"","type":"stop","event_id":2}}`,
		`{"type":"interruption","interruption_event":{"event_id":2}}`,
		`{"type":"agent_response_correction","agent_response_correction_event":{"original_agent_response":"We open",` +
			`"corrected_agent_response":"We","event_id":2}}`,
		`{"type":"vad_score","vad_score_event":{"vad_score":0.5}}`,
		`{"type":"conversation_state","conversation_state_event":{"state":"queued","position":3}}`,
		`{"type":"external_agent_connected","external_agent_connected_event":{"name":"Ana"}}`,
		`{"type":"turn","turn_event":{"seq":4,"author":"teammate","name":"Ana","text":"Hi"}}`,
		`{"type":"external_agent_disconnected","external_agent_disconnected_event":{"name":""}}`,
		`{"type":"client_tool_call","client_tool_call":{"tool_name":"show","tool_call_id":"t1","event_id":3,"parameters":{"a":1}}}`,
		`{"type":"agent_tool_response","agent_tool_response":{"tool_name":"search","tool_call_id":"t2","event_id":3,` +
			`"tool_type":"system","is_error":false,"is_called":true}}`,
		`{"type":"error","error_event":{"code":1011,"error_type":"unknown","message":"Sorry.","reason":"speech_failed"}}`,
	} {
		var m map[string]any
		if err := json.Unmarshal([]byte(want), &m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, p.next()); diff != "" {
			t.Error(diff)
		}
	}
	if code, reason := p.closed(); code != websocket.StatusNormalClosure || reason != "agent" {
		t.Error("closed with", code, reason)
	}
}

func TestWhatTheClientSendsIsPassedOn(t *testing.T) {
	var mu sync.Mutex
	var got []string
	add := func(parts ...string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, strings.Join(parts, " "))
	}
	done := make(chan struct{})
	x := serve(t, func(ctx context.Context, c *convai.Conn, i *convai.Initiation) error {
		c.Show(voice.Event{Kind: voice.Responded, ID: 7, Seq: 12, Text: "Hello"})
		select {
		case <-done:
		case <-ctx.Done():
		}
		return nil
	})
	x.client = convai.Client{
		Type: func(id, text string) { add("type", id, text) }, Remark: func(text string) { add("remark", text) },
		Active: func() { add("active") },
		ToolResult: func(id, result string, failed bool) {
			add("result", id, result, map[bool]string{true: "failed"}[failed])
		},
		Score:   func(turn int64, score string) { add("score", map[bool]string{true: "12"}[turn == 12], score) },
		ToAgent: func() { add("to agent") }, End: func() { add("end"); close(done) },
	}
	p := x.begin()
	if m := p.next(); m["type"] != "agent_response" { // its scores count from now on
		t.Fatal("the second message is ", m)
	}
	for _, text := range []string{
		`{"type":"user_message","text":" when? ","client_id":"c1"}`, `{"type":"user_message","text":"  "}`,
		`{"type":"what is new","x":[1]}`,
		`{"type":"multimodal_message","text":{"type":"user_message","text":"there?"},"files":[{"type":"file_input","file_id":"x"}]}`,
		`{"type":"contextual_update","text":"on page 2","context_id":"x"}`, `{"type":"user_activity"}`,
		`{"type":"client_tool_result","tool_call_id":"t1","result":"done","is_error":false}`,
		`{"type":"client_tool_result","tool_call_id":"t2","result":{"a":1},"is_error":true}`,
		`{"type":"feedback","score":"like","event_id":7}`, `{"type":"feedback","score":null,"event_id":7}`,
		`{"type":"feedback","score":"like","event_id":8}`,
		`{"type":"mcp_tool_approval_result","tool_call_id":"x","is_approved":true}`, `{"type":"to_agent"}`, `{"type":"hang_up"}`,
	} {
		p.say(text)
	}
	if code, _ := p.closed(); code != websocket.StatusNormalClosure {
		t.Error("closed with", code)
	}
	if diff := cmp.Diff([]string{
		"type c1 when?", "type  there?", "remark on page 2", "active", "result t1 done ", `result t2 {"a":1} failed`,
		"score 12 like", "score 12 ", "to agent", "end",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSoundGoesBothWays(t *testing.T) {
	x := serve(t, func(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
		line := c.Line()
		if line.Rate() != 16000 || line.Lead() != 300*time.Millisecond || line.Digits() != nil {
			t.Error("the line is", line.Rate(), line.Lead())
		}
		c.Show(voice.Event{Kind: voice.Interrupted, ID: 3})
		c.Show(voice.Event{Kind: voice.Sounding, ID: 5})
		for {
			pcm, err := line.Read(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := line.Write(pcm); err != nil {
				return err
			}
		}
	})
	p := x.begin()
	p.next() // the interruption
	sound := make([]byte, 8192)
	for i := range sound {
		sound[i] = byte(i * 7)
	}
	p.say(`{"user_audio_chunk":"` + base64.StdEncoding.EncodeToString(sound) + `"}`)
	var back []byte
	for len(back) < len(sound) {
		m := p.next()
		e, _ := m["audio_event"].(map[string]any)
		if m["type"] != "audio" || e["event_id"] != 5.0 {
			t.Fatal(m)
		}
		b, err := base64.StdEncoding.DecodeString(e["audio_base_64"].(string))
		if err != nil || len(b) > 3200 {
			t.Fatal(len(b), err)
		}
		back = append(back, b...)
	}
	if string(back) != string(sound) {
		t.Error("other sound came back")
	}
	_ = p.ws.Close(websocket.StatusNormalClosure, "User ended conversation")
	if err := x.ended(); err != nil {
		t.Error(err)
	}
}

// quiet runs until its context or the line ends.
func quiet(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
	for {
		if _, err := c.Line().Read(ctx); err != nil {
			return nil //nolint:nilerr // the line has ended
		}
	}
}

func TestAClientThatHangsUpEndsAndOneThatIsLostLeaves(t *testing.T) {
	for _, c := range []struct {
		name string
		go_  func(p *person)
		ends bool
	}{
		{"closes in order", func(p *person) { _ = p.ws.Close(websocket.StatusNormalClosure, "") }, true},
		{"closes without a status", func(p *person) { _ = p.ws.Close(websocket.StatusNoStatusRcvd, "") }, true},
		{"goes away", func(p *person) { _ = p.ws.Close(websocket.StatusGoingAway, "") }, false},
		{"is cut off", func(p *person) { _ = p.ws.CloseNow() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := make(chan struct{}, 1)
			x := serve(t, quiet)
			x.client.End = func() { ends <- struct{}{} }
			c.go_(x.begin())
			if err := x.ended(); err != nil {
				t.Error(err)
			}
			if ended := len(ends) == 1; ended != c.ends {
				t.Errorf("ended: %v", ended)
			}
		})
	}
}

// A normal close is recognized even while sound is being written to the client, which then fails.
func TestAClientHangsUpWhileItIsSpokenTo(t *testing.T) {
	for range 50 {
		x := serve(t, func(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
			for ctx.Err() == nil && c.Line().Write(make([]int16, 320)) == nil {
				time.Sleep(time.Millisecond / 4)
			}
			return nil
		})
		var ends atomic.Int32
		x.client.End = func() { ends.Add(1) }
		p := x.begin()
		p.next()
		_ = p.ws.Close(websocket.StatusNormalClosure, "")
		if err := x.ended(); err != nil || ends.Load() != 1 {
			t.Fatalf("hung up %d times, %v", ends.Load(), err)
		}
	}
}

func TestAStopOfTheServerAsksToComeAgain(t *testing.T) {
	x := serve(t, quiet)
	p := x.begin()
	x.router.CloseStreams()
	if code, _ := p.closed(); code != websocket.StatusServiceRestart {
		t.Error("closed with", code)
	}
	if err := x.ended(); err != nil {
		t.Error(err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct{ name, say, kind string }{
		{"no JSON", `hello`, "invalid_message"},
		{"another type", `{"type":"conversation_initiation_client_data","user_id":7}`, "invalid_message"},
		{
			"an override that is not allowed",
			`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"first_message":"Hi"}}}`,
			"override_error",
		},
		{
			"a prompt", `{"type":"conversation_initiation_client_data",` +
				`"conversation_config_override":{"agent":{"prompt":{"prompt":"Be rude"}}}}`, "override_error",
		},
		{
			"no language",
			`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"language":"?"}}}`, "value_error",
		},
		{
			"too much", `{"type":"conversation_initiation_client_data","dynamic_variables":{"a":"` + strings.Repeat("x", 501) +
				`"}}`, "value_error",
		},
		{"a list", `{"type":"conversation_initiation_client_data","dynamic_variables":{"a":[1]}}`, "value_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := serve(t, quiet)
			x.o.Allowed = []string{convai.OverrideLanguage}
			p := x.dial()
			p.say(c.say)
			m := p.next()
			if e, _ := m["error_event"].(map[string]any); m["type"] != "error" || e["error_type"] != c.kind || e["code"] != 1008.0 {
				t.Error(m)
			}
			if code, _ := p.closed(); code != websocket.StatusPolicyViolation {
				t.Error("closed with", code)
			}
		})
	}
	t.Run("an error of the talk", func(t *testing.T) {
		x := serve(t, func(context.Context, *convai.Conn, *convai.Initiation) error {
			return &carillon.Error{Code: carillon.ServiceUnavailable, Message: "Too many talks"}
		})
		p := x.begin()
		if e, _ := p.next()["error_event"].(map[string]any); e["code"] != 1011.0 || e["message"] != "Too many talks" ||
			e["reason"] != "service_unavailable" {
			t.Error(e)
		}
		if code, _ := p.closed(); code != websocket.StatusInternalError {
			t.Error("closed with", code)
		}
	})
	t.Run("a panic of the talk", func(t *testing.T) {
		x := serve(t, func(context.Context, *convai.Conn, *convai.Initiation) error { panic("secret") })
		p := x.begin()
		if e, _ := p.next()["error_event"].(map[string]any); strings.Contains(e["message"].(string), "secret") ||
			e["reason"] != "internal_error" {
			t.Error(e)
		}
	})
	t.Run("too many messages", func(t *testing.T) {
		x := serve(t, quiet)
		p := x.begin()
		for range 70 {
			_ = p.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"user_message","text":"a"}`))
		}
		if code, _ := p.closed(); code != websocket.StatusPolicyViolation {
			t.Error("closed with", code)
		}
	})
	t.Run("a message too big", func(t *testing.T) {
		for name, big := range map[string]string{
			"sound":         `{"user_audio_chunk":"` + strings.Repeat("A", 1<<20) + `"}`,
			"text":          `{"type":"user_message","text":"` + strings.Repeat("a", 70_000) + `"}`,
			"the result":    `{"type":"client_tool_result","tool_call_id":"1","result":"` + strings.Repeat("a", 70_000) + `"}`,
			"no JSON":       strings.Repeat("a", 70_000),
			"sound of null": `{"user_audio_chunk":null,"text":"` + strings.Repeat("a", 70_000) + `"}`,
		} {
			x := serve(t, quiet)
			p := x.begin()
			_ = p.ws.Write(t.Context(), websocket.MessageText, []byte(big))
			if code, _ := p.closed(); code != websocket.StatusMessageTooBig {
				t.Errorf("%s: closed with %d", name, code)
			}
		}
		x := serve(t, quiet)
		p := x.dial()
		p.say(`{"type":"conversation_initiation_client_data","user_id":"` + strings.Repeat("a", 70_000) + `"}`)
		if code, _ := p.closed(); code != websocket.StatusMessageTooBig {
			t.Error("the initiation: closed with", code)
		}
	})
	t.Run("half a handshake", func(t *testing.T) {
		x := serve(t, quiet)
		for _, h := range []map[string]string{
			{"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAA"},
			{"Sec-WebSocket-Version": "13"},
			{"Sec-WebSocket-Version": "8", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.server.URL+"/socket", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Connection", "keep-alive, Upgrade")
			r.Header.Set("Upgrade", "websocket")
			for name, value := range h {
				r.Header.Set(name, value)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), `"field":"Sec-WebSocket-`) {
				t.Error(h, resp.Status, string(text))
			}
		}
	})
	t.Run("no socket", func(t *testing.T) {
		x := serve(t, quiet)
		resp, err := http.Get(x.server.URL + "/socket")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusBadRequest {
			t.Error(resp.Status)
		}
	})
}

func TestTheInitiationSaysWhatIsWanted(t *testing.T) {
	got := make(chan *convai.Initiation, 1)
	x := serve(t, func(_ context.Context, _ *convai.Conn, i *convai.Initiation) error { got <- i; return nil })
	x.o.Allowed = []string{convai.OverrideLanguage, convai.OverrideFirstMessage, convai.OverrideVoice, convai.OverrideTextOnly}
	p := x.dial()
	p.say(`{"user_audio_chunk":"AAAA"}`)
	p.say(`{"type":"conversation_initiation_client_data","conversation_config_override":{` +
		`"agent":{"language":"pt-br","first_message":"Hi"},` +
		`"tts":{"voice_id":"v","speed":1.5,"stability":1},"conversation":{"text_only":true,"client_events":["audio"]}},` +
		`"custom_llm_extra_body":{"x":1},"dynamic_variables":{"name":"Ana","n":3,"vip":true,"none":null},"user_id":"u1",` +
		`"source_info":{"source":"js_sdk","version":"1.25.0"}}`)
	select {
	case i := <-got:
		if diff := cmp.Diff(&convai.Initiation{
			Language: "pt-BR", FirstMessage: "Hi", Voice: "v", Speed: 1.5, TextOnly: true,
			Variables: map[string]string{"name": "Ana", "n": "3", "vip": "true"},
			UserID:    "u1", Source: "js_sdk 1.25.0",
		}, i); diff != "" {
			t.Error(diff)
		}
	case <-time.After(hung):
		t.Fatal("nothing began")
	}
}

// A variable whose name no text can use must not end the conversation.
func TestAVariableMayHaveAnyName(t *testing.T) {
	got := make(chan *convai.Initiation, 1)
	x := serve(t, func(_ context.Context, _ *convai.Conn, i *convai.Initiation) error { got <- i; return nil })
	p := x.dial()
	p.say(`{"type":"conversation_initiation_client_data","dynamic_variables":{"first-name":"Ana","utm-source":1,"a.b-c":true,` +
		`"2fa":"x","with space":"x","":"x","niño":"x","a}}b":"x","` + strings.Repeat("n", 65) + `":"x"}}`)
	select {
	case i := <-got:
		if diff := cmp.Diff(map[string]string{"first-name": "Ana", "utm-source": "1", "a.b-c": "true"}, i.Variables); diff != "" {
			t.Error(diff)
		}
	case <-time.After(hung):
		t.Fatal("nothing began")
	}
}

func TestAnEmptyFirstMessageIsNoGreeting(t *testing.T) {
	for _, c := range []struct {
		given   string
		allowed bool
		want    convai.Initiation
	}{
		{`{"first_message":""}`, true, convai.Initiation{NoGreeting: true}},
		{`{"first_message":" \n"}`, true, convai.Initiation{FirstMessage: " \n", NoGreeting: true}},
		{`{"first_message":"Hi"}`, true, convai.Initiation{FirstMessage: "Hi"}},
		{`{"first_message":null}`, true, convai.Initiation{}},
		{`{}`, true, convai.Initiation{}},
		{`{"first_message":""}`, false, convai.Initiation{}},
	} {
		got := make(chan *convai.Initiation, 1)
		x := serve(t, func(_ context.Context, _ *convai.Conn, i *convai.Initiation) error { got <- i; return nil })
		if c.allowed {
			x.o.Allowed = []string{convai.OverrideFirstMessage}
		}
		p := x.dial()
		p.say(`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":` + c.given + `}}`)
		select {
		case i := <-got:
			if i.NoGreeting != c.want.NoGreeting || i.FirstMessage != c.want.FirstMessage {
				t.Errorf("%s, allowed %t: %+v", c.given, c.allowed, i)
			}
		case <-time.After(hung):
			t.Fatal("nothing began")
		}
	}
}

// A client may buffer sound and send it in one piece.
func TestOnePieceOfSoundIsTakenWhole(t *testing.T) {
	for _, seconds := range []int{1, 3, 9} {
		heard := make(chan int, 1)
		left := make(chan struct{})
		x := serve(t, func(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
			<-left // start reading only after everything has arrived
			all := 0
			for {
				pcm, err := c.Line().Read(ctx)
				if err != nil {
					heard <- all
					return nil //nolint:nilerr // the end of the line
				}
				all += len(pcm)
			}
		})
		x.client.End = sync.OnceFunc(func() { close(left) })
		p := x.begin()
		p.say(`{"user_audio_chunk":"` + base64.StdEncoding.EncodeToString(make([]byte, seconds*2*convai.Rate)) + `"}`)
		_ = p.ws.Close(websocket.StatusNormalClosure, "")
		select {
		case n := <-heard:
			if n != seconds*convai.Rate {
				t.Errorf("%d seconds: %d samples were heard", seconds, n)
			}
		case <-time.After(hung):
			t.Fatal("nothing was heard")
		}
	}
}

func TestALongConversationEnds(t *testing.T) {
	done := make(chan struct{})
	x := serve(t, func(context.Context, *convai.Conn, *convai.Initiation) error { <-done; return nil })
	x.o.Longest = 300 * time.Millisecond
	x.client.End = sync.OnceFunc(func() { close(done) })
	p := x.begin()
	if e, _ := p.next()["error_event"].(map[string]any); e["error_type"] != "max_duration_exceeded" {
		t.Error(e)
	}
	if code, _ := p.closed(); code != websocket.StatusNormalClosure {
		t.Error("closed with", code)
	}
}

// Sound faster than speech cannot be speech, but costs as much to process.
func TestSoundDoesNotComeFasterThanItCanBeSaid(t *testing.T) {
	x := serve(t, func(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
		for {
			if _, err := c.Line().Read(ctx); err != nil {
				return err
			}
		}
	})
	p := x.begin()
	second := `{"user_audio_chunk":"` + base64.StdEncoding.EncodeToString(make([]byte, 2*convai.Rate)) + `"}`
	for range 9 {
		p.say(second)
	}
	p.say(`{"type":"user_message","text":{}}`)
	if code, reason := p.closed(); code != websocket.StatusPolicyViolation || reason != "The text of the message is no string" {
		t.Error("nine seconds at once:", code, reason)
	}
	p = x.begin()
	for range 30 {
		_ = p.ws.Write(t.Context(), websocket.MessageText, []byte(second)) // the server may close the connection in between
	}
	if code, reason := p.closed(); code != websocket.StatusPolicyViolation || reason != "Too much sound" {
		t.Error("thirty seconds at once:", code, reason)
	}
}
