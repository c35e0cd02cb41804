package flow

import (
	"encoding/json"
	"strings"
	"testing"
)

func laidOut(t *testing.T, trigger Trigger, steps string) *Flow {
	t.Helper()
	f := &Flow{Name: "test", Trigger: trigger}
	if err := json.Unmarshal([]byte(steps), &f.Steps); err != nil {
		t.Fatal(err)
	}
	return f
}

// wants fails unless an error is of exactly one field, or nil if the field is empty.
func wants(t *testing.T, what string, err error, field string) {
	t.Helper()
	text := ""
	if err != nil {
		text = err.Error()
	}
	if field == "" && err != nil || field != "" && (strings.Count(text, "(") != 1 || !strings.Contains(text, "("+field+")")) {
		t.Errorf("%s: %v, not %q", what, err, field)
	}
}

func TestEveryPathAsksSomething(t *testing.T) {
	for _, c := range []struct{ steps, want string }{
		{`[{"ask":"x","question":"Which?"}]`, ""},
		{`[{"say":"Which?"},{"ask":"x"}]`, ""},
		{`[{"say":"Which?"},{"set":{"a":"1"}},{"wait":"1h"},{"ask":"x"}]`, ""},
		{`[{"ask":"x"}]`, "steps.0.question"},
		{`[{"ask":"x","question":"  "}]`, "steps.0.question"},
		{`[{"ask":"x","question":"Which?"},{"ask":"y"}]`, "steps.1.question"},
		{`[{"say":"Which?"},{"ask":"x"},{"ask":"y","choices":["1","2"]}]`, "steps.2.question"},
		{`[{"if":"channel == 'a'","then":[{"say":"Which?"}]},{"ask":"x"}]`, "steps.1.question"},
		{`[{"if":"channel == 'a'","then":[{"ask":"x"}]}]`, "steps.0.then.0.question"},
		{`[{"if":"channel == 'a'","then":[{"say":"A?"}],"else":[{"say":"B?"}]},{"ask":"x"}]`, ""},
		{`[{"if":"channel == 'a'","then":[{"say":"A?"}],"else":[{"end":true}]},{"ask":"x"}]`, ""},
		{`[{"if":"channel == 'a'","then":[{"say":"A?"},{"goto":"q"}],"else":[{"handoff":"b"}]},{"end":true},{"id":"q","ask":"x"}]`, ""},
		{`[{"say":"Which?"},{"id":"q","ask":"x"},{"if":"x == '1'","then":[{"goto":"q"}]}]`, "steps.1.question"},
		{`[{"id":"q","say":"Which?"},{"ask":"x"},{"if":"x == '1'","then":[{"goto":"q"}]}]`, ""},
		{`[{"end":true},{"ask":"x"}]`, ""}, // nothing leads there
	} {
		steps, want := c.steps, c.want
		f := laidOut(t, Trigger{}, steps)
		if err := f.Validate(); strings.Contains(steps, `"  "`) { // it is blank, too
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", steps, err)
			}
		} else {
			wants(t, steps, err, want)
		}
	}
	wants(t, "a step without ask", laidOut(t, Trigger{}, `[{"say":"a","question":"b"}]`).Validate(), "steps.0.question")
}

func TestNoPathSaysNothing(t *testing.T) {
	const vip = `{"if":"channel == 'a'","then":[{"set":{"a":"1"}}]},`
	for _, c := range []struct{ steps, want string }{
		{`[{"say":"{{a}}"}]`, "steps.0.say"},
		{`[{"say":" {{ a }} {{b}} "}]`, "steps.0.say"},
		{`[{"say":"{{a}} {{first_name}}"}]`, ""},
		{`[{"say":"Hello {{a}}"}]`, ""},
		{`[{"handoff":"{{a}}"}]`, "steps.0.handoff"},
		{`[{"ask":"x","question":"{{a}}"}]`, "steps.0.question"},
		{`[{"ask":"x","question":"A?","retry":"{{b}}"}]`, "steps.0.retry"},
		{`[{"ask":"a","question":"A?"},{"say":"{{a}}"}]`, ""},
		{`[{"set":{"a":""}},{"say":"{{a}}"}]`, "steps.1.say"},
		{`[` + vip + `{"say":"{{a}}"}]`, "steps.1.say"},
		{`[` + vip + `{"say":"{{a}} {{a}}"},{"set":{"a":"1"}},{"say":"{{a}}"}]`, "steps.1.say"},
		{`[{"if":"channel == 'a'","then":[{"set":{"a":"1"}}],"else":[{"set":{"b":"1"}}]},{"say":"{{a}}{{b}}"}]`, ""},
		{`[{"http":{"url":"https://a.com","save":{"a":"x"},"status":"b"}},{"say":"{{a}}"},{"say":"{{b}}"}]`, ""},
		{
			`[{"send_template":{"name":"a","language":"en","variables":{"body_text_0":"{{a}}"}}}]`,
			"steps.0.send_template.variables.body_text_0",
		},
		{
			`[{"send_template":{"name":"a","language":"en","variables":{"body_text_0":" "}}}]`,
			"steps.0.send_template.variables.body_text_0",
		},
		{`[{"send_template":{"name":"a","language":"en","variables":{"body_text_0":"{{first_name}}"}}}]`, ""},
		{
			`[{"id":"s","say":"Hi"},{"if":"channel == 'a'","then":[{"set":{"a":"1"}},{"goto":"t"}]},{"end":true},{"id":"t","say":"{{a}}"}]`,
			"",
		},
	} {
		steps, want := c.steps, c.want
		wants(t, steps, laidOut(t, Trigger{}, steps).Validate(), want)
	}
	// The notification's contact may have the field.
	wants(t, "an event", laidOut(t, Trigger{Event: "order"}, `[{"say":"{{order}}"}]`).Validate(), "")
}

func TestVariablesThatNothingSetsAreWarnedOf(t *testing.T) {
	for _, c := range []struct{ steps, want string }{
		{`[{"say":"Hello {{nmae}}"}]`, "steps.0.say"},
		{`[{"say":"Hello {{name}}"}]`, ""},
		{`[{"ask":"x","question":"X?"},{"if":"x == yes"}]`, "steps.1.if"},
		{`[{"ask":"x","question":"X?"},{"if":"x == 'yes' and not (x in ['a'])"}]`, ""},
		{`[{"set":{"a":"{{b}}"}}]`, "steps.0.set.a"},
		{`[{"if":"channel == ("}]`, ""}, // an error
	} {
		steps, want := c.steps, c.want
		wants(t, steps, laidOut(t, Trigger{}, steps).Warnings(), want)
	}
	wants(t, "an event", laidOut(t, Trigger{Event: "order"}, `[{"say":"Order {{order}}"}]`).Warnings(), "")
}

func TestAnInvalidConditionIsCorrected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"choice is refund", "choice == 'refund'"},
		{"choice is not 'a refund'", "choice != 'a refund'"},
		{"choice = \"refund\"", "choice == 'refund'"},
		{"choice", "choice == 'yes'"},
		{"choice ==", "choice == 'yes'"},
		{"total >", "total > 10"},
		{"total => 5 and city = Lugo", "total >= 5 and city == 'Lugo'"},
		{"city es Lugo OR city es Vigo", "city == 'Lugo' or city == 'Vigo'"},
		{"name contains Ana Díaz", "name contains 'Ana Díaz'"},
		{"len(choice) > 3", "received == 'no'"},
		{"received == 'a' or", "received == 'no'"},
		{"x = " + strings.Repeat("y", 4000), "received == 'no'"},
		{"??", "received == 'no'"},
	} {
		text, want := c.text, c.want
		err := laidOut(t, Trigger{}, `[{"if":`+quoted(text)+`}]`).Validate()
		if got := reasons(err)["steps.0.if"]; got != "This isn't a valid condition. Write "+want+"." {
			t.Errorf("%s: %q, not %s", text, got, want)
		}
		if _, err := compile(want, maxPatterns); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
