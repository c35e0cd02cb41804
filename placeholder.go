package carillon

import "strings"

// The marks around a variable's name, in a component's value and in a template's text.
const (
	opening = "{{"
	closing = "}}"
)

// parsePlaceholder reads a component's value: exactly one `{{ name }}`, or static text, for which name is empty. A
// value that holds a placeholder and anything else, an empty or an unclosed one gives the reason of its 400
// (interface.md, Placeholders; decisions.md, section 3).
func parsePlaceholder(value string) (name, reason string) {
	i := strings.Index(value, opening)
	if i < 0 {
		return "", ""
	}
	inner, rest, closed := strings.Cut(value[i+len(opening):], closing)
	switch {
	case !closed:
		return "", "The placeholder is not closed"
	case strings.TrimSpace(inner) == "":
		return "", "The placeholder is empty"
	case i > 0 || rest != "" || strings.ContainsAny(inner, "{}"):
		return "", "A value holds exactly one placeholder or only static text"
	}
	return strings.TrimSpace(inner), ""
}

// blank tells whether a text says nothing: it is empty or only space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }
