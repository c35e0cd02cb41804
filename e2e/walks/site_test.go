package walks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/event/realtime"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

const (
	agentID = "robin"
	// The flow ends with the first question of the agent's form, which continues from there. One question of the form
	// contains another.
	steps = `[{"say": "Do you come?"}, {"ask": "come", "choices": ["yes", "no"]},
		{"say": "How many of you?"}, {"ask": "people", "accept": "number"},
		{"say": "Which part of the day?"}, {"ask": "part", "choices": ["morning", "evening"]},
		{"say": "So {{come}}, {{people}}, {{part}}. Shall we call you?"}]`
)

// robin returns the agent.
func robin() *agent.Agent {
	return &agent.Agent{
		ID: agentID, Name: "Robin", Language: "en", Greeting: "Hello.",
		Voice: &agent.Voice{Speaker: "words", Transcriber: "values", Speed: 1, SilenceMS: 600},
		Result: []agent.Result{
			{Name: "call", Type: "boolean", Question: "Shall we call you?"},
			{Name: "adults", Type: "number", Question: "How many?"},
			{Name: "children", Type: "number", Question: "And children? How many?"},
			{Name: "seat", Type: "choice", Choices: []string{"inside", "outside"}, Question: "Inside or outside?"},
		},
	}
}

// answer is a person's answer to a question.
type answer struct {
	question string // full text of the agent's message
	text     string
	keys     string
	choice   int // number of the choice; 0 for other answers
}

var walk = []answer{
	{"Do you come?", "yes", "1", 1},
	{"How many of you?", "3", "3#", 0},
	{"Which part of the day?", "evening", "2", 2},
	{"So yes, 3, evening. Shall we call you?", "Yes", "1", 1},
	{"How many?", "2", "2#", 0},
	{"And children? How many?", "4", "4#", 0},
	{"Inside or outside?", "outside", "2", 2},
}

const farewell = "Thanks, I've made a note of that. Is there anything else?"

// outcome is the result of a walk.
type outcome struct {
	Answers []string // of the flow, then of the form
	State   chats.State
	Said    []string // by the agent, in order
}

// site is a company with a flow and an agent, on a separate database.
type site struct {
	t       *testing.T
	store   *store.Store
	hub     *realtime.Hub
	company string
	flow    *flow.Flow
	agent   *agent.Agent
	talks   *conversation.Conversations
	halt    func()
}

func newSite(t *testing.T) *site {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	x := &site{t: t, store: s, company: carillon.NewID(time.Now()), agent: robin(), halt: func() {}}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: x.company, Name: "Acme"}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	x.flow = &flow.Flow{ID: carillon.NewID(time.Now()), Name: "visit", Trigger: flow.Trigger{Keywords: []string{"begin"}, Event: "visit"}}
	if err := errors.Join(json.Unmarshal([]byte(steps), &x.flow.Steps), x.flow.Validate()); err != nil {
		t.Fatal(err)
	}
	x.hub = realtime.NewHub(s.Topics, log, nil)
	s.Events.OnEvents(x.hub.Publish)
	x.start()
	return x
}

// start starts a node.
func (x *site) start() {
	x.talks = conversation.New(conversation.Options{
		Store: x.store, Agents: x, Thinker: agent.Builtin{}, Publisher: x.hub, Log: slog.New(slog.DiscardHandler),
		Flows: x, Runs: x.store.Runs,
	})
	x.halt = running(x.t, x.talks.Run)
}

// running runs a part until the returned function is called.
func running(t *testing.T, run func(ctx context.Context) error) (halt func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var done sync.WaitGroup
	done.Go(func() { _ = run(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}

// restart replaces the node by another one.
func (x *site) restart() {
	x.halt()
	x.start()
}

// close closes the site within the bubble of the test.
func (x *site) close() {
	x.halt()
	if err := x.store.Close(); err != nil {
		x.t.Error(err)
	}
}

// TalkingAgent implements conversation.Agents.
func (x *site) TalkingAgent(context.Context, string, string) (*agent.Agent, string, error) {
	return x.agent, "Acme", nil
}

// Flows implements conversation.Flows.
func (x *site) Flows(context.Context, string) ([]flow.Listed, error) {
	return []flow.Listed{x.flow.Listed()}, nil
}

// Flow implements conversation.Flows.
func (x *site) Flow(context.Context, string, string) (*flow.Flow, error) { return x.flow, nil }

// open opens a person's conversation.
func (x *site) open(channel string) string {
	x.t.Helper()
	c, _, err := x.talks.Open(x.t.Context(), conversation.Start{
		Channel: channel, AgentID: agentID, Language: "en", Contact: chats.Contact{CompanyID: x.company, VisitorID: "ana"},
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return c.ID
}

// until waits for a condition.
func (x *site) until(what string, holds func() bool) {
	x.t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond) // of faked time
	}
	x.t.Fatal("it hangs: ", what)
}

// turns returns the turns of a conversation.
func (x *site) turns(id string) []chats.Turn {
	x.t.Helper()
	turns, err := x.store.Chats.Turns(x.t.Context(), x.company, id, 0, 1000)
	if err != nil {
		x.t.Fatal(err)
	}
	return turns
}

// asked waits until the agent has said something, and returns its turn.
func (x *site) asked(id, text string) (turn chats.Turn) {
	x.t.Helper()
	said := ""
	x.until(fmt.Sprintf("the agent says %q", text), func() bool {
		for _, t := range x.turns(id) {
			if t.Author == chats.Agent {
				turn, said = t, t.Text
			}
		}
		return said == text
	})
	return turn
}

// outcome returns the result of the walk in a conversation.
func (x *site) outcome(id string) (o outcome) {
	x.t.Helper()
	runs, err := x.store.Runs.OfConversation(x.t.Context(), x.company, id, 10)
	if err != nil || len(runs) != 1 {
		x.t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, name := range []string{"come", "people", "part"} {
		o.Answers = append(o.Answers, name+"="+runs[0].Variables[name])
	}
	for _, t := range x.turns(id) {
		for _, v := range t.Extra.Set {
			o.Answers = append(o.Answers, v.Name+"="+v.Text)
		}
		if t.Author == chats.Agent {
			o.Said = append(o.Said, strings.TrimSpace(t.Text))
		}
	}
	c, err := x.store.Chats.Find(x.t.Context(), x.company, id)
	if err != nil {
		x.t.Fatal(err)
	}
	o.State = c.State
	if c.ReplySeq > 0 || c.Asks != "" {
		x.t.Errorf("it still waits: %+v", c)
	}
	return o
}
