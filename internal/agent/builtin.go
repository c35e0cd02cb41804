package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"carillon/internal/agent/knowledge"
)

// Builtin is the thinker that needs no other service. It answers a question with the best passage of the agent's
// knowledge, offers articles that may contain the answer, or says that it found none. The zero value has no knowledge.
type Builtin struct{ search *knowledge.Search }

// NewBuiltin returns a thinker that uses a search.
func NewBuiltin(s *knowledge.Search) Builtin { return Builtin{s} }

// AskedForPerson is the reason of a handoff requested by the contact.
const AskedForPerson = "asked for a person"

// Reply implements Thinker. It ignores unexpected key presses. It also ignores a message that the contact said before
// the current question and that does not answer it: the question itself is then the response.
func (b Builtin) Reply(ctx context.Context, r *Request, emit func(Action) error) error {
	texts := textsOf(r.Language, r.Agent.Language)
	words := knowledge.Words(r.Message())
	if done, err := fillIn(r, texts, emit); done || err != nil {
		return err
	}
	if done, err := continueCall(ctx, r, emit); done || err != nil {
		return err
	}
	kind := talkOf(words)
	switch {
	case kind == wantsPerson, kind == agrees && r.Asked == OffersPerson:
		return emit(Action{Handoff: AskedForPerson, Outcome: HandedOver})
	case r.Early && kind != asks:
		return nil
	case kind == declines && r.Asked == OffersArticles:
		return ignorant(r, texts, emit)
	case kind == declines && r.Asked == OffersPerson:
		return emit(Action{Say: texts.declined})
	case kind == leaves:
		return emit(Action{Say: texts.goodbye, End: r.Aloud && slices.Contains(r.Agent.Tools, "hang_up")})
	case kind == greets, kind == thanks:
		if done, err := askAgain(r, "", emit); done || err != nil {
			return err
		}
		return emit(Action{Say: map[talk]string{greets: texts.greeting, thanks: texts.thanks}[kind]})
	}
	if tool := toolFor(r, words); tool != nil {
		return useTool(ctx, r, tool, texts, emit)
	}
	if done, err := beginCall(ctx, r, words, emit); done || err != nil {
		return err
	}
	return b.respond(ctx, r, texts, emit)
}

// ignorant responds to a message that is neither an answer nor a question that the knowledge answers.
func ignorant(r *Request, t texts, emit func(Action) error) error {
	if r.Early {
		return nil
	}
	if done, err := askAgain(r, t.misunderstood, emit); done || err != nil {
		return err
	}
	if r.keys() {
		return nil
	}
	return emit(Action{Say: t.unknown, Choices: []string{t.person}, Asks: OffersPerson, Outcome: Unanswered})
}

// toolFor returns the client tool with a phrase that the message contains, or nil if there is none.
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

// maxToolResult bounds the part of a tool's result that is spoken, in bytes.
const maxToolResult = 1000

// useTool makes the page run a tool and says its result. The tool gets the message.
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
		failed := Action{Say: t.failed, Choices: []string{t.person}, Failure: "The page's tool " + tool.Name + " failed: " + err.Error()}
		if r.Agent.Question(r.Asked) != nil {
			failed.Asks = r.Asked
		}
		return emit(failed)
	}
	result = strings.TrimSpace(strings.ToValidUTF8(result[:min(len(result), maxToolResult)], ""))
	if result == "" {
		result = t.done
	}
	if done, err := askAgain(r, result, emit); done || err != nil {
		return err
	}
	return emit(Action{Say: result})
}

// pieceLength is the minimum length of a piece of text, except for the last one, in bytes.
const pieceLength = 24

// pieces splits a text between words, so that the text can appear as it is spoken.
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
