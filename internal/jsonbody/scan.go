package jsonbody

import (
	"strings"
	"unicode/utf16"

	"carillon"
)

// string consumes a string with its quotes and reports whether it contains escapes.
func (p *parser) string() (escaped bool, err error) {
	src := p.src
	for i := p.at + 1; i < len(src); i++ {
		c := src[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if c == '"' {
			p.at = i + 1
			return escaped, nil
		}
		if c != '\\' {
			p.at = i
			return false, p.fail()
		}
		escaped = true
		n, reason := escapeLen(src[i:])
		if reason != "" {
			return false, carillon.Invalid("body", reason)
		}
		if n == 0 {
			p.at = i
			return false, p.fail()
		}
		i += n - 1
	}
	p.at = len(src)
	return false, p.fail()
}

// escapeLen returns the length of the escape at the start of s, a surrogate pair counting as one; 0 if it is malformed.
// For an escape that is valid JSON but not accepted here it returns the reason.
func escapeLen(s string) (n int, reason string) {
	if len(s) < 2 {
		return 0, ""
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
	default:
		return 0, ""
	}
	r, ok := utf16Unit(s)
	switch {
	case !ok:
		return 0, ""
	case r == 0:
		return 0, "The character U+0000 is not allowed"
	case !utf16.IsSurrogate(r):
		return 6, ""
	}
	low, ok := utf16Unit(s[6:])
	if !ok || utf16.DecodeRune(r, low) == '\uFFFD' {
		return 0, "A lone surrogate is not a character"
	}
	return 12, ""
}

// utf16Unit decodes the \uXXXX escape at the start of s.
func utf16Unit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape decodes the escapes of s, which parser.string has checked.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := 2
		switch c := s[1]; c {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r, _ := utf16Unit(s)
			n = 6
			if utf16.IsSurrogate(r) {
				low, _ := utf16Unit(s[6:])
				r, n = utf16.DecodeRune(r, low), 12
			}
			b.WriteRune(r)
		default:
			b.WriteByte(c)
		}
		s = s[n:]
	}
}

// number consumes a number (RFC 8259, section 6).
func (p *parser) number() error {
	if p.peek() == '-' {
		p.at++
	}
	switch {
	case p.peek() == '0':
		p.at++
	case !p.digits():
		return p.fail()
	}
	if p.peek() == '.' {
		p.at++
		if !p.digits() {
			return p.fail()
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		if !p.digits() {
			return p.fail()
		}
	}
	return nil
}

func (p *parser) peek() byte {
	if p.at == len(p.src) {
		return 0
	}
	return p.src[p.at]
}

func (p *parser) digits() bool {
	start := p.at
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at > start
}
