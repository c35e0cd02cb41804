package trial

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// fold returns a text for comparison: white space collapsed, without letter case.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// checker collects the checks of one reply.
type checker struct{ reply *TurnResult }

// that adds a check. got describes the reply if the check fails.
func (c checker) that(holds bool, rule, want, got string) {
	x := Check{Rule: rule, Want: clip(want, maxShown), State: Passed}
	if !holds {
		x.State, x.Got = Failed, clip(got, maxShown)
	}
	c.reply.Checks = append(c.reply.Checks, x)
}

// check compares a reply with the expectations, except for Judge.
func (e *Expect) check(t *TurnResult) {
	c := checker{t}
	text := fold(t.Text)
	if e.Text != "" {
		c.that(text == fold(e.Text), "text", e.Text, t.Text)
	}
	for _, want := range e.Contains {
		c.that(strings.Contains(text, fold(want)), "contains", want, t.Text)
	}
	for _, want := range e.Lacks {
		c.that(!strings.Contains(text, fold(want)), "lacks", want, t.Text)
	}
	if e.Article != "" {
		c.that(t.from(e.Article), "article", e.Article, listed(t.Sources))
	}
	if e.Outcome != "" {
		c.that(string(t.Outcome) == e.Outcome, "outcome", e.Outcome, orNone(string(t.Outcome)))
	}
	for _, want := range e.Offers {
		c.that(t.offers(want), "offers", want, listed(t.Choices))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Sets)) {
		value, found := t.set(name)
		c.that(found && fold(value) == fold(e.Sets[name]), "sets", name+": "+e.Sets[name], t.sets())
	}
	for _, want := range e.Calls {
		c.that(slices.ContainsFunc(t.Calls, want.made), "calls", want.String(), t.calls())
	}
	if e.Asks != "" {
		c.that(t.Asks == e.Asks, "asks", e.Asks, orNone(t.Asks))
	}
	if e.Handoff != nil {
		c.that(t.Handoff == *e.Handoff, "handoff", strconv.FormatBool(*e.Handoff), strconv.FormatBool(t.Handoff))
	}
	if e.Ends != nil {
		c.that(t.Ends == *e.Ends, "ends", strconv.FormatBool(*e.Ends), strconv.FormatBool(t.Ends))
	}
	if e.Not != nil {
		e.Not.check(t)
	}
}

func (n *Not) check(t *TurnResult) {
	c := checker{t}
	if n.Text != "" {
		c.that(fold(t.Text) != fold(n.Text), "not.text", n.Text, t.Text)
	}
	if n.Article != "" {
		c.that(!t.from(n.Article), "not.article", n.Article, listed(t.Sources))
	}
	if n.Outcome != "" {
		c.that(string(t.Outcome) != n.Outcome, "not.outcome", n.Outcome, string(t.Outcome))
	}
	for _, choice := range n.Offers {
		c.that(!t.offers(choice), "not.offers", choice, listed(t.Choices))
	}
	for _, name := range n.Sets {
		_, found := t.set(name)
		c.that(!found, "not.sets", name, t.sets())
	}
	for _, tool := range n.Calls {
		c.that(!slices.ContainsFunc(t.Calls, Call{Tool: tool}.made), "not.calls", tool, t.calls())
	}
	if n.Asks != "" {
		c.that(t.Asks != n.Asks, "not.asks", n.Asks, t.Asks)
	}
}

// from reports whether an article, or a section of it, is a source of the reply.
func (t *TurnResult) from(article string) bool {
	return slices.ContainsFunc(t.Sources, func(title string) bool {
		return fold(title) == fold(article) || strings.HasPrefix(fold(title), fold(article)+" – ")
	})
}

// offers reports whether a text is one of the choices. A choice that names a section also offers its article.
func (t *TurnResult) offers(choice string) bool {
	return slices.ContainsFunc(t.Choices, func(c string) bool {
		return fold(c) == fold(choice) || strings.HasPrefix(fold(c), fold(choice)+" – ")
	})
}

func (t *TurnResult) set(name string) (value string, found bool) {
	for _, s := range t.Sets {
		if s.Name == name {
			value, found = s.Value, true
		}
	}
	return value, found
}

func (t *TurnResult) sets() string {
	var all []string
	for _, s := range t.Sets {
		all = append(all, s.Name+": "+s.Value)
	}
	return listed(all)
}

func (t *TurnResult) calls() string {
	var all []string
	for _, c := range t.Calls {
		all = append(all, Call(c).String())
	}
	return listed(all)
}

// String formats a call as tool(arguments).
func (x Call) String() string {
	if len(x.Arguments) == 0 {
		return x.Tool
	}
	return x.Tool + " " + string(x.Arguments)
}

// made reports whether a call is of the tool and has the arguments.
func (x Call) made(call Called) bool {
	if call.Tool != x.Tool {
		return false
	}
	if len(x.Arguments) == 0 {
		return true
	}
	want, got := object(x.Arguments), object(call.Arguments)
	for name, value := range want {
		if has, found := got[name]; !found || !reflect.DeepEqual(has, value) {
			return false
		}
	}
	return want != nil
}

// object decodes a JSON object. Numbers are compared by value: 2 and 2.0 are equal.
func object(text json.RawMessage) map[string]any {
	var all map[string]any
	if json.NewDecoder(bytes.NewReader(text)).Decode(&all) != nil {
		return nil
	}
	return all
}

func listed(all []string) string { return orNone(strings.Join(all, " | ")) }

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
