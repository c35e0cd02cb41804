package voice

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon/internal/voice/spoken"
)

const (
	minSentence = 12  // minimum length of a sentence in characters, so that "Hello." is spoken with the next one
	maxSentence = 300 // a longer sentence is cut between words
)

// sentences splits a text that arrives in pieces into sentences to speak.
type sentences struct{ rest string }

// add adds the next piece and returns the complete sentences.
func (s *sentences) add(piece string) (all []string) {
	s.rest += piece
	for {
		n := cut(s.rest)
		if n == 0 {
			return all
		}
		if text := strings.TrimSpace(s.rest[:n]); text != "" {
			all = append(all, text)
		}
		s.rest = s.rest[n:]
	}
}

// end returns the rest.
func (s *sentences) end() string {
	rest := strings.TrimSpace(s.rest)
	s.rest = ""
	return rest
}

// cut returns the end of the first sentence of a text, or 0 if it may continue.
func cut(text string) int {
	n, space := 0, 0 // characters so far; position after the last space
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		end := i + utf8.RuneLen(r)
		n++
		switch {
		case r == '\n' && n > 1, strings.ContainsRune(".!?…:;", r) && n >= minSentence && end < len(text) && unicode.IsSpace(next):
			return end
		case unicode.IsSpace(r):
			space = end
		}
		if n >= maxSentence && space > 0 {
			return space
		}
	}
	return 0
}

var (
	link   = regexp.MustCompile(`https?://(www\.)?([^\s/]+)\S*`)
	marks  = regexp.MustCompile("[*_`#>|]+")
	spaces = regexp.MustCompile(`\s+`)
)

// pronounced returns the spoken form of a text: only the host of addresses, no formatting marks, and numbers by the
// rules of the language.
func pronounced(text, language string) string {
	text = spoken.Text(link.ReplaceAllString(text, "$2"), language)
	text = marks.ReplaceAllString(text, " ")
	return strings.TrimSpace(spaces.ReplaceAllString(text, " "))
}

// firstWords returns the part of a text that was played when a share of its sound was, in whole words.
func firstWords(text string, share float64) string {
	switch {
	case share >= 1:
		return text
	case share <= 0:
		return ""
	}
	n := int(share * float64(len(text)))
	for n > 0 && n < len(text) && text[n] != ' ' {
		n--
	}
	return strings.TrimSpace(strings.ToValidUTF8(text[:n], ""))
}
