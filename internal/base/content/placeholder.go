package content

import "strings"

// The delimiters of a variable in the text of a template and of a placeholder in a component's value.
const (
	opening = "{{"
	closing = "}}"
)

// parsePlaceholder reads a component's value, which is either exactly one `{{ name }}` or static text; for static text
// name is empty. For anything between the two it returns the reason of the 400.
func parsePlaceholder(value string) (name, reason string) {
	i := strings.Index(value, opening)
	if i < 0 {
		return "", ""
	}
	inner, rest, closed := strings.Cut(value[i+len(opening):], closing)
	switch {
	case !closed:
		return "", "The placeholder is not closed"
	case blank(inner):
		return "", "The placeholder is empty"
	case i > 0 || rest != "" || strings.ContainsAny(inner, "{}"):
		return "", "A value holds exactly one placeholder or only static text"
	}
	return strings.TrimSpace(inner), ""
}
