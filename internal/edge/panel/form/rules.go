package form

import (
	_ "embed" // the table of rules
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"carillon"
	"carillon/internal/edge/httpio"
)

// Rule is the rule behind an English reason: its stable name, and the values in the sentence. The panel makes its own sentence from
// them, in its language.
type Rule struct {
	Name   string            `json:"rule"`
	Values map[string]string `json:"values,omitempty"`
}

// ruleTable holds the rules with the reasons that express them. A {name} stands for a value.
//
//go:embed rules.json
var ruleTable []byte

// rules are the reasons without values by their text, and the patterns of the others.
type rules struct {
	exact    map[string]string
	patterns []rulePattern
}

type rulePattern struct {
	rule string
	form *regexp.Regexp
}

// The place of a value in a reason, as it is written and quoted. A reason with a placeholder such as {{order_id}} has no values.
var (
	ruleValue   = regexp.MustCompile(`\{(\w+)\}`)
	quotedValue = regexp.MustCompile(`\\\{(\w+)\\\}`)
)

// ofRecipient is the end of a reason that names one of several recipients.
var ofRecipient = regexp.MustCompile(`, for contacts\.\d+$`)

var known = sync.OnceValue(func() rules { //nolint:gochecknoglobals // read only
	var all []struct {
		Rule    string   `json:"rule"`
		Reasons []string `json:"reasons"`
	}
	if err := json.Unmarshal(ruleTable, &all); err != nil {
		panic("rules.json: " + err.Error()) // the file is embedded and covered by a test
	}
	x := rules{exact: map[string]string{}}
	for _, r := range all {
		for _, reason := range r.Reasons {
			if strings.Contains(reason, "{{") || !ruleValue.MatchString(reason) {
				x.exact[reason] = r.Rule
				continue
			}
			form := quotedValue.ReplaceAllString(regexp.QuoteMeta(reason), "(?P<$1>.+)")
			x.patterns = append(x.patterns, rulePattern{r.Rule, regexp.MustCompile("^(?s:" + form + ")$")})
		}
	}
	return x
})

// RuleOf returns the rule that a reason expresses, or nil if it is not in the table.
func RuleOf(reason string) *Rule {
	x := known()
	reason = ofRecipient.ReplaceAllString(reason, "")
	if name := x.exact[reason]; name != "" {
		return &Rule{Name: name}
	}
	for _, p := range x.patterns {
		if found := p.form.FindStringSubmatch(reason); found != nil {
			r := &Rule{p.rule, map[string]string{}}
			for i, name := range p.form.SubexpNames()[1:] {
				r.Values[name] = found[i+1]
			}
			return r
		}
	}
	return nil
}

// WithRules makes the errors of routes contain the rule in their details.
func WithRules(routes []httpio.Route) []httpio.Route {
	for i := range routes {
		handle := routes[i].Handle
		routes[i].Handle = func(w http.ResponseWriter, r *http.Request) error { return withRule(handle(w, r)) }
	}
	return routes
}

// withRule adds the rule to an error whose reason, or expected format, expresses one.
func withRule(err error) error {
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok {
		return err
	}
	reason, ok := e.Details.Find("reason").(string)
	if !ok {
		if reason, ok = e.Details.Find("expected_format").(string); !ok {
			return err
		}
	}
	rule := RuleOf(reason)
	if rule == nil || e.Details.Find("rule") != nil {
		return err
	}
	named := *e
	named.Details = append(slices.Clip(e.Details), carillon.Detail{Key: "rule", Value: rule.Name})
	if len(rule.Values) > 0 {
		named.Details = append(named.Details, carillon.Detail{Key: "values", Value: rule.Values})
	}
	return &named
}
