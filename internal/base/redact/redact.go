// Package redact removes secrets from stored requests and changes: by the names of fields, and by the format of keys
// and tokens anywhere in a text. It also handles invalid or truncated JSON. It does no I/O.
package redact

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// secretNames are complete field names of secrets, without _ and -.
//
//nolint:gochecknoglobals // read only
var secretNames = map[string]bool{"key": true, "pin": true, "pwd": true, "auth": true, "otp": true, "sealed": true, "identity": true}

// secretEndings are the suffixes of other field names of secrets, without _ and -.
//
//nolint:gochecknoglobals // read only
var secretEndings = []string{
	"accesskey", "apikey", "privatekey", "masterkey", "signingkey", "password", "passwd", "passphrase", "secret", "token", "authorization",
	"cookie", "credential", "credentials", "signature", "recoverycode", "recoverycodes", "passwordhash",
	"authorizationcode",
}

// oneTime matches the keys of values that may be one-time codes, button_url_N.
var oneTime = regexp.MustCompile(`^buttonurl[0-9]+$`)

// Name reports whether a field of that name contains a secret. In a dotted name, such as contact.password, the last
// part decides.
func Name(name string) bool {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if secretNames[plain] || oneTime.MatchString(plain) {
		return true
	}
	for _, ending := range secretEndings {
		if strings.HasSuffix(plain, ending) {
			return true
		}
	}
	return false
}

var (
	// Our keys and invitations, JWTs, tokens of the Cloud API, and credentials after Bearer and Basic.
	tokens = regexp.MustCompile(`\bck_[A-Za-z0-9_-]{6,}|\beyJ[A-Za-z0-9_-]{5,` +
		`}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?|\bEAA[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=_-]{6,` +
		`}|(?i:\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}`)
	// User info before the host of a URL.
	userInfo = regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://)[^/\s"@]+@`)
	// Pairs name=value, as in query strings and forms.
	pairs = regexp.MustCompile(`([A-Za-z0-9_.%-]+)=([^&\s"'<>]+)`)
)

// Text replaces keys and tokens by their format, passwords in URLs, and secrets in query strings.
func Text(s string) string {
	if strings.Contains(s, "://") {
		s = userInfo.ReplaceAllString(s, "${1}"+Mark+"@")
	}
	if strings.Contains(s, "=") {
		s = pairs.ReplaceAllStringFunc(s, func(pair string) string {
			name, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(name); err == nil && Name(plain) {
				return name + "=" + Mark
			}
			return pair
		})
	}
	if mayHaveToken(s) {
		s = tokens.ReplaceAllString(s, Mark)
	}
	return s
}

// mayHaveToken reports whether a text contains the prefix of a token. Most texts do not, and the full search is slow.
func mayHaveToken(s string) bool {
	for _, begin := range []string{"ck_", "eyJ", "EAA", "whsec_"} {
		if strings.Contains(s, begin) {
			return true
		}
	}
	lower := strings.ToLower(s)
	return strings.Contains(lower, "bearer") || strings.Contains(lower, "basic")
}

// Query returns a request's query without secrets, in the same order. Invalid parts are dropped.
func Query(raw string) string {
	var parts []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		plainName, err := url.QueryUnescape(name)
		plainValue, valueErr := url.QueryUnescape(value)
		switch {
		case pair == "":
			continue
		case err != nil || valueErr != nil || Name(plainName):
			parts = append(parts, Text(name)+"="+Mark)
		default:
			if clean := Text(plainValue); clean != plainValue {
				value = url.QueryEscape(clean)
			}
			if clean := Text(plainName); clean != plainName {
				name = url.QueryEscape(clean)
			}
			parts = append(parts, name+"="+value)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "&"), url.QueryEscape(Mark), Mark)
}

// slack is the number of bytes read beyond the end of a body, so that a secret at the end is not truncated to a part that cannot
// be recognized.
const slack = 4 << 10

// Body returns a body without secrets, at most `most` bytes of it. cut reports whether there was more. Values of
// secret fields are replaced at any depth, even in invalid JSON.
func Body(body []byte, most int) (text string, cut bool) {
	if len(body) > most+slack {
		body, cut = body[:most+slack], true
	}
	s := scanner{in: strings.ToValidUTF8(string(body), "\uFFFD")}
	text = Text(s.scan())
	if len(text) > most {
		text, cut = strings.ToValidUTF8(text[:most], ""), true
	}
	return text, cut
}

// scanner copies a body and replaces the values of secret fields. It follows the JSON structure as far as the body has
// one.
type scanner struct {
	in     string
	at     int
	out    strings.Builder
	secret []bool // by depth: whether the object's `field` names a secret
}

func (s *scanner) scan() string {
	for s.at < len(s.in) {
		switch c := s.in[s.at]; c {
		case '"':
			s.text()
		case '{', '[':
			s.secret = append(s.secret, false)
			s.copy(1)
		case '}', ']':
			if n := len(s.secret); n > 0 {
				s.secret = s.secret[:n-1]
			}
			s.copy(1)
		default:
			s.copy(1)
		}
	}
	return s.out.String()
}

func (s *scanner) copy(n int) {
	s.out.WriteString(s.in[s.at : s.at+n])
	s.at += n
}

// text copies a string. If it is the name of a secret field, the field's value is replaced.
func (s *scanner) text() {
	end := stringEnd(s.in, s.at)
	raw := s.in[s.at:end]
	s.copy(end - s.at)
	colon := s.at + spaces(s.in[s.at:])
	if colon >= len(s.in) || s.in[colon] != ':' {
		return
	}
	var name string
	if json.Unmarshal([]byte(raw), &name) != nil {
		name = strings.Trim(raw, `"`)
	}
	s.copy(colon + 1 - s.at)
	s.copy(spaces(s.in[s.at:]))
	value := s.in[s.at:valueEnd(s.in, s.at)]
	n := len(s.secret)
	if name == "field" && n > 0 {
		s.secret[n-1] = Name(strings.Trim(value, `"`))
	}
	if Name(name) || name == "provided" && n > 0 && s.secret[n-1] {
		s.at += len(value)
		if value != "" && value != "null" && value != `""` {
			value = `"` + Mark + `"`
		}
		s.out.WriteString(value)
	}
}

func spaces(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\r\n")) }

// stringEnd returns the offset after the closing quote of the string at `at`, or the end of the text if it is
// truncated.
func stringEnd(s string, at int) int {
	for i := at + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// valueEnd returns the end of the value that begins at `at`.
func valueEnd(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = stringEnd(s, i) - 1
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}
