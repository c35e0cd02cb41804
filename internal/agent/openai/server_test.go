package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a fake server with OpenAI's API. It checks each request strictly, and responds with the next step of its
// script.
type server struct {
	t    *testing.T
	url  string
	stop chan struct{} // closed at the end of the test, to release stalled responses
	came chan struct{} // signals a request
	left chan struct{} // signals that a client left during a response

	mu       sync.Mutex
	script   []step
	requests []completion
	obey     func(c completion) step // replaces the script
}

// step is a response: lines of a stream, optionally followed by silence.
type step struct {
	status int
	kind   string // content type; empty means that of a stream
	lines  []string
	stall  bool          // after the lines
	wait   time.Duration // before each line
}

func newServer(t *testing.T, script ...step) *server {
	t.Helper()
	s := &server{t: t, script: script, stop: make(chan struct{}), came: make(chan struct{}, 100), left: make(chan struct{}, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("asked for %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	listening := httptest.NewServer(mux)
	s.url = listening.URL + "/v1"
	t.Cleanup(listening.Close)
	t.Cleanup(func() { close(s.stop) })
	return s
}

func (s *server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	next := s.next(s.check(r, body))
	kind := next.kind
	if kind == "" {
		kind = "text/event-stream; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	if next.status != 0 {
		w.WriteHeader(next.status)
	}
	for _, line := range next.lines {
		select {
		case <-time.After(next.wait):
		case <-r.Context().Done():
			s.left <- struct{}{}
			return
		}
		_, _ = io.WriteString(w, line+"\n")
		_ = http.NewResponseController(w).Flush()
	}
	if next.stall {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.stop:
		case <-r.Context().Done():
			s.left <- struct{}{}
		}
	}
}

// asked returns the number of requests.
func (s *server) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func (s *server) next(c completion) step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, c)
	s.came <- struct{}{}
	if s.obey != nil {
		return s.obey(c)
	}
	if len(s.script) == 0 {
		s.t.Error("one request more than expected")
		return step{status: 500}
	}
	next := s.script[0]
	s.script = s.script[1:]
	return next
}

// check checks a request against the API.
func (s *server) check(r *http.Request, body []byte) (c completion) {
	s.t.Helper()
	if got := r.Header.Get("Authorization"); got != "Bearer sk-test" {
		s.t.Errorf("Authorization is %q", got)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		s.t.Errorf("Content-Type is %q", got)
	}
	strict := json.NewDecoder(strings.NewReader(string(body)))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&c); err != nil {
		s.t.Errorf("%v: %s", err, body)
	}
	var raw struct {
		Messages []map[string]json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(body, &raw)
	if c.Model != "test-model" || !c.Stream || len(c.Messages) < 2 || c.Messages[0].Role != "system" {
		s.t.Errorf("the request is %s", body)
	}
	var open []string // calls without a result
	for i, m := range c.Messages {
		if _, ok := raw.Messages[i]["content"]; !ok {
			s.t.Errorf("message %d has no content: %s", i, body)
		}
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				s.t.Errorf("the result of no call: %+v", m)
				continue
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 || !slices.Contains([]string{"system", "user", "assistant"}, m.Role) || m.Role == "system" && i > 0 {
			s.t.Errorf("message %d: %+v; calls without a result: %v", i, m, open)
		}
		for _, call := range m.ToolCalls {
			if call.Type != "function" || call.ID == "" || call.Function.Name == "" || m.Role != "assistant" {
				s.t.Errorf("a call %+v", call)
			}
			open = append(open, call.ID)
		}
	}
	for _, tool := range c.Tools {
		var schema map[string]any
		if err := json.Unmarshal(tool.Function.Parameters, &schema); err != nil || schema["type"] != "object" || tool.Type != "function" {
			s.t.Errorf("a tool %+v: %v", tool, err)
		}
	}
	return c
}

// text returns the stream of a text in pieces.
func text(pieces ...string) step {
	lines := []string{": keep-alive", ""}
	for _, p := range pieces {
		content, _ := json.Marshal(p)
		lines = append(lines, fmt.Sprintf(`data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,`+
			`"delta":{"role":"assistant","content":%s},"finish_reason":null}]}`, content), "")
	}
	return step{lines: append(lines,
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "", `data: {"choices":[],"usage":{"total_tokens":7}}`,
		"", "data: [DONE]", "")}
}

// uses returns the stream of tool calls, given as name and arguments, in small pieces.
func uses(calls ...[2]string) step {
	var lines []string
	for i, c := range calls {
		lines = append(lines, fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":%d,`+
			`"id":"call_%d","type":"function","function":{"name":%q,"arguments":""}}]}}]}`, i, i, c[0]))
		for len(c[1]) > 0 {
			n := min(7, len(c[1]))
			part, _ := json.Marshal(c[1][:n])
			lines = append(lines, fmt.Sprintf(
				`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}}]}`, i, part))
			c[1] = c[1][n:]
		}
	}
	return step{lines: append(lines, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "data: [DONE]")}
}
