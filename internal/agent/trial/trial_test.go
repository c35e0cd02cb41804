package trial_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/trial"
)

// thinker replies by a script: the contact's message selects the actions.
type thinker func(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error

func (x thinker) Reply(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error {
	return x(ctx, r, emit)
}

func says(actions ...agent.Action) thinker {
	return func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
		for _, a := range actions {
			if err := emit(a); err != nil {
				return err
			}
		}
		return nil
	}
}

func suiteOf(t *testing.T, text string) *trial.Suite {
	t.Helper()
	s, problems := trial.Read("tests.yaml", text, "Ann")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

func runs(t *testing.T, x trial.Tester, on trial.Target, s *trial.Suite) []*trial.Result {
	t.Helper()
	var all []*trial.Result
	if on.Agent == nil {
		on.Agent = &agent.Agent{ID: "a", Name: "Ann", Language: "en", Engine: "builtin"}
	}
	if err := x.Run(t.Context(), on, s, func(r *trial.Result) error {
		all = append(all, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// failures lists the failed checks as rule: want, got.
func failures(r *trial.Result) (all []string) {
	for _, turn := range r.Turns {
		for _, c := range turn.Checks {
			if c.State == trial.Failed {
				all = append(all, c.Rule+": "+c.Want+", "+c.Got)
			}
		}
	}
	return all
}

func TestEveryExpectationHoldsAndFails(t *testing.T) {
	t.Parallel()
	think := says(
		agent.Action{Say: "A tour costs "}, agent.Action{Say: "29 euros."},
		agent.Action{Sources: []agent.Source{{Title: "Prices – Groups"}}, Outcome: agent.Answered},
		agent.Action{
			Choices: []string{"Opening hours", "Talk to a person"}, Asks: "people", End: true,
			Set: []agent.Value{{Name: "confirmed", Text: "true"}},
		},
	)
	for _, c := range []struct{ expect, fails string }{
		{"text: a tour costs  29 EUROS.", ""},
		{"text: A tour costs 29", "text: A tour costs 29, A tour costs 29 euros."},
		{"contains: [29 euros, A tour]", ""},
		{"contains: [30 euros]", "contains: 30 euros, A tour costs 29 euros."},
		{"lacks: [30 euros]", ""},
		{"lacks: [Euros]", "lacks: Euros, A tour costs 29 euros."},
		{"article: prices", ""},
		{"article: Groups", "article: Groups, Prices – Groups"},
		{"outcome: answered", ""},
		{"outcome: offered", "outcome: offered, answered"},
		{"offers: [opening hours]", ""},
		{"offers: [Prices]", "offers: Prices, Opening hours | Talk to a person"},
		{`sets: {confirmed: "true"}`, ""},
		{`sets: {confirmed: "false"}`, "sets: confirmed: false, confirmed: true"},
		{"calls: [{tool: show}]", "calls: show, nothing"},
		{"asks: people", ""},
		{"asks: confirmed", "asks: confirmed, people"},
		{"handoff: false", ""},
		{"handoff: true", "handoff: true, false"},
		{"ends: true", ""},
		{"ends: false", "ends: false, true"},
		{"not: {text: A tour}", ""},
		{"not: {text: A tour costs 29 euros.}", "not.text: A tour costs 29 euros., A tour costs 29 euros."},
		{"not: {article: Groups, outcome: unanswered, offers: [Prices], sets: [people], calls: [show], asks: confirmed}", ""},
		{"not: {article: Prices}", "not.article: Prices, Prices – Groups"},
		{"not: {outcome: answered}", "not.outcome: answered, answered"},
		{"not: {offers: [Talk to a person]}", "not.offers: Talk to a person, Opening hours | Talk to a person"},
		{"not: {sets: [confirmed]}", "not.sets: confirmed, confirmed: true"},
		{"not: {asks: people}", "not.asks: people, people"},
	} {
		s := suiteOf(t, "cases: [{name: one, turns: [{say: How much?, expect: {"+c.expect+"}}]}]")
		r := runs(t, trial.Tester{Thinker: think}, trial.Target{}, s)[0]
		if got := strings.Join(failures(r), "; "); got != c.fails || (r.State == trial.Passed) != (c.fails == "") {
			t.Errorf("%s: %s, %q, want %q", c.expect, r.State, got, c.fails)
		}
	}
}

func TestToolsOfATestNeverRun(t *testing.T) {
	t.Parallel()
	think := thinker(func(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error {
		if !r.ReplaceTools {
			t.Error("tools on servers would run")
		}
		result, err := r.UseTool(ctx, r.Message(), `{"day":2,"people":{"adults":1}}`)
		if err != nil {
			return emit(agent.Action{Say: "That did not work.", Failure: "The tool failed"})
		}
		return emit(agent.Action{Say: result})
	})
	s := suiteOf(t, `
tools: {book: Booked by the suite}
cases:
  - name: of the suite
    turns: [{say: book, expect: {contains: [by the suite], calls: [{tool: book, arguments: {day: 2.0}}]}}]
  - name: of the case
    tools: {book: Booked by the case}
    turns:
      - say: book
        expect: {contains: [by the case], calls: [{tool: book, arguments: {people: {adults: 1}}}], not: {calls: [pay]}}
  - name: other arguments
    turns: [{say: book, expect: {calls: [{tool: book, arguments: {day: 3}}]}}]
  - name: without a result
    turns: [{say: pay, expect: {lacks: [paid]}}, {say: book, expect: {contains: [Booked]}}]
`)
	all := runs(t, trial.Tester{Thinker: think}, trial.Target{}, s)
	var states []trial.State
	for _, r := range all {
		states = append(states, r.State)
	}
	if diff := cmp.Diff([]trial.State{trial.Passed, trial.Passed, trial.Failed, trial.Failed}, states); diff != "" {
		t.Error(diff, failures(all[0]), failures(all[1]))
	}
	if got := failures(all[3]); len(got) != 1 || got[0] != "reply: a result of the tool pay in the suite, under tools, none" ||
		len(all[3].Turns) != 1 {
		t.Errorf("%q in %d turns", got, len(all[3].Turns))
	}
}

func TestAConversationGoesOnFromTurnToTurn(t *testing.T) {
	t.Parallel()
	think := thinker(func(_ context.Context, r *agent.Request, emit func(agent.Action) error) error {
		last := ""
		if n := len(r.Said); n > 1 {
			last = r.Said[n-2].Text
		}
		say := fmt.Sprintf("%d/%s/%s/%s/%s/%t", len(r.Said), last, r.Asked, r.Language, r.ContactName, r.Aloud)
		x := agent.Action{Say: say, Asks: "people"}
		if r.Message() == "person" {
			x.Handoff = "asked"
		}
		return emit(x)
	})
	s := suiteOf(t, `
language: es
cases:
  - name: one
    aloud: true
    asked: confirmed
    contact: Ana
    turns:
      - {say: Hi, expect: {text: 1//confirmed/es/Ana/true}}
      - {say: Ho, expect: {text: 3/1//confirmed/es/Ana/true/people/es/Ana/true}}
  - name: two
    language: pt-BR
    turns:
      - {say: person, expect: {handoff: true, outcome: handed_over, contains: [/pt-BR/]}}
      - {say: Hello?}
`)
	all := runs(t, trial.Tester{Thinker: think}, trial.Target{}, s)
	if all[0].State != trial.Passed || all[0].Language != "es" {
		t.Errorf("%+v: %q", all[0], failures(all[0]))
	}
	if got := failures(all[1]); len(got) != 1 || got[0] != "reply: a reply, A teammate has the conversation" {
		t.Errorf("%q", got)
	}
}

func TestAFailureOfTheEngineFailsTheCase(t *testing.T) {
	t.Parallel()
	s := suiteOf(t, "cases: [{name: one, turns: [{say: Hi, expect: {contains: [Hello]}}]}]")
	fallback := says(agent.Action{Failure: "The engine failed: 500"}, agent.Action{Say: "Hello"})
	if got := failures(runs(t, trial.Tester{Thinker: fallback}, trial.Target{}, s)[0]); len(got) != 1 || !strings.Contains(got[0], "500") {
		t.Errorf("%q", got)
	}
	broken := thinker(func(context.Context, *agent.Request, func(agent.Action) error) error { return errors.New("disk full") })
	got := failures(runs(t, trial.Tester{Thinker: broken}, trial.Target{}, s)[0])
	if len(got) != 1 || !strings.Contains(got[0], "disk full") {
		t.Errorf("%q", got)
	}
}

// judge agrees where the criterion is in the reply.
type judge struct{ asked atomic.Int32 }

func (j *judge) Judge(_ context.Context, r *agent.Request, reply, criterion string) (bool, string, error) {
	j.asked.Add(1)
	if criterion == "fails" {
		return false, "", errors.New("no connection")
	}
	return strings.Contains(reply, criterion), "asked " + r.Agent.Name, nil
}

func TestAnEngineJudges(t *testing.T) {
	t.Parallel()
	s := suiteOf(t, `
cases:
  - {name: met, turns: [{say: Hi, expect: {judge: polite}}]}
  - {name: not met, turns: [{say: Hi, expect: {judge: rude}}]}
  - {name: fails, turns: [{say: Hi, expect: {judge: fails}}]}
  - {name: both, turns: [{say: Hi, expect: {judge: polite, contains: [never]}}]}
`)
	think := says(agent.Action{Say: "A polite reply"})
	j := &judge{}
	critic := &agent.Agent{Name: "Critic", Engine: "openai", OpenAI: &agent.OpenAI{}}
	all := runs(t, trial.Tester{Thinker: think, Judge: j}, trial.Target{Critic: critic}, s)
	for i, want := range []string{
		"", "judge: rude, asked Critic", "judge: fails, The engine did not judge: no connection",
		"contains: never, A polite reply",
	} {
		if got := strings.Join(failures(all[i]), "; "); got != want {
			t.Errorf("%s: %q, want %q", all[i].Name, got, want)
		}
	}
	if n := j.asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
	all = runs(t, trial.Tester{Thinker: think, Judge: j}, trial.Target{}, s)
	if all[0].State != trial.Skipped || all[3].State != trial.Failed || j.asked.Load() != 4 {
		t.Errorf("without an engine: %s, %s, asked %d times", all[0].State, all[3].State, j.asked.Load())
	}
}

func TestResultsComeInOrderAFewAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		text.WriteString("cases:\n")
		for i := range 20 {
			fmt.Fprintf(&text, "  - {name: c%02d, turns: [{say: Hi, expect: {contains: [Hello]}}]}\n", i)
		}
		var now, most atomic.Int32
		think := thinker(func(ctx context.Context, _ *agent.Request, emit func(agent.Action) error) error {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
			return emit(agent.Action{Say: "Hello"})
		})
		all := runs(t, trial.Tester{Thinker: think}, trial.Target{}, suiteOf(t, text.String()))
		for i, r := range all {
			if r.Name != fmt.Sprintf("c%02d", i) || r.State != trial.Passed {
				t.Errorf("%d is %s: %s", i, r.Name, r.State)
			}
		}
		if len(all) != 20 || most.Load() != 4 {
			t.Errorf("%d results, at most %d at a time", len(all), most.Load())
		}
	})
}

func TestASlowAgentRunsOutOfTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := suiteOf(t, `
cases:
  - {name: a, turns: [{say: Hi, expect: {contains: [Hello]}}]}
  - {name: b, turns: [{say: Hi, expect: {contains: [Hello]}}]}
`)
		begin := time.Now()
		hangs := thinker(func(ctx context.Context, _ *agent.Request, _ func(agent.Action) error) error {
			<-ctx.Done()
			return ctx.Err()
		})
		all := runs(t, trial.Tester{Thinker: hangs}, trial.Target{}, s)
		if got := failures(all[1]); len(got) != 1 || got[0] != "reply: a reply, The time was up" {
			t.Errorf("%q", got)
		}
		if took := time.Since(begin); took != 2*time.Minute {
			t.Errorf("took %v", took)
		}
		stop := errors.New("stop")
		if err := (trial.Tester{Thinker: hangs}).Run(t.Context(), trial.Target{Agent: &agent.Agent{}}, s, func(*trial.Result) error {
			return stop
		}); !errors.Is(err, stop) {
			t.Error(err)
		}
	})
}

func TestFaultsOfASuiteHaveLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "t.yaml:1:1: the file is empty"},
		{"cases: []", "t.yaml:1:8: cases must have at least one entry"},
		{"cases:\n  - nam: x", `t.yaml:2:5: unknown field "nam": did you mean name?`},
		{"cases:\n  - name: x\n    turns:\n      - say: Hi", "t.yaml:4:7: turns must expect something in one of the turns"},
		{"cases:\n  - name: x\n    turns:\n      - expect: {contains: [a]}", "t.yaml:4:9: say is required"},
		{
			"cases:\n  - {name: x, turns: [{say: Hi, expect: {outcome: happy}}]}",
			"t.yaml:2:51: outcome must be one of answered, offered, handed_over, unanswered",
		},
		{"cases:\n  - {name: x, turns: [{say: Hi, expect: {}}]}", "t.yaml:2:41: expect must expect something, such as contains or article"},
		{
			"cases:\n  - {name: x, turns: [{say: Hi, expect: {sets: {people: 2}}}]}",
			"t.yaml:2:57: people must be a text: put it in quotes",
		},
		{
			"cases:\n  - {name: x, turns: [{say: Hi, expect: {text: a}}]}\n  - {name: x, turns: [{say: Hi, expect: {text: a}}]}",
			"t.yaml:3:12: name names the same twice",
		},
		{
			"language: x y\ncases:\n  - {name: x, turns: [{say: Hi, expect: {text: a}}]}",
			"t.yaml:1:11: language must be a language such as es or pt-BR",
		},
		{"source: x\ncases:\n  - {name: x, turns: [{say: Hi, expect: {text: a}}]}", ""},
		{"cases:\n  - [", ""},
		{strings.Repeat("#", trial.MaxFile+1), "t.yaml:1:1: the file is larger than 1048576 bytes"},
	} {
		_, problems := trial.Read("t.yaml", c.text, "Ann")
		if len(problems) == 0 || c.want != "" && problems.Error() != c.want {
			t.Errorf("%.60q: %v, want %s", c.text, problems, c.want)
		}
	}
}

func TestASuiteKeepsItsText(t *testing.T) {
	t.Parallel()
	const text = "# Prices\nname: prices\nagent: Other\ncases:\n  - name: x # one\n    turns: [{say: Hi, expect: {text: a}}]\n"
	s := &trial.Suite{ID: "0b9d5c1e-7c55-4f3e-9a70-3d1f6c2a8e01", Agent: "Ann", Source: text}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if s.Agent != "Ann" || s.Name != "prices" || len(s.Cases) != 1 || s.ID == "" {
		t.Errorf("%+v", s)
	}
	if got, err := s.Text(); err != nil || got != text {
		t.Error(got, err)
	}
	s.Source = ""
	plain, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	again := suiteOf(t, plain)
	if diff := cmp.Diff(s.Cases, again.Cases); diff != "" || again.Name != "prices" || again.Agent != "Ann" {
		t.Errorf("%s\n%s", plain, diff)
	}
	broken := &trial.Suite{Agent: "Ann", Source: "cases:\n  - nam: x"}
	err = broken.Validate()
	if e, ok := errors.AsType[*carillon.Error](err); !ok || e.Details.Find("reason") != `Line 2: unknown field "nam": did you mean name?` {
		t.Errorf("%+v", err)
	}
}

// box offers tools that must not run.
type box struct{ t *testing.T }

func (b box) Usable(context.Context, *agent.Request) ([]agent.ServerTool, error) {
	order := []agent.Parameter{{Name: "order", Type: "text", Required: true, Pattern: "[A-Z]-[0-9]{2}"}}
	return []agent.ServerTool{
		{ID: "1", Name: "order_status", Parameters: order, Phrases: []string{"order status"}},
		{ID: "2", Name: "cancel_order", Parameters: order, Phrases: []string{"cancel my order"}, Changes: true},
	}, nil
}

func (b box) Run(_ context.Context, _ *agent.Request, t *agent.ServerTool, _ *agent.Call) (agent.Ran, error) {
	b.t.Errorf("the tool %s runs", t.Name)
	return agent.Ran{Status: agent.RanWell}, nil
}

func TestToolsAtServersAreReplaced(t *testing.T) {
	t.Parallel()
	s := suiteOf(t, `
tools: {order_status: It is on its way., cancel_order: It is canceled.}
cases:
  - name: reads
    turns: [{say: order status of A-12, expect: {text: It is on its way., calls: [{tool: order_status, arguments: {order: A-12}}]}}]
  - name: asks
    turns:
      - {say: order status, expect: {not: {calls: [order_status]}}}
      - {say: A-12, expect: {contains: [on its way]}}
  - name: changes
    turns:
      - {say: cancel my order A-12, expect: {not: {calls: [cancel_order]}}}
      - {say: "yes", expect: {contains: [canceled], calls: [{tool: cancel_order}]}}
  - name: declined
    turns:
      - {say: cancel my order A-12, expect: {lacks: [canceled]}}
      - {say: "no", expect: {not: {calls: [cancel_order]}}}
`)
	on := trial.Target{Agent: &agent.Agent{Name: "Ann", Language: "en", Engine: "builtin", ServerTools: []string{"1", "2"}}}
	x := trial.Tester{Thinker: agent.NewBuiltin(nil), Tools: box{t}}
	for _, r := range runs(t, x, on, s) {
		if r.State != trial.Passed {
			t.Errorf("%s: %q %+v", r.Name, failures(r), r.Turns)
		}
	}
	s.Tools = nil
	for _, r := range runs(t, x, on, s)[:1] {
		if got := failures(r); len(got) != 1 || got[0] != "reply: a result of the tool order_status in the suite, under tools, none" {
			t.Errorf("%q", got)
		}
	}
}
