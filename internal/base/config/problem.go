package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a file of the set-up. Lines and columns begin at 1.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, as compilers write it.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Problem is one error in a set-up. Its text contains names from the file and no values.
type Problem struct {
	At    Position
	Text  string
	Field string `json:",omitempty"` // the path of the field at fault, such as steps.2.choices, where there is one
}

// Problems are the errors in a set-up.
type Problems []Problem

// maxProblems is how many are reported at once.
const maxProblems = 20

// Error lists the first twenty problems, a line each.
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

// Sorted returns the problems by position, the files in the order of their names, and nil when there are none.
func (p Problems) Sorted() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return p
}
