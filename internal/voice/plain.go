package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTranscript is how many characters of an utterance count.
const maxTranscript = 2000

// Plain is what a service understood as one line of plain text, of at most 2,000 characters.
func Plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxTranscript {
		text = strings.TrimSpace(string([]rune(text)[:maxTranscript]))
	}
	return text
}
