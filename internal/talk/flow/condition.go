package flow

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

const maxNodes = 200 // maximum number of nodes of a condition

// condition is a compiled condition with the sizes that determine its cost.
type condition struct {
	program  *vm.Program
	root     ast.Node
	patterns map[ast.Node]int // sizes of its literal patterns, by their string nodes
}

// size returns the total number of instructions of its patterns.
func (c *condition) size() (n int) {
	for _, x := range c.patterns {
		n += x
	}
	return n
}

// compile compiles a condition over variables: comparisons with == != < <= > >=, contains, startsWith, endsWith,
// matches and in, joined by and, or, not and parentheses. There are no functions. Variables are texts; next to a
// number, or in an ordering, they are converted to numbers. room is the maximum number of instructions of its
// patterns, which are counted before compilation.
func compile(text string, room int) (*condition, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	f := forms{patterns: map[ast.Node]int{}}
	ast.Walk(&tree.Node, &f)
	if f.err == nil && !isCondition(tree.Node) {
		f.err = errors.New("it is neither true nor false")
	}
	c := &condition{root: tree.Node, patterns: f.patterns}
	if f.err == nil && c.size() > room {
		f.err = errPatterns
	}
	if f.err != nil {
		return nil, f.err
	}
	c.program, err = expr.Compile(text, expr.Env(map[string]string{}), expr.AllowUndefinedVariables(), expr.DisableAllBuiltins(),
		expr.MaxNodes(maxNodes), expr.AsBool(), expr.Function("number", numberOf, numberOfAny), expr.Function("fits", fits, fitsAny),
		expr.Patch(&numbers{}), expr.Patch(&patterns{}))
	return c, err
}

// forms rejects everything outside the condition language (functions, fields, closures), and patterns that are too
// large.
type forms struct {
	err      error
	patterns map[ast.Node]int
}

// Visit implements ast.Visitor.
func (f *forms) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.IdentifierNode, *ast.ConstantNode, *ast.ArrayNode,
		*ast.ConditionalNode:
	case *ast.UnaryNode:
	case *ast.BinaryNode:
		if !slices.Contains(operators, n.Operator) {
			f.err = fmt.Errorf("%s cannot stand in a condition", n.Operator)
		}
		if s, ok := n.Right.(*ast.StringNode); ok && n.Operator == "matches" {
			size, err := patternSize(s.Value)
			if err != nil {
				f.err = err
			}
			f.patterns[s] = size
		}
	default:
		f.err = fmt.Errorf("%s cannot stand in a condition", n)
	}
}

var operators = []string{ //nolint:gochecknoglobals // read only
	"and", "&&", "or", "||", "==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "matches", "in", "+", "-", "*",
	"/", "%",
}

// isCondition reports whether an expression yields a boolean.
func isCondition(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BoolNode:
		return true
	case *ast.UnaryNode:
		return (n.Operator == "not" || n.Operator == "!") && isCondition(n.Node)
	case *ast.ConditionalNode:
		return isCondition(n.Exp1) && isCondition(n.Exp2)
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||":
			return isCondition(n.Left) && isCondition(n.Right)
		case "==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "matches", "in":
			return true
		}
	}
	return false
}

// numbers makes conditions compare numbers numerically.
type numbers struct{}

// Visit implements ast.Visitor.
func (numbers) Visit(node *ast.Node) {
	b, ok := (*node).(*ast.BinaryNode)
	if !ok {
		return
	}
	switch b.Operator {
	case "<", "<=", ">", ">=":
		if !isText(b.Left) && !isText(b.Right) {
			b.Left, b.Right = asNumber(b.Left), asNumber(b.Right)
		}
	case "==", "!=", "+", "-", "*", "/", "%":
		if isNumber(b.Left) || isNumber(b.Right) {
			b.Left, b.Right = asNumber(b.Left), asNumber(b.Right)
		}
	}
}

func isText(n ast.Node) bool {
	_, ok := n.(*ast.StringNode)
	return ok
}

func isNumber(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	case *ast.UnaryNode:
		return isNumber(n.Node)
	case *ast.BinaryNode:
		return strings.Contains("+-*/%", n.Operator)
	case *ast.CallNode:
		return true // number(…)
	}
	return false
}

func asNumber(n ast.Node) ast.Node {
	if _, ok := n.(*ast.IdentifierNode); !ok {
		return n
	}
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: "number"}, Arguments: []ast.Node{n}}
}

// numberOfAny declares the type of numberOf's result in a condition.
func numberOfAny(any) float64 { return 0 }

// numberOf converts a variable to a number. A variable that is not a number becomes NaN, which is neither equal to,
// less nor greater than any number.
func numberOf(args ...any) (any, error) {
	text, _ := args[0].(string)
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return math.NaN(), nil //nolint:nilerr // see above
	}
	return n, nil
}

// patterns applies the bounds of literal patterns to patterns that are computed during evaluation.
type patterns struct{}

// Visit implements ast.Visitor.
func (patterns) Visit(node *ast.Node) {
	b, ok := (*node).(*ast.BinaryNode)
	if !ok || b.Operator != "matches" || isText(b.Right) {
		return
	}
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: "fits"}, Arguments: []ast.Node{b.Left, b.Right}})
}

// fitsAny declares the type of fits' result in a condition.
func fitsAny(_, _ any) bool { return false }

// fits reports whether a text matches a pattern.
func fits(args ...any) (any, error) {
	text, isText := args[0].(string)
	pattern, isPattern := args[1].(string)
	if !isText || !isPattern { // a variable without a value
		return false, nil
	}
	if _, err := patternSize(pattern); err != nil {
		return nil, err
	}
	p, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errRegexp
	}
	return p.MatchString(text), nil
}

// Parts of a condition as people first write them: comparisons joined by and or or.
var (
	joiners        = regexp.MustCompile(`(?i)\s+(?:and|or|&&|\|\|)(?:\s+|$)`)
	comparisonForm = regexp.MustCompile(`(?i)^\s*([a-z_]\w*)` +
		`(?:\s+(is not|isn't|is|equals|no es|es|não é|é|contains|startsWith|endsWith)(?:\s|$)|\s*([=!<>]+)|\s*$)\s*(.*?)\s*$`)
)

// comparisons maps an operator as people write it to the one they mean.
var comparisons = map[string]string{ //nolint:gochecknoglobals // read only
	"": "==", "=": "==", "==": "==", "===": "==", "is": "==", "equals": "==", "es": "==", "é": "==",
	"!": "!=", "!=": "!=", "!==": "!=", "<>": "!=", "is not": "!=", "isn't": "!=", "no es": "!=", "não é": "!=",
	"contains": "contains", "startswith": "startsWith", "endswith": "endsWith",
	"<": "<", "<=": "<=", "=<": "<=", ">": ">", ">=": ">=", "=>": ">=",
}

// corrected returns the condition that an invalid one most likely means, else an example.
func corrected(text string) string {
	const example, most = `received == 'no'`, 200 // characters of an error
	parts, between := joiners.Split(text, -1), joiners.FindAllString(text, -1)
	var b strings.Builder
	for i, part := range parts {
		found := comparisonForm.FindStringSubmatch(part)
		if found == nil {
			return example
		}
		operator := comparisons[strings.ToLower(found[2]+found[3])]
		value := strings.ReplaceAll(strings.Trim(found[4], `"'“”`), "'", "")
		_, err := strconv.ParseFloat(value, 64)
		switch ordered := strings.ContainsAny(operator, "<>"); {
		case ordered && value == "":
			value = "10"
		case !ordered || err != nil:
			value = "'" + cmp.Or(value, "yes") + "'"
		}
		b.WriteString(found[1] + " " + operator + " " + value)
		if i < len(between) {
			b.WriteString(" " + strings.ToLower(strings.TrimSpace(between[i])) + " ")
		}
	}
	if _, err := compile(b.String(), maxPatterns); err != nil || b.Len() > most {
		return example
	}
	return b.String()
}

// patternFault returns the fault of a pattern behind the error of a condition; nil if the condition itself is at fault. The texts of
// the parser's other errors are not for the people who write flows.
func patternFault(err error) error {
	for _, known := range []error{errPattern, errPatterns, errRegexp} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

// holds evaluates a condition.
func (v Values) holds(c *condition) (bool, error) {
	out, err := expr.Run(c.program, map[string]string(v))
	return out == true, err
}
