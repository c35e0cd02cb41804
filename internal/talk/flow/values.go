package flow

import (
	"encoding/json"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"carillon/internal/base/secret"
)

const (
	maxSaid      = 4000 // characters of one text
	maxValue     = 4000 // bytes of a variable
	maxVariables = 200
	maxValues    = 256 << 10 // bytes of all variables of a run, including names
	maxHeader    = 8 << 10
	maxField     = 16 << 10 // bytes of a template variable after filling in; channels accept less
	// MaxFilled is the approximate maximum size of a text after its values are filled in; the rest is cut off.
	MaxFilled = 256 << 10
)

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// ValidVariable reports whether a name is a valid variable name.
func ValidVariable(name string) bool { return variableForm.MatchString(name) }

// Values are the variables of a run.
type Values map[string]string

// Fill replaces placeholders such as {{name}} by values. A placeholder without a value is removed with the space
// before it.
func (v Values) Fill(text string) string { return v.fill(text, MaxFilled, asIs) }

func asIs(value string) string { return value }

// fill is Fill with escaped values. It stops when the result reaches `limit` bytes.
func (v Values) fill(text string, limit int, escape func(value string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			b.WriteString(text)
			return b.String()
		}
		value := v[strings.TrimSpace(name)]
		if value == "" {
			before = strings.TrimRight(before, " ")
		}
		b.WriteString(before)
		b.WriteString(escape(value))
		if b.Len() >= limit {
			return b.String()
		}
		text = after
	}
}

// fillURL fills in a URL. A value cannot change the host or escape the path: a value that would act as ".." is
// removed.
func (v Values) fillURL(text string) string {
	escape := func(value string) string {
		if value == secret.Hidden { // only shown to people
			return value
		}
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	}
	end := strings.IndexAny(text, "?#")
	if end < 0 {
		end = len(text)
	}
	path := v.fill(text[:end], MaxFilled, escape)
	if climbs(path) && !climbs(text[:end]) {
		path = v.fill(text[:end], MaxFilled, func(value string) string {
			if strings.Trim(value, ".") == "" {
				return ""
			}
			return escape(value)
		})
	}
	return path + v.fill(text[end:], MaxFilled, escape)
}

// climbs reports whether a path has a segment "." or "..".
func climbs(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." })
}

// fillHeaders fills in headers; values cannot add lines.
func (v Values) fillHeaders(all map[string]string) map[string]string {
	filled := make(map[string]string, len(all))
	for name, text := range all {
		value := v.fill(text, maxHeader, asIs)
		if len(value) > maxHeader {
			value = strings.ToValidUTF8(value[:maxHeader], "")
		}
		filled[name] = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, value))
	}
	return filled
}

// fillBody fills in a body. Values are escaped as JSON strings in a JSON body, and as in a URL in a form.
func (v Values) fillBody(text string, headers map[string]string) string {
	if isForm(headers) {
		return v.fill(text, MaxFilled, url.QueryEscape)
	}
	if t := strings.TrimSpace(text); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") && !strings.HasPrefix(t, `"`) {
		return v.Fill(text)
	}
	return v.fill(text, MaxFilled, func(value string) string {
		b, _ := json.Marshal(value) // a string cannot fail
		return string(b[1 : len(b)-1])
	})
}

// isForm reports whether the headers declare a form.
func isForm(headers map[string]string) bool {
	for name, value := range headers {
		if strings.EqualFold(name, "Content-Type") {
			return strings.HasPrefix(strings.ToLower(strings.TrimSpace(value)), "application/x-www-form-urlencoded")
		}
	}
	return false
}

// Put stores a value. Long values are truncated; variables beyond the total limits are dropped.
func (v Values) Put(name, value string) {
	have, has := v[name]
	if !has && len(v) >= maxVariables {
		return
	}
	value = cut(value)
	if len(value) > len(have) && v.size()+len(value)-len(have)+len(name) > maxValues {
		return
	}
	v[name] = value
}

// size returns the total size of the variables in bytes.
func (v Values) size() (n int) {
	for name, value := range v {
		n += len(name) + len(value)
	}
	return n
}

// cut limits a value to maxValue bytes.
func cut(value string) string {
	if len(value) > maxValue {
		return strings.ToValidUTF8(value[:maxValue], "")
	}
	return value
}

// Plain returns a text without case, accents and punctuation, for comparisons.
func Plain(s string) string {
	var b strings.Builder
	space := false
	for _, r := range norm.NFD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
		default:
			space = true
		}
	}
	return b.String()
}

// accepts are the types of a response without choices.
var accepts = []string{"text", "number", "email", "phone", "date", "yes_no"} //nolint:gochecknoglobals // read only

var (
	//nolint:gochecknoglobals // read only
	yesWords = []string{
		"yes", "y", "yeah", "yep", "ok", "okay", "sure", "si", "s", "claro", "vale", "sim",
	}
	//nolint:gochecknoglobals // read only
	noWords = []string{
		"no", "n", "nope", "nao", "not", "no gracias", "no thanks", "nao obrigado", "jamas",
	}
)

// read parses a response to an ask step. ok is false if it does not fit.
func (s *Step) read(text string) (value string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", false
	}
	if len(s.Choices) > 0 {
		return chosen(s.Choices, text)
	}
	switch s.Accept {
	case "number":
		return number(text)
	case "email":
		a, err := mail.ParseAddress(text)
		if err != nil || a.Address != text || !strings.Contains(a.Address[strings.LastIndexByte(a.Address, '@')+1:], ".") {
			return "", false
		}
		return text, true
	case "phone":
		digits := strings.Map(func(r rune) rune {
			if strings.ContainsRune(" -().+/", r) {
				return -1
			}
			return r
		}, text)
		return digits, len(digits) >= 7 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
	case "date":
		for _, layout := range []string{time.DateOnly, "2/1/2006", "2.1.2006", "2-1-2006"} {
			if d, err := time.Parse(layout, text); err == nil {
				return d.Format(time.DateOnly), true
			}
		}
		return "", false
	case "yes_no":
		return yesOrNo(text)
	}
	return text, true
}

// chosen returns the choice that a response selects: by its text, by its number, or by a sentence that names no other
// choice.
func chosen(choices []string, text string) (string, bool) {
	p := Plain(text)
	for _, c := range choices {
		if Plain(c) == p {
			return c, true
		}
	}
	if i := position(p, len(choices)); i >= 0 {
		return choices[i], true
	}
	found := ""
	for _, c := range choices {
		if w := Plain(c); w != "" && strings.Contains(" "+p+" ", " "+w+" ") {
			if found != "" {
				return "", false
			}
			found = c
		}
	}
	return found, found != ""
}

// number reads a number, also with a decimal comma, with unambiguous thousands separators, or a small one in words.
func number(text string) (string, bool) {
	s := strings.ReplaceAll(text, " ", "")
	switch comma, point := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.'); {
	case comma >= 0 && point >= 0 && comma > point:
		s = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
	case comma >= 0 && point >= 0:
		s = strings.ReplaceAll(s, ",", "")
	case comma >= 0 && strings.Count(s, ",") == 1:
		s = strings.Replace(s, ",", ".", 1)
	}
	n, err := strconv.ParseFloat(s, 64)
	if said, ok := spokenNumber(text); ok && err != nil {
		n, err = float64(said), nil
	}
	if err != nil || n != n || n > 1e15 || n < -1e15 {
		return "", false
	}
	return strconv.FormatFloat(n, 'f', -1, 64), true
}
