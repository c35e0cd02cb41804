package agent

import (
	"slices"
	"strconv"
	"strings"

	"carillon/internal/agent/knowledge"
)

// Value is a value that a conversation collected.
type Value struct {
	Name string
	Type string // type of the Result
	Text string // in the form of the type: a number, true or false, or one of the choices
}

// Questions returns the results that the agent asks for, in order.
func (a *Agent) Questions() []Result {
	var all []Result
	for _, r := range a.Result {
		if r.Question != "" {
			all = append(all, r)
		}
	}
	return all
}

// Offers returns the choices of a question in a language.
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

// Question returns the result with a name if it has a question, else nil.
func (a *Agent) Question(name string) *Result {
	for i := range a.Result {
		if r := &a.Result[i]; r.Name == name && r.Question != "" {
			return r
		}
	}
	return nil
}

// Asking returns the name of the result whose question a text of the company, such as a greeting, contains. If there
// are several questions, the last one counts. It returns "" if there is none.
func (a *Agent) Asking(text string) (name string) {
	end, length := -1, 0
	for _, q := range a.Questions() {
		at := strings.LastIndex(text, q.Question)
		if to := at + len(q.Question); at >= 0 && (to > end || to == end && len(q.Question) > length) {
			name, end, length = q.Name, to, len(q.Question)
		}
	}
	return name
}

// fillIn treats a message as the answer to the current question, and asks the next one. done is false if there is no
// current question, or if the message does not answer it.
func fillIn(r *Request, t texts, emit func(Action) error) (done bool, err error) {
	questions := r.Agent.Questions()
	i := slices.IndexFunc(questions, func(q Result) bool { return q.Name == r.Asked })
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
	x.Say, x.Choices, x.Asks = next.Question, next.Offers(r.Language), next.Name
	return true, emit(x)
}

// askAgain repeats the current question after the given words. It returns false if there is no current question.
func askAgain(r *Request, words string, emit func(Action) error) (bool, error) {
	if call := r.Pending(); call != nil && !call.Started {
		return true, emit(Action{Say: strings.TrimSpace(words + " " + call.Question), Choices: call.Choices, Asks: call.asks()})
	}
	q := r.Agent.Question(r.Asked)
	if q == nil {
		return false, nil
	}
	return true, emit(Action{Say: words + " " + q.Question, Choices: q.Offers(r.Language), Asks: q.Name})
}

// read parses an answer. ok is false if the message is not an answer.
func (r *Result) read(message, language string) (text string, ok bool) {
	words := knowledge.Words(message)
	if offers := r.Offers(language); len(offers) > 0 { // by its number, as pressed on a keypad
		said := strings.TrimSpace(message)
		if i, err := strconv.Atoi(said); err == nil && i >= 1 && i <= len(offers) && !slices.Contains(offers, said) {
			message = offers[i-1]
			words = knowledge.Words(message)
		}
	}
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
		return r.chosen(words)
	}
	if kind := talkOf(words); kind == wantsPerson || len(words) == 0 || strings.HasSuffix(strings.TrimSpace(message), "?") {
		return "", false
	}
	return message, true
}

// chosen returns the choice that occurs in a message, given as folded words. If several occur, one of them must
// contain all the others.
func (r *Result) chosen(words []string) (choice string, ok bool) {
	said, longest := " "+strings.Join(words, " ")+" ", ""
	var named []string
	for _, c := range r.Choices {
		w := " " + strings.Join(knowledge.Words(c), " ") + " "
		switch {
		case strings.TrimSpace(w) == "" || !strings.Contains(said, w):
			continue
		case len(w) > len(longest):
			choice, longest = c, w
		}
		named = append(named, w)
	}
	for _, w := range named {
		if !strings.Contains(longest, w) {
			return "", false
		}
	}
	return choice, choice != ""
}
