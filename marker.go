package carillon

import (
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

// markedText is a template's text taken apart: its markers, each named once, and what is needed to know the length of
// the rendered text without rendering it.
type markedText struct {
	markers []string // distinct; POSITIONAL by number, NAMED by order of appearance
	uses    []int    // how often the text shows each
	static  int      // code points outside the markers
}

// parseMarked takes a template's text apart. The reason is empty unless a marker is malformed or not of the format; an
// empty format takes both.
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
		case name == "" || strings.ContainsAny(name, "{}"):
			return markedText{}, "A variable has no name"
		case format == Positional && !isPosition(name):
			return markedText{}, "A variable of a positional template is a number from 1"
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

// isPosition tells whether a marker is a number from 1, without leading zeros.
func isPosition(name string) bool {
	n, err := strconv.ParseUint(name, 10, 31)
	return err == nil && n > 0 && name[0] != '0'
}
