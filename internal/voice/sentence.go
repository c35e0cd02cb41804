package voice

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon/internal/voice/spoken"
)

const (
	minSentence = 12  // minimum length of a sentence in characters, so that "Hello." goes with the next one
	maxSentence = 300 // a longer sentence is cut between words
)

// sentences cuts a text that comes in pieces into sentences to speak.
type sentences struct{ rest string }

// add takes the next piece and returns the sentences that are complete.
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

// cut returns where the first sentence of a text ends; 0 if it may go on.
func cut(text string) int {
	n, space := 0, 0 // characters so far; after the last space
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

// pronounced is a text as it is spoken: addresses as their host, no marks of formatting, and numbers by the rules of the
// language.
func pronounced(text, language string) string {
	text = spoken.Text(link.ReplaceAllString(text, "$2"), language)
	text = marks.ReplaceAllString(text, " ")
	return strings.TrimSpace(spaces.ReplaceAllString(text, " "))
}

// firstWords is the part of a text that was heard when a share of its sound was, whole words only.
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
