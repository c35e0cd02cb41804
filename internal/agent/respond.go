package agent

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"carillon/internal/agent/knowledge"
)

// OffersArticles is the name of the question which of several articles the contact means. No result has this name.
const OffersArticles = "-articles"

const (
	maxAnswer   = 480 // characters of an answer, unless its first sentence is longer
	topicReach  = 3   // messages of the contact before the last one that may have begun its subject
	maxOrdinals = 5   // words of a message that chooses by number
)

// respond answers a message from the knowledge, offers articles, or says that it found none.
func (b Builtin) respond(ctx context.Context, r *Request, t texts, emit func(Action) error) error {
	if b.search == nil || r.keys() {
		return ignorant(r, t, emit)
	}
	if r.Asked == OffersArticles {
		chosen, err := b.chosen(ctx, r)
		if err != nil {
			return err
		}
		if chosen != nil {
			return b.answer(r, chosen, t, emit)
		}
	}
	found, err := b.find(ctx, r, r.Message(), len(r.Said)-1)
	if err != nil {
		return err
	}
	answers, offers := decide(found)
	switch {
	case answers:
		return b.answer(r, &found[0], t, emit)
	case len(offers) > 0 && !r.Early && r.Agent.Question(r.Asked) == nil:
		return offer(offers, t, emit)
	}
	return ignorant(r, t, emit)
}

// find searches for the text of a turn. If an earlier message has an answer, the turn may continue its subject.
func (b Builtin) find(ctx context.Context, r *Request, text string, turn int) ([]knowledge.Hit, error) {
	q := r.Query(text, knowledge.MaxOffered+1)
	for n := topicReach; n > 0 && turn > 0; turn-- {
		before := &r.Said[turn-1]
		if !before.Contact || before.Keys {
			continue
		}
		n--
		if talkOf(knowledge.Words(before.Text)) != asks {
			continue
		}
		found, err := b.search.ByWords().Find(ctx, r.Query(before.Text, 1)) // a turn waits for one server at most
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && found[0].Certain() {
			q.Topic = &found[0]
			break
		}
	}
	return b.search.Find(ctx, q)
}

// decide is knowledge.Decide with the offered hits.
func decide(found []knowledge.Hit) (answers bool, offers []knowledge.Hit) {
	answers, indexes := knowledge.Decide(found)
	for _, i := range indexes {
		offers = append(offers, found[i])
	}
	return answers, offers
}

func offer(offers []knowledge.Hit, t texts, emit func(Action) error) error {
	a := Action{Say: t.offer, Asks: OffersArticles, Outcome: Offered}
	for i := range offers {
		h := &offers[i]
		a.Choices = append(a.Choices, h.Title)
		a.Offers = append(a.Offers, sourceOf(h))
	}
	if len(offers) == 1 {
		a.Say = t.offerOne
	}
	a.Choices = append(a.Choices, t.person)
	return emit(a)
}

func sourceOf(h *knowledge.Hit) Source {
	return Source{Title: h.Title, URL: h.URL, Knowledge: h.Knowledge, Passage: h.Excerpt, Confidence: h.Score}
}

// chosen returns the article that the contact chose among those offered after the previous message, or nil.
func (b Builtin) chosen(ctx context.Context, r *Request) (*knowledge.Hit, error) {
	turn := len(r.Said) - 2
	for turn >= 0 && !r.Said[turn].Contact {
		turn--
	}
	if turn < 0 {
		return nil, nil //nolint:nilnil // nothing is chosen
	}
	found, err := b.find(ctx, r, r.Said[turn].Text, turn)
	if err != nil {
		return nil, err
	}
	_, offers := decide(found)
	if i := choiceOf(r.Message(), offers); i >= 0 {
		return &offers[i], nil
	}
	return nil, nil //nolint:nilnil // nothing is chosen
}

// ordinals are folded words for the first, second and third of the offered articles.
var ordinals = [][]string{ //nolint:gochecknoglobals // read-only
	{"1", "one", "first", "uno", "una", "primero", "primera", "um", "uma", "primeiro", "primeira"},
	{"2", "two", "second", "dos", "segundo", "segunda", "dois", "duas"},
	{"3", "three", "third", "tres", "tercero", "tercera", "terceiro", "terceira"},
}

// choiceOf returns the index of the article that a message names by its title or number; -1 if it names none.
func choiceOf(message string, offers []knowledge.Hit) int {
	words := knowledge.Words(message)
	said := strings.Join(words, " ")
	for i := range offers {
		title := strings.Join(knowledge.Words(offers[i].Title), " ")
		if title != "" && (said == title || len(words) > 1 && strings.Contains(" "+title+" ", " "+said+" ")) {
			return i
		}
	}
	if len(offers) == 1 && talkOf(words) == agrees {
		return 0
	}
	if len(words) > maxOrdinals {
		return -1
	}
	for i := range offers {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ordinals[i], w) }) || said == strconv.Itoa(i+1) {
			return i
		}
	}
	return -1
}

// answer says the sentences of a passage that answer the question, and its source.
func (Builtin) answer(r *Request, h *knowledge.Hit, t texts, emit func(Action) error) error {
	text := h.Answer(maxAnswer)
	if h.Foreign {
		text = strings.ReplaceAll(t.foreign, "{{language}}", languageName(h.Language, r.Language, r.Agent.Language)) + " " + text
	}
	for _, piece := range pieces(text) {
		if err := emit(Action{Say: piece}); err != nil {
			return err
		}
	}
	if err := emit(Action{Sources: []Source{sourceOf(h)}, Outcome: Answered}); err != nil {
		return err
	}
	_, err := askAgain(r, "", emit)
	return err
}

// languageName returns the name of a language in the first of the languages in which it is known.
func languageName(tag string, in ...string) string {
	of, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	for _, l := range in {
		if parsed, err := language.Parse(l); err == nil {
			if names := display.Languages(parsed); names != nil {
				return names.Name(of)
			}
		}
	}
	return display.English.Languages().Name(of)
}
