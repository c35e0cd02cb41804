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
	maxValues    = 256 << 10 // bytes of all variables of a run, names included
	maxHeader    = 8 << 10
	maxField     = 16 << 10 // bytes of a template's variable, filled in: a channel takes less
	// MaxFilled is about how many bytes a text has at most once its values are filled in; the rest is left out.
	MaxFilled = 256 << 10
)

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// ValidVariable reports whether a name is one of a variable.
func ValidVariable(name string) bool { return variableForm.MatchString(name) }

// Values are the variables of a run.
type Values map[string]string

// Fill puts values into a text's places, such as {{name}}. A place without a value is left out, with the space before it.
func (v Values) Fill(text string) string { return v.fill(text, MaxFilled, asIs) }

func asIs(value string) string { return value }

// fill is Fill with escaped values. It stops once the result has that many bytes.
func (v Values) fill(text string, most int, escape func(value string) string) string {
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
		if b.Len() >= most {
			return b.String()
		}
		text = after
	}
}

// fillURL fills in a URL; what a contact says cannot change its host, nor lead to another path: there a value that would be a step
// up is left out.
func (v Values) fillURL(text string) string {
	escape := func(value string) string {
		if value == secret.Hidden { // for people
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

// climbs reports whether a segment of a path is one that servers take for a step, "." or "..".
func climbs(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." })
}

// fillHeaders fills in headers; what a contact says stays on its line.
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

// fillBody fills in a body. In one that is JSON, values are escaped as in a JSON string; in a form, as in a URL.
func (v Values) fillBody(text string, headers map[string]string) string {
	if isForm(headers) {
		return v.fill(text, MaxFilled, url.QueryEscape)
	}
	if t := strings.TrimSpace(text); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") && !strings.HasPrefix(t, `"`) {
		return v.Fill(text)
	}
	return v.fill(text, MaxFilled, func(value string) string {
		b, _ := json.Marshal(value) // a text
		return string(b[1 : len(b)-1])
	})
}

// isForm reports whether headers announce a form.
func isForm(headers map[string]string) bool {
	for name, value := range headers {
		if strings.EqualFold(name, "Content-Type") {
			return strings.HasPrefix(strings.ToLower(strings.TrimSpace(value)), "application/x-www-form-urlencoded")
		}
	}
	return false
}

// Put keeps a value. What is too long is cut; a variable beyond the bounds of all of them is left out.
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

// size is the total size of the variables in bytes.
func (v Values) size() (n int) {
	for name, value := range v {
		n += len(name) + len(value)
	}
	return n
}

// cut bounds a value.
func cut(value string) string {
	if len(value) > maxValue {
		return strings.ToValidUTF8(value[:maxValue], "")
	}
	return value
}

// Plain is a text without case, accents and punctuation, for comparing.
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

// accepts are the forms of a response without choices.
var accepts = []string{"text", "number", "email", "phone", "date", "yes_no"} //nolint:gochecknoglobals // read only

var (
	yesWords = []string{"yes", "y", "yeah", "yep", "ok", "okay", "sure", "si", "s", "claro", "vale",
		"sim"} //nolint:gochecknoglobals // read only
	noWords = []string{"no", "n", "nope", "nao", "not", "no gracias", "no thanks", "nao obrigado",
		"jamas"} //nolint:gochecknoglobals // read only
)

// read reads a response to an ask step; ok is false where it does not fit.
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

// chosen is the choice that a response is: by its text, by its number, or said within a sentence that names no other one.
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

// number reads a number, also with a decimal comma and with separators of thousands where they are clear, and a small one in words.
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
