package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"carillon/internal/base/content"
	"carillon/internal/base/resource"
)

// form reads one mapping of the set-up. Each field is read by name; end reports unknown fields. After a problem its
// methods return zero values, which are never used.
type form struct {
	r      *reader
	at     Position
	path   string // path of the mapping; empty for the outermost
	fields []field
	known  []string
}

type field struct {
	name  string
	path  string
	at    Position
	value ast.Node
}

// form reads the mapping at a path. It returns false for any other value. In errors, `what` names the expected value.
func (r *reader) form(n ast.Node, what, path string) (*form, bool) {
	f := &form{r: r, at: r.at(n), path: path}
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		r.problemOf(path, f.at, what+" must be a mapping of fields, not "+kindOf(n))
		return f, false
	}
	for _, p := range pairs {
		name, ok := keyName(p.Key)
		if !ok {
			r.problemOf(path, r.place(p.Key.GetToken()), "a field's name must be a plain text")
			continue
		}
		f.fields = append(f.fields, field{name, f.pathOf(name), r.place(p.Key.GetToken()), p.Value})
	}
	return f, true
}

func (f *form) pathOf(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

func keyName(n ast.MapKeyNode) (string, bool) {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return s.Value, true
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NullNode:
		return "nothing"
	}
	return "an anchor, alias or tag, which are not read here"
}

// find marks a field as known and returns it. null counts as absent.
func (f *form) find(name string) (field, bool) {
	f.known = append(f.known, name)
	for _, x := range f.fields {
		if x.name == name {
			_, null := x.value.(*ast.NullNode)
			return x, !null && x.value != nil
		}
	}
	return field{}, false
}

// fault reports a problem with the presence or use of a field; wrong reports a problem with its value.
func (f *form) fault(name, reason string) {
	f.r.problemOf(f.pathOf(name), f.place(name), name+" "+reason)
}

// place returns the position of a field, or of its form if it is absent.
func (f *form) place(name string) Position {
	for _, x := range f.fields {
		if x.name == name {
			return x.at
		}
	}
	return f.at
}

func (f *form) wrong(x field, reason string) {
	f.r.problemOf(x.path, f.r.at(x.value), x.name+" "+reason)
}

// end reports unknown fields.
func (f *form) end() {
	for _, x := range f.fields {
		if slices.Contains(f.known, x.name) {
			continue
		}
		text := fmt.Sprintf("unknown field %q", shortened(x.name))
		if near := nearest(x.name, f.known); near != "" {
			text += ": did you mean " + near + "?"
		}
		f.r.problemOf(x.path, x.at, text)
	}
}

func shortened(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		return string([]rune(s)[:40]) + "…"
	}
	return s
}

// maxText bounds a text in a set-up, in bytes.
const maxText = 64 << 10

func scalarText(n ast.Node) (string, bool) {
	switch x := n.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.LiteralNode:
		return x.Value.Value, true
	}
	return "", false
}

func (f *form) textOf(x field) (string, bool) {
	s, ok := scalarText(x.value)
	switch {
	case !ok && (kindOf(x.value) == "a number" || kindOf(x.value) == "true or false"):
		f.wrong(x, "must be a text: put it in quotes")
	case !ok:
		f.wrong(x, "must be a text, not "+kindOf(x.value))
	case len(s) > maxText:
		f.wrong(x, fmt.Sprintf("is longer than %d bytes", maxText))
	case strings.ContainsRune(s, 0):
		f.wrong(x, "holds a zero character")
	default:
		return s, true
	}
	return "", false
}

// text reads an optional text.
func (f *form) text(name string) string {
	x, ok := f.find(name)
	if !ok {
		return ""
	}
	s, _ := f.textOf(x)
	return s
}

// needed reads a required text that must not be blank.
func (f *form) needed(name string) string {
	x, ok := f.find(name)
	if !ok {
		f.r.problemOf(f.pathOf(name), f.at, name+" is required")
		return ""
	}
	s, ok := f.textOf(x)
	if ok && strings.TrimSpace(s) == "" {
		f.wrong(x, "must not be empty")
		return ""
	}
	return s
}

// neededAs reads a required text and validates it. It returns "" if the text is invalid.
func (f *form) neededAs(name string, holds func(string) bool, rule string) string {
	if f.needed(name) == "" {
		return ""
	}
	return f.checked(name, holds, rule)
}

// checked reads an optional text and validates it. It returns "" if the text is invalid.
func (f *form) checked(name string, holds func(string) bool, rule string) string {
	s := f.text(name)
	if s != "" && !holds(s) {
		x, _ := f.find(name)
		f.wrong(x, rule)
		return ""
	}
	return s
}

// choice reads one of the words. It returns "" if the field is absent.
func (f *form) choice(name string, words ...string) string {
	x, ok := f.find(name)
	if !ok {
		return ""
	}
	return f.wordOf(x, words)
}

// neededChoice reads one of the words, which is required.
func (f *form) neededChoice(name string, words ...string) string {
	x, ok := f.find(name)
	if !ok {
		f.r.problemOf(f.pathOf(name), f.at, name+" is required: one of "+strings.Join(words, ", "))
		return ""
	}
	return f.wordOf(x, words)
}

func (f *form) wordOf(x field, words []string) string {
	s, ok := f.textOf(x)
	if ok && !slices.Contains(words, s) {
		f.wrong(x, "must be one of "+strings.Join(words, ", "))
	}
	return s
}

// flag reads true or false; given is false if the field is absent.
func (f *form) flag(name string) (value, given bool) {
	x, ok := f.find(name)
	if !ok {
		return false, false
	}
	b, ok := x.value.(*ast.BoolNode)
	if !ok {
		f.wrong(x, "must be true or false, not "+kindOf(x.value))
		return false, false
	}
	return b.Value, true
}

// maxItems bounds the length of a list in a set-up.
const maxItems = 10_000

// items returns the elements of a list, each with the field's name.
func (f *form) items(name string) []field {
	x, ok := f.find(name)
	if !ok {
		return nil
	}
	list, ok := x.value.(*ast.SequenceNode)
	if !ok {
		f.wrong(x, "must be a list, not "+kindOf(x.value))
		return nil
	}
	if len(list.Values) > maxItems {
		f.wrong(x, fmt.Sprintf("has more than %d entries", maxItems))
		return nil
	}
	all := make([]field, len(list.Values))
	for i, v := range list.Values {
		all[i] = field{name, resource.Index(x.path, i), f.r.at(v), v}
	}
	return all
}

// texts reads a list of texts. It returns nil if the list is absent or empty.
func (f *form) texts(name string) []string {
	var all []string
	for _, x := range f.items(name) {
		if s, ok := f.textOf(x); ok {
			all = append(all, s)
		}
	}
	return all
}

// words reads a list of the given words.
func (f *form) words(name string, words ...string) []string {
	var all []string
	for _, x := range f.items(name) {
		s := f.wordOf(x, words)
		if slices.Contains(all, s) {
			f.wrong(x, "names the same twice")
		}
		all = append(all, s)
	}
	return all
}

// each reads a list of mappings. In errors, `what` names an element.
func (f *form) each(name, what string, read func(*form)) {
	for _, x := range f.items(name) {
		if inner, ok := f.r.form(x.value, what, x.path); ok {
			read(inner)
			inner.end()
		}
	}
}

// inner reads a mapping if it is present.
func (f *form) inner(name string, read func(*form)) {
	x, ok := f.find(name)
	if !ok {
		return
	}
	if inner, ok := f.r.form(x.value, name, x.path); ok {
		read(inner)
		inner.end()
	}
}

// number reads a whole number from 0 to limit; fallback is the default.
func (f *form) number(name string, fallback, limit int) int {
	x, ok := f.find(name)
	if !ok {
		return fallback
	}
	i, ok := x.value.(*ast.IntegerNode)
	if !ok {
		f.wrong(x, "must be a whole number, not "+kindOf(x.value))
		return fallback
	}
	// The parser reads 012 as octal; only the plain decimal form is unambiguous.
	n, err := strconv.Atoi(i.Token.Value)
	if err != nil || n < 0 || n > limit || strconv.Itoa(n) != i.Token.Value {
		f.wrong(x, fmt.Sprintf("must be a whole number from 0 to %d", limit))
		return fallback
	}
	return n
}

// decimal reads a number such as 0.2. It returns 0 if the field is absent.
func decimal(f *form, name string) float64 {
	x, ok := f.find(name)
	if !ok {
		return 0
	}
	var text string
	switch n := x.value.(type) {
	case *ast.IntegerNode:
		text = n.Token.Value
	case *ast.FloatNode:
		text = n.Token.Value
	case *ast.InfinityNode, *ast.NanNode:
	default:
		f.wrong(x, "must be a number, not "+kindOf(x.value))
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || strings.ContainsAny(text, "_xX") {
		f.wrong(x, "must be a number such as 0.2")
		return 0
	}
	return n
}

// duration reads a text such as 6s or 10m; fallback is the default. An unquoted 0 is allowed.
func (f *form) duration(name string, fallback, shortest, longest time.Duration) time.Duration {
	x, ok := f.find(name)
	if !ok {
		return fallback
	}
	s, _ := scalarText(x.value)
	if i, ok := x.value.(*ast.IntegerNode); ok && i.Token.Value == "0" {
		s = "0"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < shortest || d > longest || d%time.Millisecond != 0 {
		f.wrong(x, fmt.Sprintf("must be a duration such as 6s or 10m, in whole milliseconds, from %v to %v", shortest, longest))
		return fallback
	}
	return d
}

// instant reads an RFC 3339 time. It returns the zero time if the field is absent.
func (f *form) instant(name string) time.Time {
	x, ok := f.find(name)
	if !ok {
		return time.Time{}
	}
	s, _ := scalarText(x.value)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < 1971 {
		f.wrong(x, "must be an instant such as 2030-01-31T09:00:00Z")
		return time.Time{}
	}
	return t.UTC()
}

// maxDepth bounds the nesting that jsonOf reads.
const maxDepth = 20

// jsonOf reads a free-form mapping, such as a schema, as JSON.
func jsonOf(f *form, x field) json.RawMessage {
	if kindOf(x.value) != "a mapping" {
		f.wrong(x, "must be a mapping, not "+kindOf(x.value))
		return nil
	}
	before := len(f.r.problems)
	value := plainOf(f, x, 0)
	if len(f.r.problems) > before {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		f.wrong(x, "must be written in JSON")
	}
	return text
}

// plainOf converts a node of any kind to a plain Go value.
func plainOf(f *form, x field, depth int) any {
	if depth > maxDepth {
		f.wrong(x, "is nested too deeply")
		return nil
	}
	switch n := x.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		inner, ok := f.r.form(n, x.name, x.path)
		if !ok {
			return nil
		}
		all := map[string]any{}
		for _, entry := range inner.fields {
			all[entry.name] = plainOf(f, entry, depth+1)
		}
		return all
	case *ast.SequenceNode:
		all := make([]any, len(n.Values))
		for i, v := range n.Values {
			all[i] = plainOf(f, field{x.name, resource.Index(x.path, i), f.r.at(v), v}, depth+1)
		}
		return all
	case *ast.BoolNode:
		return n.Value
	case *ast.NullNode:
		return nil
	case *ast.IntegerNode:
		return jsonNumber(f, x, n.Token.Value)
	case *ast.FloatNode:
		return jsonNumber(f, x, n.Token.Value)
	}
	text, _ := f.textOf(x)
	return text
}

// jsonNumber converts a number; a form that JSON does not have is a fault.
func jsonNumber(f *form, x field, text string) any {
	if !json.Valid([]byte(text)) {
		f.wrong(x, "must be a plain decimal number")
		return nil
	}
	return json.Number(text)
}

// nearest returns the known name that is most similar to a mistyped one, or "" if none is similar.
func nearest(name string, known []string) string {
	best, least := "", 3
	if len(name) > 40 {
		return ""
	}
	for _, k := range known {
		if d := content.EditDistance(name, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}
