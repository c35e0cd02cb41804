package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTranscript is the maximum length of a transcript in characters; the rest is cut.
const maxTranscript = 2000

// Plain returns a transcript as one line of plain text, of at most 2,000 characters.
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
