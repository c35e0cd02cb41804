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

// sortByNumber brings the markers of a positional text into their order.
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

func fitsFormat(name, format string) bool {
	switch format {
	case Positional:
		return isPosition(name)
	case Named:
		return isVariableName(name)
	default:
		return isPosition(name) || isVariableName(name)
	}
}

// isVariableName tells whether a marker is a name: letters, digits and _, no digit first, at most 64.
func isVariableName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
