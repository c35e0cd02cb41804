package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// isControl reports whether a terminal interprets a character instead of displaying it, or reorders text because of
// it.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// cleanCell makes untrusted text safe for a table cell.
func cleanCell(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// cleaner replaces control characters, except line breaks and tabs, with the replacement character: names, texts and
// errors come from other people. In JSON it writes them as escapes, which keep their meaning.
type cleaner struct {
	out  io.Writer
	json bool
}

func (c cleaner) Write(b []byte) (int, error) {
	var clean strings.Builder
	clean.Grow(len(b))
	for _, r := range string(b) {
		switch {
		case r == '\n' || r == '\t' || !isControl(r):
			clean.WriteRune(r)
		case c.json:
			fmt.Fprintf(&clean, `\u%04x`, r)
		default:
			clean.WriteRune(unicode.ReplacementChar)
		}
	}
	_, err := io.WriteString(c.out, clean.String())
	return len(b), err
}

// raw returns the writer beneath a cleaner.
func raw(w io.Writer) io.Writer {
	if c, ok := w.(cleaner); ok {
		return c.out
	}
	return w
}
