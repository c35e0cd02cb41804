package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"carillon/internal/knowledge"
)

// Builtin is the thinker that needs no other service. It answers a question with the passage of the agent's knowledge that
// fits, and says that it does not know where none does. The zero value has no knowledge.
type Builtin struct{ search *knowledge.Search }

// NewBuiltin returns a thinker that searches there.
func NewBuiltin(s *knowledge.Search) Builtin { return Builtin{s} }

// askedForPerson is the reason of a handoff that the contact asked for.
const askedForPerson = "asked for a person"

// Reply implements Thinker.
func (b Builtin) Reply(ctx context.Context, r *Request, emit func(Action) error) error {
	texts := textsOf(r.Language, r.Agent.Language)
	words := knowledge.Words(r.Message())
	if done, err := fillIn(r, texts, emit); done || err != nil {
		return err
	}
	switch kind := talkOf(words); {
	case kind == wantsPerson, kind == agrees && proposed(r):
		return emit(Action{Handoff: askedForPerson})
	case kind == declines && proposed(r):
		return emit(Action{Say: texts.declined})
	case kind == greets:
		return emit(Action{Say: texts.greeting})
	case kind == thanks:
		return emit(Action{Say: texts.thanks})
	case kind == leaves:
		return emit(Action{Say: texts.goodbye, End: r.Aloud && slices.Contains(r.Agent.Tools, "hang_up")})
	}
	if tool := toolFor(r, words); tool != nil {
		return useTool(ctx, r, tool, texts, emit)
	}
	var found []knowledge.Hit
	if b.search != nil {
		var err error
		if found, err = b.search.Find(ctx, r.Query(r.Message(), 1)); err != nil {
			return err
		}
	}
	if len(found) == 0 || !found[0].Answers() {
		if done, err := askAgain(r, func(q string) error { return emit(Action{Say: texts.again + " " + q}) }, emit); done || err != nil {
			return err
		}
		return emit(Action{Say: texts.unknown, Choices: []string{texts.person}, Unanswered: true})
	}
	best := &found[0]
	for _, piece := range pieces(best.Excerpt) {
		if err := emit(Action{Say: piece}); err != nil {
			return err
		}
	}
	if err := emit(Action{Sources: []Source{{Title: best.Title, URL: best.URL}}}); err != nil {
		return err
	}
	_, err := askAgain(r, func(q string) error { return emit(Action{Say: " " + q}) }, emit)
	return err
}

// toolFor is the client tool one of whose phrases a message contains; nil: there is none.
func toolFor(r *Request, words []string) *ClientTool {
	message := " " + strings.Join(words, " ") + " "
	tools := r.Tools()
	for i := range tools {
		for _, phrase := range tools[i].Phrases {
			if p := strings.Join(knowledge.Words(phrase), " "); p != "" && strings.Contains(message, " "+p+" ") {
				return &tools[i]
			}
		}
	}
	return nil
}

// toolResultMost is how many bytes of a tool's result are said.
const toolResultMost = 1000

// useTool has the page run a tool and says its result. The tool gets the message.
func useTool(ctx context.Context, r *Request, tool *ClientTool, t texts, emit func(Action) error) error {
	parameters, err := json.Marshal(map[string]string{"message": r.Message()})
	if err != nil {
		return err
	}
	result, err := r.UseTool(ctx, tool.Name, string(parameters))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return emit(Action{Say: t.failed, Choices: []string{t.person}, Failure: "The page's tool " + tool.Name + " failed: " + err.Error()})
	}
	result = strings.TrimSpace(strings.ToValidUTF8(result[:min(len(result), toolResultMost)], ""))
	if result == "" {
		result = t.done
	}
	return emit(Action{Say: result})
}

// proposed reports whether the agent's last words proposed a teammate.
func proposed(r *Request) bool {
	for i := len(r.Said) - 2; i >= 0; i-- {
		if said := r.Said[i]; !said.Contact {
			for _, t := range languages {
				if strings.Contains(said.Text, t.unknown) {
					return true
				}
			}
			return false
		}
	}
	return false
}

// pieceLength is how many bytes a piece of a text has at least, but for the last.
const pieceLength = 24

// pieces cuts a text between words, so that it appears as it is said.
func pieces(text string) (all []string) {
	from := 0
	for i := range text {
		if i-from >= pieceLength && text[i] == ' ' {
			all = append(all, text[from:i])
			from = i
		}
	}
	return append(all, text[from:])
}
