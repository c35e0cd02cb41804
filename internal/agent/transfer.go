package agent

import (
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/number"
	"carillon/internal/base/resource"
)

// Transfer is a number to which an agent transfers calls.
type Transfer struct {
	Number string `json:"number"`
	// Phrases trigger a transfer. If empty, a request to talk to a person triggers it.
	Phrases []string `json:"phrases,omitempty"`
	Message string   `json:"message,omitempty"` // said before the transfer; empty means a default sentence in the language
}

func (t *Transfer) validate(c *resource.Check) {
	const at = "transfer"
	if found := number.Find(t.Number); found != "" {
		t.Number = found
	}
	c.That(carillon.ValidNumber(t.Number), at+".number", "Must be a telephone number with its country code")
	c.Text(at+".message", t.Message)
	c.That(len(t.Phrases) <= maxPhrases, at+".phrases", "Must have at most 20 entries")
	for i, phrase := range t.Phrases {
		c.That(strings.TrimSpace(phrase) != "" && utf8.RuneCountInString(phrase) <= maxPhraseLength,
			resource.Index(at+".phrases", i), "Must have 1 to 100 characters")
	}
}

// Wanted reports whether a person who says a text should be transferred.
func (t *Transfer) Wanted(text string) bool {
	words := knowledge.Words(text)
	if len(t.Phrases) == 0 {
		return talkOf(words) == wantsPerson
	}
	said := " " + strings.Join(words, " ") + " "
	for _, phrase := range t.Phrases {
		if p := strings.Join(knowledge.Words(phrase), " "); p != "" && strings.Contains(said, " "+p+" ") {
			return true
		}
	}
	return false
}
