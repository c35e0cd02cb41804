package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"carillon/internal/base/resource"
)

// contactValues are the variables that a run begins with if they are known. A run of an event also begins with the fields of the
// notification's contact, which have any name.
//
//nolint:gochecknoglobals // read only
var contactValues = []string{
	"name", "first_name", "email", "number", "username", "verified", "language", "channel", "event", "notification_id",
}

// paths requires a question before each ask step and a value in each text, on every path that leads there.
func (v *validation) paths(f *Flow) {
	p, err := lay(f)
	if err != nil { // a goto without its step, which has its error already
		return
	}
	asked := p.always(func(s *Step, asked bool) bool { return s.Say != "" || asked && s.Ask == "" })
	for at := range p.places {
		s := p.places[at].step
		if already, reached := asked[at]; reached && s != nil && s.Ask != "" && strings.TrimSpace(s.Question) == "" {
			v.That(already, p.places[at].path+".question", "Must hold a question: on some path, no message comes before this step")
		}
	}
	if f.Trigger.Event != "" { // any variable may come from the notification's contact
		return
	}
	for at := range p.places {
		x := &p.places[at]
		if x.step == nil {
			continue
		}
		for _, t := range x.step.texts() {
			names := onlyVariables(t.text)
			if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(contactValues, n) }) {
				continue
			}
			filled, reached := p.always(func(s *Step, filled bool) bool {
				return filled || slices.ContainsFunc(s.sets(), func(n string) bool { return slices.Contains(names, n) })
			})[at]
			v.That(filled || !reached, x.path+"."+t.field, "Would be empty: on some path, nothing sets "+strings.Join(names, ", "))
		}
	}
}

// always returns, for each place that a run can reach, whether something holds before its step on every path to it. It does not
// hold at the beginning. after returns whether it holds after a step, given whether it holds before.
func (p *Program) always(after func(s *Step, before bool) bool) map[int]bool {
	holds := map[int]bool{0: false}
	for queue := []int{0}; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		if at >= len(p.places) {
			continue
		}
		x, now := &p.places[at], holds[at]
		next := []int{x.next}
		if s := x.step; s != nil {
			now = after(s, now)
			switch s.Kind() {
			case "if":
				next = append(next, x.otherwise)
			case "handoff", "end":
				next = nil
			}
		}
		for _, to := range next {
			before, reached := holds[to]
			if !reached || before && !now {
				holds[to] = now
				queue = append(queue, to)
			}
		}
	}
	return holds
}

// sets returns the variables that a step sets.
func (s *Step) sets() (names []string) {
	if s.Ask != "" {
		names = append(names, s.Ask)
	}
	for name, text := range s.Set {
		if text != "" {
			names = append(names, name)
		}
	}
	if s.HTTP != nil {
		names = slices.AppendSeq(names, maps.Keys(s.HTTP.Save))
		names = append(names, s.HTTP.Status)
	}
	return names
}

// stepText is a text of a step, which must not be empty.
type stepText struct{ field, text string }

// texts returns the texts of a step that people read.
func (s *Step) texts() []stepText {
	all := []stepText{{"say", s.Say}, {"question", s.Question}, {"retry", s.Retry}, {"handoff", s.Handoff}}
	if t := s.SendTemplate; t != nil {
		for _, name := range slices.Sorted(maps.Keys(t.Variables)) {
			all = append(all, stepText{"send_template.variables." + name, t.Variables[name]})
		}
	}
	return slices.DeleteFunc(all, func(t stepText) bool { return t.text == "" })
}

// variablesIn returns the variables in a text's placeholders.
func variablesIn(text string) (names []string) {
	for _, found := range placeholder.FindAllString(text, -1) {
		if name := strings.TrimSpace(strings.Trim(found, "{}")); ValidVariable(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// onlyVariables returns the variables of a text that consists of nothing else.
func onlyVariables(text string) []string {
	if strings.TrimSpace(placeholder.ReplaceAllString(text, "")) != "" {
		return nil
	}
	return variablesIn(text)
}

// Warnings returns probable mistakes in a valid flow: variables in texts and conditions that nothing sets. Like the error of
// Validate, it joins one error for each field.
func (f *Flow) Warnings() error {
	if f.Trigger.Event != "" { // any variable may come from the notification's contact
		return nil
	}
	known := slices.Clone(contactValues)
	each("steps", f.Steps, func(_ string, s *Step) { known = append(known, s.sets()...) })
	var c resource.Check
	warn := func(field, reason string, names []string) {
		for _, n := range names {
			c.That(slices.Contains(known, n), field, reason+n)
		}
	}
	each("steps", f.Steps, func(at string, s *Step) {
		for _, t := range s.texts() {
			if len(onlyVariables(t.text)) == 0 { // otherwise an error of paths
				warn(at+"."+t.field, "Nothing in this flow sets the variable ", variablesIn(t.text))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Set)) {
			warn(at+".set."+name, "Nothing in this flow sets the variable ", variablesIn(s.Set[name]))
		}
		warn(at+".if", "Put texts in quotes. Nothing in this flow sets the variable ", compared(s.If))
	})
	return c.Err()
}

// compared returns the variables in a condition, in order.
func compared(condition string) []string {
	tree, err := parser.Parse(condition)
	if err != nil {
		return nil
	}
	var all identifiers
	ast.Walk(&tree.Node, &all)
	return all
}

// identifiers collects the variables of an expression.
type identifiers []string

// Visit implements ast.Visitor.
func (all *identifiers) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.IdentifierNode); ok && !slices.Contains(*all, n.Value) {
		*all = append(*all, n.Value)
	}
}
