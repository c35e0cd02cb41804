package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"carillon/internal/agent/knowledge"
)

// The built-in engine calls a tool at a server in steps: a phrase begins it, missing parameters are asked for one by
// one, a change is confirmed, then the result is said. The call waits in the conversation's memory:
//
//	phrase ──▶ parameter? ──▶ confirmation? ──▶ call ──▶ result, or that it failed and a person
//	              │                 │
//	              └── cancel, no ───┴──▶ nothing is called

// maxAttempts bounds the unreadable answers to one question.
const maxAttempts = 3

// beginCall starts the call of a tool that has a phrase in the message. done is false if there is none.
func beginCall(ctx context.Context, r *Request, words []string, emit func(Action) error) (done bool, err error) {
	tools, err := r.Offered(ctx)
	if err != nil {
		return false, err
	}
	message := " " + strings.Join(words, " ") + " "
	for i := range tools {
		for _, phrase := range tools[i].Phrases {
			if p := strings.Join(knowledge.Words(phrase), " "); p != "" && strings.Contains(message, " "+p+" ") {
				return true, proceed(ctx, r, &tools[i], obvious(r, &tools[i]), emit)
			}
		}
	}
	return false, nil
}

// proceed asks for the next missing parameter or for the confirmation, or else runs the call.
func proceed(ctx context.Context, r *Request, t *ServerTool, arguments map[string]any, emit func(Action) error) error {
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if _, given := arguments[p.Name]; given || !p.Required {
			continue
		}
		c := &Call{
			ID: t.ID, Tool: t.Name, Arguments: arguments, Parameter: p.Name, Question: p.question(r), Choices: p.offers(r),
			Number: p.Type == "number" || p.Type == "integer", Digits: p.digits(), Accept: AnswerKind(p.Name, p.Type),
		}
		return emit(c.ask(""))
	}
	c := r.NewCall(t, arguments, 0)
	if t.Changes {
		return emit(r.Confirm(t, c))
	}
	return finishCall(ctx, r, t, c, emit)
}

// ask returns the action that asks the call's question after the given words.
func (c *Call) ask(words string) Action {
	return Action{Say: strings.TrimSpace(words + " " + c.Question), Choices: c.Choices, Asks: c.asks(), Memory: &Memory{Call: c}}
}

// Confirm returns the action that asks the person to confirm a call. It shows every argument.
func (r *Request) Confirm(t *ServerTool, c *Call) Action {
	own := textsOf(r.Language, r.Agent.Language)
	question, shown := t.Confirm.In(r.Language, r.Agent.Language), []string{}
	pairs := []string{}
	for _, name := range slices.Sorted(maps.Keys(c.Arguments)) {
		p := t.Parameter(name)
		value := p.shown(r, c.Arguments[name])
		if mention := "{{" + name + "}}"; strings.Contains(question, mention) {
			pairs = append(pairs, mention, value)
			continue
		}
		shown = append(shown, strings.ReplaceAll(name, "_", " ")+": "+value)
	}
	question = strings.NewReplacer(pairs...).Replace(question)
	details := strings.Join(shown, ", ")
	switch {
	case question == "":
		what := t.Title.In(r.Language, r.Agent.Language)
		if what == "" {
			what = strings.ReplaceAll(t.Name, "_", " ")
		}
		if details != "" {
			what += " (" + details + ")"
		}
		question = fmt.Sprintf(toolTextsOf(r.Language, r.Agent.Language).shall, what)
	case details != "":
		question += " (" + details + ")"
	}
	asked := *c
	asked.Parameter, asked.Question, asked.Choices = "", question, []string{own.yes, own.no}
	return asked.ask("")
}

// Answer is a person's answer to the question whether to run a tool.
type Answer int

// The answers.
const (
	Unclear Answer = iota
	Confirmed
	Refused
)

// Confirms reads the message as the answer to the pending confirmation. A message from before the question confirms
// nothing.
func (r *Request) Confirms() Answer {
	x := Result{Type: "boolean"}
	text, ok := x.read(r.Message(), r.Language)
	switch {
	case ok && text == "false", canceling(r.Message()):
		return Refused
	case (ok && text == "true" || slices.Contains(confirmations, strings.Join(knowledge.Words(r.Message()), " "))) && !r.Early:
		return Confirmed
	}
	return Unclear
}

func canceling(message string) bool {
	return slices.Contains(cancels, strings.Join(knowledge.Words(message), " "))
}

// PendingTool returns the tool of the pending call. It returns nil if the agent may no longer use the tool.
func (r *Request) PendingTool(ctx context.Context) (*ServerTool, error) {
	call := r.Memory.Call
	tools, err := r.Offered(ctx)
	if err != nil || call == nil {
		return nil, err
	}
	for i := range tools {
		if tools[i].Name == call.Tool && tools[i].ID == call.ID {
			return &tools[i], nil
		}
	}
	return nil, nil
}

// continueCall treats a message as the answer to the pending question of a call. done is false if there is none, or
// if the message is something else: then the question is asked again after the response.
func continueCall(ctx context.Context, r *Request, emit func(Action) error) (done bool, err error) {
	call := r.Pending()
	if call == nil {
		return false, nil
	}
	t, err := r.PendingTool(ctx)
	if err != nil {
		return false, err
	}
	texts := toolTextsOf(r.Language, r.Agent.Language)
	if t == nil {
		return true, emit(r.suggestPerson(texts.failed, "The agent may no longer use the tool "+call.Tool))
	}
	if call.Started {
		return true, finishCall(ctx, r, t, call, emit)
	}
	if call.Parameter == "" {
		switch r.Confirms() {
		case Confirmed:
			return true, finishCall(ctx, r, t, call, emit)
		case Refused:
			return true, emit(Action{Say: texts.canceled, Memory: &Memory{}})
		case Unclear:
		}
		return unreadable(r, call, texts, emit)
	}
	p := t.Parameter(call.Parameter)
	if p == nil {
		return true, emit(r.suggestPerson(texts.failed, "The tool "+call.Tool+" has no parameter "+call.Parameter+" any more"))
	}
	refused := Declines(r.Message()) && p.Type != "boolean"
	if (refused || canceling(r.Message())) && !r.Early {
		return true, emit(Action{Say: texts.canceled, Memory: &Memory{}})
	}
	value, ok := p.read(r, r.Message())
	if !ok || WantsPerson(r.Message()) {
		if p.Type == "date" {
			texts.unread = texts.date
		}
		return unreadable(r, call, texts, emit)
	}
	arguments := map[string]any{p.Name: value}
	maps.Copy(arguments, call.Arguments)
	return true, proceed(ctx, r, t, arguments, emit)
}

// unreadable responds to a message that does not answer the call's question. Questions of the person, small talk and
// requests for a teammate are left to the rest of the engine.
func unreadable(r *Request, call *Call, texts toolTexts, emit func(Action) error) (done bool, err error) {
	message := strings.TrimSpace(r.Message())
	if r.Early || SmallTalk(message) || strings.HasSuffix(message, "?") || r.keys() {
		return false, nil
	}
	again := *call
	if again.Attempts++; again.Attempts >= maxAttempts {
		return true, emit(r.suggestPerson(texts.dropped, ""))
	}
	return true, emit(again.ask(texts.unread))
}

// finishCall runs a complete call and says its result.
func finishCall(ctx context.Context, r *Request, t *ServerTool, c *Call, emit func(Action) error) error {
	ran, err := r.Execute(ctx, t, c)
	if err != nil {
		return err
	}
	return r.Report(c, ran, emit)
}

// Report says the result of a call, records the call, and forgets it.
func (r *Request) Report(c *Call, ran Ran, emit func(Action) error) error {
	texts := toolTextsOf(r.Language, r.Agent.Language)
	say := ran.Say
	switch ran.Status {
	case RanWell:
		say = ran.SayOr(r)
		x := Action{Say: say, Memory: &Memory{}, Used: UseOf(c, ran)}
		if q := r.Agent.Question(r.Asked); q != nil { // of the agent, which still waits
			x.Say, x.Choices, x.Asks = say+" "+q.Question, q.Offers(r.Language), q.Name
		}
		return emit(x)
	case RanNothing:
		if say == "" {
			say = texts.nothing
		}
	case RanUnknown:
		say = texts.unsure
	default:
		say = texts.failed
	}
	x := r.suggestPerson(say, "")
	x.Used = UseOf(c, ran)
	if ran.Status != RanNothing {
		x.Failure = "The tool " + c.Tool + " failed: " + ran.Reason
	}
	return emit(x)
}

// SayOr returns the result for a person, or that it is done.
func (ran Ran) SayOr(r *Request) string {
	return cmp.Or(ran.Say, toolTextsOf(r.Language, r.Agent.Language).done)
}

// suggestPerson returns an action that gives up a call and offers a person.
func (r *Request) suggestPerson(say, failure string) Action {
	x := Action{Say: say, Choices: []string{textsOf(r.Language, r.Agent.Language).person}, Asks: OffersPerson, Memory: &Memory{}}
	if failure != "" {
		x.Failure = failure
	}
	if r.Agent.Question(r.Asked) != nil {
		x.Asks = r.Asked
	}
	return x
}
