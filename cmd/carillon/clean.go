package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// obeyed reports whether a terminal may obey a character rather than show it, or reverse the text by it.
func obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// cleanCell makes a text from elsewhere safe for a cell of a table.
func cleanCell(s string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// cleaner shows what a terminal would obey as the replacement character, but for line breaks and tabs: names, texts and
// errors come from other people. In JSON it writes such characters as escapes, which mean the same.
type cleaner struct {
	out  io.Writer
	json bool
}

func (c cleaner) Write(b []byte) (int, error) {
	var clean strings.Builder
	clean.Grow(len(b))
	for _, r := range string(b) {
		switch {
		case r == '\n' || r == '\t' || !obeyed(r):
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

// raw is the writer below a cleaner.
func raw(w io.Writer) io.Writer {
	if c, ok := w.(cleaner); ok {
		return c.out
	}
	return w
}
