package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/agent"
)

const (
	parallel    = 4 // cases at a time
	caseTimeout = 2 * time.Minute
	runTimeout  = 10 * time.Minute
)

// Judge decides whether a reply meets a criterion in words.
type Judge interface {
	// Judge returns whether the reply that ends the conversation of r meets the criterion, and why not.
	Judge(ctx context.Context, r *agent.Request, reply, criterion string) (meets bool, reason string, err error)
}

// Target is the agent under test.
type Target struct {
	CompanyID   string
	CompanyName string
	Agent       *agent.Agent
	// Critic is the agent whose engine judges replies. nil: no engine judges, and checks by one are skipped.
	Critic *agent.Agent
}

// Tester runs suites.
type Tester struct {
	Thinker agent.Thinker
	Judge   Judge         // nil: no engine judges
	Tools   agent.Toolbox // offers the tools at servers, whose Run is never called; may be nil
}

// Run talks through the cases of a suite, a few at a time, and calls done with each result, in the order of the suite.
// When its context ends, or after ten minutes, the remaining cases fail. It returns the error of done.
func (x Tester) Run(ctx context.Context, on Target, s *Suite, done func(*Result) error) error {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	results := make([]chan *Result, len(s.Cases))
	for i := range results {
		results[i] = make(chan *Result, 1)
	}
	var next atomic.Int64
	for range parallel {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(s.Cases); i = int(next.Add(1)) - 1 {
				t := talk{Tester: x, on: on, suite: s, c: &s.Cases[i]}
				results[i] <- t.run(ctx)
			}
		})
	}
	for _, r := range results {
		if err := done(<-r); err != nil {
			return err
		}
	}
	return nil
}

// talk is the conversation of one case.
type talk struct {
	Tester
	on    Target
	suite *Suite
	c     *Case
	said  []agent.Said
	asked string
	// memory is kept between the turns: a call that waits for the person.
	memory agent.Memory
}

func (t *talk) run(ctx context.Context) *Result {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, caseTimeout)
	defer cancel()
	r := &Result{Suite: t.suite.Name, Name: t.c.Name, Language: cmp.Or(t.c.Language, t.suite.Language, t.on.Agent.Language)}
	t.asked = t.c.Asked
	over := ""
	for i := range t.c.Turns {
		turn := &t.c.Turns[i]
		if over != "" {
			x := TurnResult{Say: clip(turn.Say, maxShownText)}
			checker{&x}.that(false, "reply", "a reply", over)
			r.Turns = append(r.Turns, x)
			break
		}
		r.Turns = append(r.Turns, t.turn(ctx, turn, r.Language))
		last := &r.Turns[len(r.Turns)-1]
		switch {
		case last.broken():
			over = "The reply before failed"
		case last.Ends:
			over = "The agent has ended the conversation"
		case last.Handoff:
			over = "A teammate has the conversation"
		}
		if last.broken() {
			break
		}
	}
	r.finish(begin)
	return r
}

// broken reports whether there is no reply, so that the conversation cannot continue.
func (t *TurnResult) broken() bool {
	for _, c := range t.Checks {
		if c.Rule == "reply" && c.State == Failed {
			return true
		}
	}
	return false
}

// turn says one message and checks the reply.
func (t *talk) turn(ctx context.Context, turn *Turn, language string) TurnResult {
	begin := time.Now()
	x := TurnResult{Say: clip(turn.Say, maxShownText)}
	t.said = append(t.said, agent.Said{Contact: true, Text: turn.Say})
	r := &agent.Request{
		CompanyID: t.on.CompanyID, CompanyName: t.on.CompanyName, Agent: t.on.Agent, Language: language, ContactName: t.c.Contact,
		Said: t.said, Asked: t.asked, Aloud: t.c.Aloud, Memory: t.memory,
	}
	tools := &answers{reply: &x, results: []map[string]string{t.c.Tools, t.suite.Tools}}
	r.UseTool, r.ReplaceTools = tools.use, true
	if t.Tools != nil {
		r.Toolbox = replacement{t.Tools, tools}
	}
	text, failure, err := t.collect(ctx, r, &x)
	x.MS = time.Since(begin).Milliseconds()
	x.Text = clip(text, maxShownText)
	check := checker{&x}
	switch {
	case err != nil:
		check.that(false, "reply", "a reply", reason(ctx, err))
		return x
	case tools.missing != "":
		check.that(false, "reply", "a result of the tool "+tools.missing+" in the suite, under tools", "none")
		return x
	case failure != "":
		check.that(false, "reply", "a reply of the agent's engine", failure)
		return x
	}
	if turn.Expect != nil {
		turn.Expect.check(&x)
		t.judge(ctx, r, text, turn.Expect.Judge, &x)
	}
	if text != "" {
		t.said = append(t.said, agent.Said{Text: text})
	}
	t.asked = x.Asks
	return x
}

// reason returns why there is no reply.
func reason(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "The time was up"
	}
	return err.Error()
}

// collect asks the thinker for a reply.
func (t *talk) collect(ctx context.Context, r *agent.Request, x *TurnResult) (text, failure string, err error) {
	var said strings.Builder
	err = t.Thinker.Reply(ctx, r, func(a agent.Action) error {
		said.WriteString(a.Say)
		for _, s := range a.Sources {
			x.Sources = append(x.Sources, clip(s.Title, maxShown))
		}
		for _, c := range a.Choices {
			x.Choices = append(x.Choices, clip(c, maxShown))
		}
		for _, v := range a.Set {
			x.Sets = append(x.Sets, Set{v.Name, clip(v.Text, maxShown)})
		}
		x.Asks, x.Outcome = cmp.Or(a.Asks, x.Asks), cmp.Or(a.Outcome, x.Outcome)
		x.Handoff, x.Ends = x.Handoff || a.Handoff != "", x.Ends || a.End
		if x.Handoff {
			x.Outcome = agent.HandedOver
		}
		failure = cmp.Or(failure, a.Failure)
		if a.Memory != nil {
			t.memory = *a.Memory
		}
		return nil
	})
	return strings.TrimSpace(said.String()), failure, err
}

// judge has an engine check the reply, if the turn has a criterion.
func (t *talk) judge(ctx context.Context, r *agent.Request, reply, criterion string, x *TurnResult) {
	if criterion == "" {
		return
	}
	c := Check{Rule: "judge", Want: clip(criterion, maxShown), State: Skipped, Got: "No engine judges: the agent has none"}
	if critic := t.on.Critic; critic != nil && critic.OpenAI != nil && t.Judge != nil {
		asked := *r
		asked.Agent = critic
		meets, why, err := t.Judge.Judge(ctx, &asked, reply, criterion)
		switch {
		case err != nil:
			c.State, c.Got = Failed, clip("The engine did not judge: "+reason(ctx, err), maxShown)
		case meets:
			c.State, c.Got = Passed, ""
		default:
			c.State, c.Got = Failed, clip(why, maxShown)
		}
	}
	x.Checks = append(x.Checks, c)
}

// answers are the results of tools during one reply.
type answers struct {
	mu      sync.Mutex
	reply   *TurnResult
	results []map[string]string
	missing string // a tool without a result
}

const maxCalled = 100 // recorded calls of a reply

var errNoResult = errors.New("this tool has no result in the test")

// use returns the result of a tool in the suite, and records the call.
func (a *answers) use(_ context.Context, name, parameters string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.reply.Calls) < maxCalled {
		call := Called{Tool: name}
		if len(parameters) <= maxShownText && json.Valid([]byte(parameters)) {
			call.Arguments = json.RawMessage(parameters)
		}
		a.reply.Calls = append(a.reply.Calls, call)
	}
	for _, results := range a.results {
		if result, found := results[name]; found {
			return result, nil
		}
	}
	a.missing = cmp.Or(a.missing, name)
	return "", errNoResult
}

// replacement offers the tools at servers, and replaces their calls by the results in the suite.
type replacement struct {
	agent.Toolbox

	results *answers
}

// Run implements agent.Toolbox. The result is both for the engine and in the words of the built-in agent.
func (x replacement) Run(ctx context.Context, _ *agent.Request, t *agent.ServerTool, c *agent.Call) (agent.Ran, error) {
	arguments, err := json.Marshal(c.Arguments)
	if err != nil {
		return agent.Ran{}, err
	}
	result, err := x.results.use(ctx, t.Name, string(arguments))
	if err != nil {
		return agent.Ran{Status: agent.RanFailed, Reason: err.Error()}, nil //nolint:nilerr // the call failed, not the conversation
	}
	return agent.Ran{Status: agent.RanWell, Text: result, Say: result}, nil
}
