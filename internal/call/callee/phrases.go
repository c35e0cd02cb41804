package callee

import (
	_ "embed" // for phrases.txt
	"strings"

	"carillon/internal/agent/knowledge"
)

//go:embed phrases.txt
var phrasesText string

// The tables of phrases.txt.
var ( //nolint:gochecknoglobals // read only
	unavailable = table("unavailable")
	screening   = table("screening")
	holding     = table("holding")
	voicemail   = table("voicemail")
	weakly      = table("weakly")
	menu        = table("menu")
	person      = table("person")
)

// table returns the phrases of a section, as sequences of words.
func table(name string) (all [][]string) {
	_, section, _ := strings.Cut(phrasesText, "["+name+"]")
	section, _, _ = strings.Cut(section, "\n[")
	for _, line := range strings.Split(section, "\n")[1:] {
		if words := strings.Fields(line); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

// Phrases returns the kind of callee that says folded words. Unavailable mailboxes and screeners also have words of
// other voicemails, and those have words of menus.
func Phrases(said string) Kind {
	words := strings.Fields(said)
	switch {
	case contains(words, unavailable) > 0:
		return Unavailable
	case contains(words, screening) > 0:
		return Screening
	case contains(words, person) > 0 && contains(words, voicemail) < 2:
		return Person
	case contains(words, voicemail) > 0:
		return Voicemail
	case contains(words, menu) > 0:
		return Menu
	}
	return Unknown
}

// Holds reports whether a text asks the caller to wait.
func Holds(text string) bool { return contains(knowledge.Words(text), holding) > 0 }

func weak(said string) bool  { return contains(strings.Fields(said), weakly) > 0 }
func twice(said string) bool { return contains(strings.Fields(said), weakly) > 1 }

// contains counts the phrases of a table that words contain.
func contains(words []string, table [][]string) (n int) {
	for _, phrase := range table {
		for i := range words {
			if begins(words[i:], phrase) {
				n++
				break
			}
		}
	}
	return n
}

func begins(words, phrase []string) bool {
	for i, p := range phrase {
		switch {
		case p == "*":
			rest := phrase[i+1:]
			for skip := 1; skip <= maxSkip && skip <= len(words); skip++ {
				if begins(words[skip:], rest) {
					return true
				}
			}
			return false
		case len(words) == 0 || words[0] != p:
			return false
		}
		words = words[1:]
	}
	return true
}

// maxSkip is the maximum number of words for an asterisk.
const maxSkip = 4
