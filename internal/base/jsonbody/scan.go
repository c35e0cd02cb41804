package jsonbody

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"

	"carillon"
)

// string passes over a string with its quotes, and reports whether it contains escapes. It refuses what is valid JSON but
// not accepted here.
func (p *parser) string() (escaped bool, err error) {
	for p.at++; ; p.at++ {
		switch p.src[p.at] {
		case '"':
			p.at++
			return escaped, nil
		case '\\':
			escaped = true
			if p.src[p.at+1] != 'u' {
				p.at++
				continue
			}
			n, reason := checkUnicode(p.src[p.at:])
			if reason != "" {
				return false, carillon.Invalid("body", reason)
			}
			p.at += n - 1
		}
	}
}

// checkUnicode returns the length of the \u escape at the start of s, a surrogate pair counting as one, or the reason why it
// is not accepted.
func checkUnicode(s string) (n int, reason string) {
	r := utf16Unit(s)
	switch {
	case r == 0:
		return 0, "The character U+0000 is not allowed"
	case !utf16.IsSurrogate(r):
		return 6, ""
	case !strings.HasPrefix(s[6:], `\u`) || utf16.DecodeRune(r, utf16Unit(s[6:])) == '\uFFFD':
		return 0, "A lone surrogate is not a character"
	}
	return 12, ""
}

// utf16Unit decodes the escape at the start of s: \u and four hexadecimal digits.
func utf16Unit(s string) rune {
	n, _ := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n)
}

// unescape decodes the content of a string with escapes, which parser.string has checked.
func unescape(s string) string {
	var text string
	_ = json.Unmarshal([]byte(`"`+s+`"`), &text) // it is valid
	return text
}
