package flow

import (
	"errors"
	"fmt"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
)

// Work is counted in machine-independent units: one per character read or written, and for a pattern one per character
// and instruction of its program. A unit takes about 10 ns.
const (
	// MaxWork is the budget of a run between two waits.
	MaxWork = 5_000_000

	maxPattern     = 1000   // bytes
	maxProgram     = 1000   // instructions of a pattern
	maxPatterns    = 20_000 // instructions of all patterns of a flow
	comparisonWork = 16     // units of a comparison without texts
)

var (
	errPattern  = fmt.Errorf("a pattern may have %d bytes and %d instructions: repeat less in it", maxPattern, maxProgram)
	errRegexp   = errors.New("a pattern is not a regular expression")
	errPatterns = fmt.Errorf("all patterns of a flow may have %d instructions: repeat less in them", maxPatterns)
)

// patternSize returns the number of instructions of a pattern. It counts without compiling, since a few bytes can
// expand to millions of instructions.
func patternSize(pattern string) (int, error) {
	if len(pattern) > maxPattern {
		return 0, errPattern
	}
	x, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, errRegexp
	}
	n := instructions(x)
	if n > maxProgram {
		return 0, errPattern
	}
	return n, nil
}

// instructions returns the size of a pattern's program. It stops counting beyond maxProgram.
func instructions(x *syntax.Regexp) int {
	n := 1
	for _, sub := range x.Sub {
		if n += instructions(sub); n > maxProgram {
			return n
		}
	}
	switch x.Op { //nolint:exhaustive // the other operators have one
	case syntax.OpLiteral:
		n = len(x.Rune)
	case syntax.OpCapture:
		n++
	case syntax.OpRepeat:
		times, optional := x.Max, x.Max-x.Min
		if x.Max < 0 { // unbounded: the last one is repeated
			times, optional = x.Min+1, 1
		}
		n = (n-1)*times + optional
	}
	return n
}

// work returns an upper bound on the cost of evaluating the condition with these variables.
func (c *condition) work(v Values) int {
	_, work := c.cost(c.root, v)
	return work
}

// cost returns upper bounds on the length of a node's text and on the work of computing it.
func (c *condition) cost(node ast.Node, v Values) (length, work int) {
	switch n := node.(type) {
	case *ast.StringNode:
		return len(n.Value), 0
	case *ast.IdentifierNode:
		return len(v[n.Value]), 0
	case *ast.UnaryNode:
		_, work = c.cost(n.Node, v)
	case *ast.ConditionalNode:
		_, first := c.cost(n.Cond, v)
		a, second := c.cost(n.Exp1, v)
		b, third := c.cost(n.Exp2, v)
		return max(a, b), first + second + third
	case *ast.ArrayNode:
		for _, x := range n.Nodes {
			l, w := c.cost(x, v)
			length, work = length+l, work+w
		}
		return length, work
	case *ast.BinaryNode:
		a, first := c.cost(n.Left, v)
		b, second := c.cost(n.Right, v)
		work = first + second + a + b
		switch n.Operator {
		case "+":
			return a + b, work + comparisonWork
		case "matches":
			size, literal := c.patterns[n.Right]
			if !literal {
				size = maxProgram
			}
			work += a * size
		}
	}
	return 0, work + comparisonWork
}

var errWork = errors.New("it takes too much work: shorten its texts and patterns, or have it wait for a response in between")

// spend adds work to a run and fails the run if that exceeds MaxWork. It reports whether the run may continue.
func (o *Outcome) spend(r *Run, x *place, units int) bool {
	if o.Work += units; o.Work <= MaxWork {
		return true
	}
	r.fail(o, x, errWork.Error())
	return false
}
