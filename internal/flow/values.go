package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"golang.org/x/text/unicode/norm"
)

const (
	maxSaid      = 4000 // characters of one text
	maxValue     = 4000 // bytes of a variable
	maxVariables = 200
	maxNodes     = 200 // of a condition
	maxHeader    = 8 << 10
	// MaxFilled is about how many bytes a text has at most once its values are filled in; the rest is left out.
	MaxFilled = 256 << 10
)

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// ValidVariable reports whether a name is one of a variable.
func ValidVariable(name string) bool { return variableForm.MatchString(name) }

// Values are the variables of a run.
type Values map[string]string

// Fill puts values into a text's places, such as {{name}}. A place without a value is left out, with the space before it.
func (v Values) Fill(text string) string {
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
		b.WriteString(value)
		if b.Len() >= MaxFilled {
			return b.String()
		}
		text = after
	}
}

// fillURL fills in a URL; what a contact says cannot change its host, nor lead to another path: there a value that would be a step
// up is left out.
func (v Values) fillURL(text string) string {
	escaped := make(Values, len(v))
	for name, value := range v {
		escaped[name] = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	}
	end := strings.IndexAny(text, "?#")
	if end < 0 {
		end = len(text)
	}
	path := escaped.Fill(text[:end])
	if climbs(path) && !climbs(text[:end]) {
		level := make(Values, len(v))
		for name, value := range escaped {
			level[name] = value
			if strings.Trim(value, ".") == "" {
				level[name] = ""
			}
		}
		path = level.Fill(text[:end])
	}
	return path + escaped.Fill(text[end:])
}

// climbs reports whether a segment of a path is one that servers take for a step, "." or "..".
func climbs(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." })
}

// fillHeaders fills in headers; what a contact says stays on its line.
func (v Values) fillHeaders(all map[string]string) map[string]string {
	filled := make(map[string]string, len(all))
	for name, text := range all {
		value := v.Fill(text)
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
	escaped := make(Values, len(v))
	if isForm(headers) {
		for name, value := range v {
			escaped[name] = url.QueryEscape(value)
		}
		return escaped.Fill(text)
	}
	if t := strings.TrimSpace(text); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") && !strings.HasPrefix(t, `"`) {
		return v.Fill(text)
	}
	for name, value := range v {
		b, _ := json.Marshal(value) // a text
		escaped[name] = string(b[1 : len(b)-1])
	}
	return escaped.Fill(text)
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

// Put keeps a value. What is too long is cut; a variable beyond the bound is left out.
func (v Values) Put(name, value string) {
	if _, has := v[name]; !has && len(v) >= maxVariables {
		return
	}
	v[name] = cut(value)
}

// cut bounds a value.
func cut(value string) string {
	if len(value) > maxValue {
		return strings.ToValidUTF8(value[:maxValue], "")
	}
	return value
}

// condition compiles a condition over variables: comparisons with == != < <= > >=, contains, startsWith, endsWith, matches, in, joined
// by and, or, not and parentheses. It has no functions. Variables are texts; next to a number, or in an order, they are numbers.
func condition(text string) (*vm.Program, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	var f forms
	ast.Walk(&tree.Node, &f)
	if f.err == nil && !isCondition(tree.Node) {
		f.err = errors.New("it is neither true nor false")
	}
	if f.err != nil {
		return nil, f.err
	}
	return expr.Compile(text, expr.Env(map[string]string{}), expr.AllowUndefinedVariables(), expr.DisableAllBuiltins(), expr.MaxNodes(maxNodes),
		expr.Function("number", numberOf, numberOfAny), expr.Patch(&numbers{}), expr.AsBool())
}

// forms refuses what conditions have not: functions, fields, closures.
type forms struct{ err error }

// Visit implements ast.Visitor.
func (f *forms) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.IdentifierNode, *ast.ConstantNode, *ast.ArrayNode, *ast.ConditionalNode:
	case *ast.UnaryNode:
	case *ast.BinaryNode:
		if !slices.Contains(operators, n.Operator) {
			f.err = fmt.Errorf("%s cannot stand in a condition", n.Operator)
		}
	default:
		f.err = fmt.Errorf("%s cannot stand in a condition", n)
	}
}

var operators = []string{ //nolint:gochecknoglobals // read only
	"and", "&&", "or", "||", "==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "matches", "in", "+", "-", "*", "/", "%",
}

// isCondition reports whether an expression is true or false.
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

// numbers has conditions compare numbers as such.
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

// numberOfAny is the type of numberOf's result in a condition.
func numberOfAny(any) float64 { return 0 }

// numberOf is a variable as a number; one that is none is not equal to any number, nor before or after it.
func numberOf(args ...any) (any, error) {
	text, _ := args[0].(string)
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return math.NaN(), nil //nolint:nilerr // see above
	}
	return n, nil
}

// holds evaluates a condition.
func (v Values) holds(p *vm.Program) (bool, error) {
	out, err := expr.Run(p, map[string]string(v))
	return out == true, err
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
	yesWords = []string{"yes", "y", "yeah", "yep", "ok", "okay", "sure", "si", "s", "claro", "vale", "sim"}  //nolint:gochecknoglobals // read only
	noWords  = []string{"no", "n", "nope", "nao", "not", "no gracias", "no thanks", "nao obrigado", "jamas"} //nolint:gochecknoglobals // read only
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
