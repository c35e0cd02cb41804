package knowledge

import (
	"slices"
	"strings"
)

// AddQuestions adds wordings of the article's question, as far as there is room, and returns how many. Wordings with the same
// words as the title or as an existing wording are skipped.
func (a *Article) AddQuestions(all []string) (added int) {
	words := func(text string) string { return strings.Join(Words(text), " ") }
	have := []string{words(a.Title)}
	for _, question := range a.Questions {
		have = append(have, words(question))
	}
	for _, question := range all {
		w := words(question)
		if w == "" || slices.Contains(have, w) || len(a.Questions) == maxQuestions {
			continue
		}
		have = append(have, w)
		a.Questions = append(a.Questions, question)
		added++
	}
	return added
}

// HasRoom reports whether an article takes more wordings.
func (a *Article) HasRoom() bool { return len(a.Questions) < maxQuestions }
