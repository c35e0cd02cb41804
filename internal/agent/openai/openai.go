// Package openai is the thinker for agents whose engine is a server with OpenAI's API: OpenAI itself, or one of the
// many compatible servers (vLLM, llama.cpp, Ollama, LocalAI). It streams POST {base_url}/chat/completions, and uses
// only the part of the API that all of them support.
//
// The server gets the agent's persona, the articles that match the contact's message, and the conversation so far. It
// may search for more and hand off to a teammate, in at most five rounds. If it fails before it has said anything, the
// built-in thinker responds.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
)

// Engine is the engine that this thinker implements.
const Engine = "openai"

// Client sends requests to addresses that companies enter. *egress.Client implements it.
type Client interface {
	Do(r *http.Request) (*http.Response, error)
}

// Options configure a Thinker. Client, Builtin and Log are required. The durations have defaults.
type Options struct {
	Client  Client
	Builtin agent.Thinker // responds for agents with other engines, and if the server fails
	Search  *knowledge.Search
	Log     *slog.Logger
	// Allow returns an error if no further response may be requested from the server. Then the built-in engine
	// responds, and the playground shows the error. nil allows all.
	Allow func(ctx context.Context, r *agent.Request) error

	Silence time.Duration // maximum silence of the server, at any time; default 10 s
	Whole   time.Duration // maximum duration of a response including all tool rounds; default 40 s
}

const (
	// maxRounds bounds the rounds of tool calls before the server must respond.
	maxRounds = 5
	// maxAnswer bounds the text of a response, in bytes.
	maxAnswer = 8000
	// maxArticles bounds the articles sent to the server.
	maxArticles = 4
	maxSources  = 3
)

// Thinker implements agent.Thinker.
type Thinker struct {
	o     Options
	ahead ahead
}

// New returns a Thinker.
func New(o Options) *Thinker {
	if o.Silence == 0 {
		o.Silence = 10 * time.Second
	}
	if o.Whole == 0 {
		o.Whole = 40 * time.Second
	}
	return &Thinker{o: o}
}

// allow checks that the company may ask the engine once more.
func (t *Thinker) allow(ctx context.Context, r *agent.Request) error {
	if t.o.Allow == nil {
		return nil
	}
	err := t.o.Allow(ctx, r)
	if err != nil && !carillon.IsCode(err, carillon.RateLimitExceeded) && ctx.Err() == nil {
		t.o.Log.WarnContext(ctx, "count the responses of an engine", "company", r.CompanyID, "agent", r.Agent.ID, "error", err)
	}
	return err
}

// Reply implements agent.Thinker.
func (t *Thinker) Reply(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error {
	if r.Agent.Engine != Engine || r.Agent.OpenAI == nil {
		return t.o.Builtin.Reply(ctx, r, emit)
	}
	e := &exchange{Thinker: t, request: r, emit: emit, begun: t.ahead.take(r)}
	defer func() { e.begun.end() }() // unless it was used
	if e.begun == nil {
		if err := t.allow(ctx, r); err != nil {
			if err := emit(agent.Action{Failure: "The engine was not asked: " + err.Error()}); err != nil {
				return err
			}
			return t.o.Builtin.Reply(ctx, r, emit)
		}
	}
	limited, cancel := context.WithTimeout(ctx, t.o.Whole)
	defer cancel()
	err := e.run(limited)
	switch {
	case err == nil:
		return nil
	case e.emitErr != nil:
		return e.emitErr
	case ctx.Err() != nil:
		return ctx.Err()
	}
	t.o.Log.WarnContext(ctx, "ask the engine of an agent", "company", r.CompanyID, "agent", r.Agent.ID, "said", e.said, "error", err)
	failure := agent.Action{Failure: "The engine failed: " + err.Error()}
	if e.said > 0 { // the text that was already emitted cannot be withdrawn
		failure.Say = "…"
		return emit(failure)
	}
	if e.result != "" {
		failure.Say = e.result
		return emit(failure)
	}
	if err := emit(failure); err != nil {
		return err
	}
	return t.o.Builtin.Reply(ctx, r, emit)
}

// exchange produces one response.
type exchange struct {
	*Thinker
	request  *agent.Request
	begun    *begun // the response that was requested ahead; nil once it is used
	emit     func(agent.Action) error
	messages []message
	found    []knowledge.Hit // articles sent to the server
	said     int             // bytes
	maxSaid  int             // bounds said; 0 means maxAnswer
	format   *format         // of the response; nil means a text
	handoff  bool
	emitErr  error // error of emit
	servers  []agent.ServerTool
	calls    int    // of tools at servers
	waits    bool   // for the person's confirmation of a call
	result   string // of a confirmed call, said if the server then fails
}

var (
	errSilent  = errors.New("the server was silent for too long")
	errTools   = errors.New("the server used tools too often")
	errNothing = errors.New("the server said nothing")
	errTooLong = errors.New("the server said too much")
)

// run queries the server until it uses no more tools.
func (e *exchange) run(ctx context.Context) error {
	tools, err := e.prepare(ctx)
	if err != nil {
		return err
	}
	if done, err := e.resume(ctx); done || err != nil {
		return err
	}
	for round := 0; ; round++ {
		if round == maxRounds {
			tools = nil
		}
		turn, err := e.ask(ctx, tools)
		switch {
		case err != nil:
			return err
		case len(turn.ToolCalls) == 0:
			return e.finish()
		case round == maxRounds:
			return errTools
		}
		e.messages = append(e.messages, turn)
		for _, call := range turn.ToolCalls {
			result, err := e.use(ctx, call)
			if err != nil {
				return err
			}
			e.messages = append(e.messages, message{Role: "tool", ToolCallID: call.ID, Content: result})
		}
		if e.handoff || e.waits {
			return nil
		}
	}
}

// prepare collects the messages and tools for the server.
func (e *exchange) prepare(ctx context.Context) (tools []tool, err error) {
	if err := e.search(ctx, e.request.Message()); err != nil {
		return nil, err
	}
	if e.servers, err = e.request.Offered(ctx); err != nil {
		return nil, fmt.Errorf("offer tools: %w", err)
	}
	e.messages = prompt(e.request, e.found, len(e.servers) > 0)
	return append(toolsOf(e.request), e.serverTools()...), nil
}

// search searches for a text and adds the articles to those for the server.
func (e *exchange) search(ctx context.Context, text string) error {
	if e.o.Search == nil {
		return nil
	}
	found, err := e.o.Search.Find(ctx, e.request.Query(text, maxArticles))
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	e.found = append(e.found, found...)
	return nil
}

// finish emits the sources of the answer, or that the knowledge contains none.
func (e *exchange) finish() error {
	if e.said == 0 {
		return errNothing
	}
	var last agent.Action
	seen := map[[2]string]bool{}
	for i := range e.found {
		h := &e.found[i]
		source := agent.Source{Title: h.Title, URL: h.URL, Knowledge: h.Knowledge, Passage: h.Excerpt, Confidence: h.Score}
		shown := [2]string{source.Title, source.URL}
		if h.Answers() && !seen[shown] && len(seen) < maxSources {
			seen[shown] = true
			last.Sources = append(last.Sources, source)
		}
	}
	switch {
	case len(last.Sources) > 0:
		last.Outcome = agent.Answered
	case len(e.request.Agent.Knowledge) > 0 && !agent.SmallTalk(e.request.Message()):
		last.Outcome = agent.Unanswered
	}
	return e.pass(last)
}

// say passes on a piece of text.
func (e *exchange) say(text string) error {
	if e.said+len(text) > cmp.Or(e.maxSaid, maxAnswer) {
		return errTooLong
	}
	e.said += len(text)
	return e.pass(agent.Action{Say: text})
}

func (e *exchange) pass(a agent.Action) error {
	e.emitErr = e.emit(a)
	return e.emitErr
}
