package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a position in a file of the set-up. Lines and columns begin at 1.
type Position struct {
	File         string
	Line, Column int
}

// String formats the position as file:line:column, like a compiler.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Problem is one error in a set-up. Its text contains names from the file but no values.
type Problem struct {
	At    Position
	Text  string
	Field string `json:",omitempty"` // path of the faulty field, such as steps.2.choices; may be empty
}

// Problems are the errors in a set-up.
type Problems []Problem

// maxProblems bounds the problems that Error lists.
const maxProblems = 20

// Error lists the first twenty problems, one per line.
func (p Problems) Error() string {
	var b strings.Builder
	for i, x := range p {
		if i == maxProblems {
			fmt.Fprintf(&b, "\nand %d more", len(p)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(x.At.String() + ": " + x.Text)
	}
	return b.String()
}

// Sorted returns the problems sorted by file name and position, or nil if there are none.
func (p Problems) Sorted() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return p
}
