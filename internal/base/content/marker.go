package content

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The values of Template.ParameterFormat.
const (
	Positional = "POSITIONAL"
	Named      = "NAMED"
)

// markedText describes a template's text: its distinct variables, and the counts from which the length of the rendered
// text is computed without rendering it.
type markedText struct {
	markers []string // distinct; POSITIONAL: sorted by number; NAMED: in order of first appearance
	uses    []int    // number of occurrences of each marker
	static  int      // code points outside the markers
}

// parseMarked analyzes a template's text. It returns a reason if a marker is malformed or has a different format. An
// empty format allows both.
func parseMarked(text, format string) (m markedText, reason string) {
	for {
		before, rest, found := strings.Cut(text, opening)
		m.static += utf8.RuneCountInString(before)
		if !found {
			break
		}
		inner, after, closed := strings.Cut(rest, closing)
		name := strings.TrimSpace(inner)
		switch {
		case !closed:
			return markedText{}, "A variable is not closed"
		case name == "":
			return markedText{}, "A variable has no name"
		case !fitsFormat(name, format):
			return markedText{}, "A variable is a number from 1 or, in a NAMED template, a name of letters, digits and _"
		}
		if i := slices.Index(m.markers, name); i >= 0 {
			m.uses[i]++
		} else {
			m.markers, m.uses = append(m.markers, name), append(m.uses, 1)
		}
		text = after
	}
	if format == Positional {
		m.sortByNumber()
	}
	return m, ""
}

// sortByNumber sorts the markers of a positional text.
func (m *markedText) sortByNumber() {
	uses := make(map[string]int, len(m.markers))
	for i, name := range m.markers {
		uses[name] = m.uses[i]
	}
	slices.SortFunc(m.markers, comparePositions)
	for i, name := range m.markers {
		m.uses[i] = uses[name]
	}
}

// comparePositions compares numbers without leading zeros.
func comparePositions(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// isPosition reports whether a marker is a number from 1, without leading zeros.
func isPosition(name string) bool {
	n, err := strconv.ParseUint(name, 10, 31)
	return err == nil && n > 0 && name[0] != '0'
}

func fitsFormat(name, format string) bool {
	return format != Named && isPosition(name) || format != Positional && variableName.MatchString(name)
}

// variableName matches a variable that is not a number.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
