package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"carillon"
)

// parsed returns a flow with these steps, without validation.
func parsed(t *testing.T, steps string) *Flow {
	t.Helper()
	f := &Flow{Name: "test"}
	if err := json.Unmarshal([]byte(steps), &f.Steps); err != nil {
		t.Fatal(err)
	}
	return f
}

// stored begins a run of a flow that an earlier version stored without today's limits.
func stored(t *testing.T, steps string, values Values) (*Run, *Outcome) {
	t.Helper()
	p, err := Compile(parsed(t, steps))
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{State: Ready, Values: values}
	return r, p.Advance(r, words, r.Due)
}

// reasons returns the reasons of validation errors, by field.
func reasons(err error) map[string]string {
	all := map[string]string{}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if e, ok := errors.AsType[*carillon.Error](err); ok {
				field, _ := e.Details.Find("field").(string)
				all[field], _ = e.Details.Find("reason").(string)
			}
		}
	}
	return all
}

// largePattern has about 900 instructions, close to the maximum.
const largePattern = "([a-z]{30}){29}"

func TestSizesOfPatternsAreCountedBeforeTheyAreMade(t *testing.T) {
	for pattern, large := range map[string]bool{
		"^[0-9]{7,15}$": false, "(?i)yes|no": false, largePattern: false, `^[^@\s]{1,64}@([a-z0-9-]{1,63}\.)+[a-z]{2,24}$`: false,
		"": false, "x{0}": false,
		"a{1000}": false, "a{1000}b": true, "(a{500}){2}": true, "(ab{499}){2,}": true, strings.Repeat(".{900}", 5): true,
		"((a{10}){10}){10}":       true,
		strings.Repeat("a", 1000): false, strings.Repeat("a", 1001): true, "(" + strings.Repeat("a?", 450) + ")": false,
		"[" + strings.Repeat("é", 600) + "]": true,
	} {
		if n, err := patternSize(pattern); (err != nil) != large || !large && n > maxProgram {
			t.Errorf("%.40q: %d, %v", pattern, n, err)
		}
	}
}

func TestAPatternThatIsTooLargeIsRefusedWhereItIsSaved(t *testing.T) {
	for condition, want := range map[string]string{
		"x matches '" + largePattern + "'":                                  "",
		"x matches 'a{1000}a'":                                              "1000 instructions",
		"not (y == '1' or x matches '(.{500}){2}')":                         "1000 instructions",
		"x matches '" + strings.Repeat("a", 1001) + "'":                     "1000 bytes",
		"x matches '('":                                                     "not a regular expression",
		"x matches 'a' and x matches 'b' and x matches '(c{300}d{300}){2}'": "1000 instructions",
	} {
		f := parsed(t, `[{"say": "a"}]`)
		f.Steps = append(f.Steps, Step{If: condition})
		err := f.Validate()
		if got := reasons(err); want == "" && err != nil || want != "" && (len(got) != 1 || !strings.Contains(got["steps.1.if"], want)) {
			t.Errorf("%.60s: %v", condition, got)
		}
	}
	many := parsed(t, `[{"say": "a"}]`)
	for range 23 {
		many.Steps = append(many.Steps, Step{If: "x matches '" + largePattern + "'"})
	}
	if got := reasons(many.Validate()); len(got) != 2 || !strings.Contains(got["steps.22.if"], "All patterns of a flow") {
		t.Error("the patterns of a flow together:", got)
	}
}

func TestOfAFlowWithTooManyStepsNoMoreIsChecked(t *testing.T) {
	f := parsed(t, `[{"say": "a"}]`)
	for range maxSteps {
		f.Steps = append(f.Steps, Step{If: "no condition"})
	}
	if got := reasons(f.Validate()); len(got) != 1 || got["steps"] == "" {
		t.Error(got)
	}
}

func TestARunWithAPatternThatIsTooLargeFailsAndSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		steps  string
		values Values
		want   string
	}{
		"stored":       {`[{"if": "x matches 'a{600}b{600}'"}]`, nil, "1000 instructions"},
		"a variable":   {`[{"if": "x matches p"}]`, Values{"x": "aaa", "p": "a{1000}a"}, "1000 instructions"},
		"put together": {`[{"if": "x matches '(a{600})' + '(b{600})'"}]`, Values{"x": "aaa"}, "1000 instructions"},
		"chosen":       {`[{"if": "x matches (x == 'aaa' ? '(a{600}b{600})' : 'c')"}]`, Values{"x": "aaa"}, "1000 instructions"},
		"no pattern":   {`[{"if": "x matches p"}]`, Values{"x": "aaa", "p": "("}, "not a regular expression"},
	} {
		r, o := stored(t, c.steps, c.values)
		if r.State != Failed || !strings.HasPrefix(r.Error, "steps.0: The condition cannot be evaluated") ||
			!strings.Contains(r.Error, c.want) || o.Log[len(o.Log)-1].Kind != "failed" {
			t.Errorf("%s: %s %q", name, r.State, r.Error)
		}
	}
	r, _ := stored(t, `[{"if": "x matches p and not (x matches none)", "then": [{"say": "It fits"}]}]`, Values{"x": "aaa", "p": "^a{1,3}$"})
	if r.State != Completed {
		t.Error("a small pattern of a variable:", r.State, r.Error)
	}
}

// Work is counted, not timed: the same run fails at the same step on any machine.
func TestARunFailsWhereItWorksTooMuch(t *testing.T) {
	long := strings.Repeat("a", maxValue)
	matches := `{"if": "x matches '` + largePattern + `'"}`
	r, o := stored(t, "["+matches+","+matches+","+matches+"]", Values{"x": long})
	if r.State != Failed || r.Error != "steps.1: "+errWork.Error() || o.Work <= MaxWork {
		t.Errorf("%s %q after %d", r.State, r.Error, o.Work)
	}
	r, o = stored(t, "["+strings.Repeat(matches+",", 20)+matches+"]", Values{"x": "ana@example.com"})
	if r.State != Completed || o.Work > MaxWork {
		t.Errorf("of a short text: %s %q after %d", r.State, r.Error, o.Work)
	}
	// A pattern computed at run time counts as the largest one.
	r, _ = stored(t, `[{"if": "x matches p"}, {"if": "x matches p"}]`, Values{"x": long, "p": "b"})
	if r.State != Failed || !strings.HasPrefix(r.Error, "steps.1: ") {
		t.Errorf("of a variable: %s %q", r.State, r.Error)
	}
	// After a response the count starts at zero.
	p, err := Compile(parsed(t, `[{"if": "x matches '`+largePattern+`'"}, {"ask": "y"}, {"if": "x matches '`+largePattern+`'"}]`))
	if err != nil {
		t.Fatal(err)
	}
	r = &Run{State: Ready, Values: Values{"x": long}}
	p.Advance(r, words, r.Due)
	if p.Respond(r, "go on", words, r.Due); r.State != Completed {
		t.Errorf("after a response: %s %q", r.State, r.Error)
	}
}

func TestTextsOfConditionsCountAsWork(t *testing.T) {
	c, err := compile("(x + x + x contains 'b') or y in [x, x] or (x == 'a' ? x : y) startsWith x", maxPatterns)
	if err != nil {
		t.Fatal(err)
	}
	small, large := c.work(Values{"x": "a"}), c.work(Values{"x": strings.Repeat("a", maxValue)})
	if large-small < 10*maxValue || large-small > 20*maxValue {
		t.Errorf("%d and %d", small, large)
	}
}

func TestValuesThatDoubleThemselvesStayWithinBounds(t *testing.T) {
	w := begin(t, `[{"id": "again", "set": {"a": "{{a}}{{a}}", "b": "{{b}}{{a}}{{b}}"}}, {"goto": "again"}]`, Values{"a": "ab", "b": "c"})
	if w.run.State != Failed || len(w.run.Values["a"]) != maxValue || len(w.run.Values["b"]) > maxValue {
		t.Errorf("%s: %d, %d bytes", w.run.State, len(w.run.Values["a"]), len(w.run.Values["b"]))
	}
	set := make([]string, maxFields)
	for i := range set {
		set[i] = fmt.Sprintf(`"v%02d": "%s"`, i, strings.Repeat("{{a}}", 700))
	}
	r, o := stored(t, `[{"set": {`+strings.Join(set, ",")+`}}]`, Values{"a": strings.Repeat("a", maxValue)})
	if r.State != Completed || o.Work > 2*maxFields*maxValue {
		t.Errorf("%s %q after %d", r.State, r.Error, o.Work)
	}
}

func TestTheVariablesOfARunAreBoundedTogether(t *testing.T) {
	v := Values{}
	for i := range maxVariables {
		v.Put(fmt.Sprintf("v%d", i), strings.Repeat("x", maxValue))
	}
	if n := v.size(); n > maxValues || n < maxValues-maxValue-10 {
		t.Errorf("%d bytes", n)
	}
	v.Put("v0", "shorter")
	if v.Put("v1", "z"); v["v0"] != "shorter" || v["v1"] != "z" {
		t.Errorf("%.20q, %.20q", v["v0"], v["v1"])
	}
}

func TestARequestsTextsCountAsWork(t *testing.T) {
	r, o := stored(t, `[{"http": {"method": "POST", "url": "https://a.test", "body": "`+strings.Repeat("{{a}}", 16)+`"}}]`,
		Values{"a": strings.Repeat("a", maxValue)})
	if r.State != Calling || o.Work != len("https://a.test")+16*maxValue {
		t.Error(r.State, o.Work)
	}
}

func TestAResponseOfMorePartsThanAFlowCouldWantIsRefused(t *testing.T) {
	for text, fits := range map[string]bool{
		`{"order": {"items": [{"name": "boat, [red]{"}]}}`:  true,
		"[" + strings.Repeat("1,", maxParts-2) + "1]":       true,
		"[" + strings.Repeat("1,", maxParts) + "1]":         false,
		"[" + strings.Repeat("{},", maxParts/2) + "{}]":     false,
		strings.Repeat("[", 100) + strings.Repeat("]", 100): true,
		strings.Repeat("[", 101) + strings.Repeat("]", 101): false,
		strings.Repeat(`{"a":`, 101):                        false,
		`"` + strings.Repeat(`,[`, maxParts) + `"`:          true,
		`"\"` + strings.Repeat(`,`, maxParts+1) + `"`:       true,
		`{"a"`: false,
	} {
		if x, err := Decode([]byte(text)); (err == nil) != fits {
			t.Errorf("%.30s: %v, %v", text, x, err)
		}
	}
	x, err := Decode([]byte(`{"order": {"items": [{"name": "boat", "price": 12345678901234567890}]}}`))
	if err != nil || Pick(x, "order.items.0.name") != "boat" || Pick(x, "order.items.0.price") != "12345678901234567890" ||
		Pick(x, strings.Repeat("order.", 600)) != "" {
		t.Error(x, err)
	}
}
