package sip

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emiago/sipgo/sip"
)

const maxDisplayName = 64 // characters

// displayName escapes a name for a quoted-string (RFC 3261, section 25.1), which sipgo writes unescaped: one line,
// with quotes and backslashes escaped.
func displayName(name string) string {
	var b strings.Builder
	n := 0
	for _, r := range oneLine(name) {
		if n++; n > maxDisplayName {
			break
		}
		if r == '"' || r == '\\' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine removes characters that some readers take for the end of a line or a header: control characters and invalid
// UTF-8.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, text)
}

// userPart escapes the user of an address where RFC 3261 requires it.
func userPart(user string) string {
	const alsoPlain = "-_.!~*'()&=+$,"
	var b strings.Builder
	for i := range len(user) {
		c := user[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(alsoPlain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// readable reports whether the headers that we repeat, in a response or a request within the call, mean the same to
// all readers. sipgo ends lines only at CRLF, whereas others may end them at any control character. It also repeats
// names unescaped, but always in quotes.
func readable(headers []sip.Header) bool {
	for _, h := range headers {
		name := ""
		switch h := h.(type) {
		case *sip.FromHeader:
			name = h.DisplayName
		case *sip.ToHeader:
			name = h.DisplayName
		case *sip.ContactHeader:
			name = h.DisplayName
		}
		if !quotable(name) || strings.ContainsFunc(h.Value(), func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
			return false
		}
	}
	return true
}

// quotable reports whether a text needs no escaping within quotes.
func quotable(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return false
		case '\\':
			if i++; i == len(text) {
				return false
			}
		}
	}
	return true
}
