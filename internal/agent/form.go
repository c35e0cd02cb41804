package agent

import (
	"slices"
	"strconv"
	"strings"

	"carillon/internal/knowledge"
)

// Value is something that a conversation found out.
type Value struct {
	Name string
	Type string // of the Result
	Text string // as the Result's type has it: a number, true or false, one of the choices
}

// Questions are the results that the agent asks for by itself, in order.
func (a *Agent) Questions() []Result {
	var all []Result
	for _, r := range a.Result {
		if r.Question != "" {
			all = append(all, r)
		}
	}
	return all
}

// Offers are the choices of a question in a language.
func (r *Result) Offers(language string) []string {
	switch r.Type {
	case "choice":
		return r.Choices
	case "boolean":
		t := textsOf(language)
		return []string{t.yes, t.no}
	}
	return nil
}

// asked is the question that the agent asked last, before the contact's message; -1: none.
func asked(r *Request, questions []Result) int {
	for i := len(r.Said) - 2; i >= 0; i-- {
		if said := r.Said[i]; !said.Contact {
			return slices.IndexFunc(questions, func(q Result) bool { return strings.Contains(said.Text, q.Question) })
		}
	}
	return -1
}

// fillIn takes a message as the answer to the question that was asked, and asks the next one. done is false where no question was
// asked, or the message is no answer to it.
func fillIn(r *Request, t texts, emit func(Action) error) (done bool, err error) {
	questions := r.Agent.Questions()
	i := asked(r, questions)
	if i < 0 {
		return false, nil
	}
	text, ok := questions[i].read(r.Message(), r.Language)
	if !ok {
		return false, nil
	}
	x := Action{Set: []Value{{questions[i].Name, questions[i].Type, text}}}
	if i+1 == len(questions) {
		x.Say = t.filled
		return true, emit(x)
	}
	next := questions[i+1]
	x.Say, x.Choices = next.Question, next.Offers(r.Language)
	return true, emit(x)
}

// askAgain asks the question again that a message did not answer; false where none was asked.
func askAgain(r *Request, say func(text string) error, emit func(Action) error) (bool, error) {
	questions := r.Agent.Questions()
	i := asked(r, questions)
	if i < 0 {
		return false, nil
	}
	if err := say(questions[i].Question); err != nil {
		return true, err
	}
	return true, emit(Action{Choices: questions[i].Offers(r.Language)})
}

// read reads an answer; ok is false where the message is none.
func (r *Result) read(message, language string) (text string, ok bool) {
	words := knowledge.Words(message)
	switch r.Type {
	case "boolean":
		t := textsOf(language)
		switch {
		case strings.EqualFold(message, t.yes), talkOf(words) == agrees:
			return "true", true
		case strings.EqualFold(message, t.no), talkOf(words) == declines:
			return "false", true
		}
		return "", false
	case "number":
		for w := range strings.FieldsSeq(message) {
			w = strings.Trim(strings.ReplaceAll(w, ",", "."), ".!?;:")
			if _, err := strconv.ParseFloat(w, 64); err == nil {
				return w, true
			}
		}
		return "", false
	case "choice":
		said := " " + strings.Join(words, " ") + " "
		for _, c := range r.Choices {
			if w := strings.Join(knowledge.Words(c), " "); w != "" && strings.Contains(said, " "+w+" ") {
				return c, true
			}
		}
		return "", false
	}
	if kind := talkOf(words); kind == wantsPerson || len(words) == 0 || strings.HasSuffix(strings.TrimSpace(message), "?") {
		return "", false
	}
	return message, true
}
