package flow

import (
	"encoding/json"
	"strings"
	"testing"
)

// Flows that could not run as written are rejected with the path of the field.
func TestFaultsOfFlowsNameTheirField(t *testing.T) {
	for steps, want := range map[string]string{
		`[]`:                         "steps",
		`[{"say":"a"},{"set":{}}]`:   "steps.1.set",
		`[{"say":"Hello {{name"}]`:   "steps.0.say",
		`[{"say":"Hello {{a b}}"}]`:  "steps.0.say",
		`[{"set":{"a":"{{}}"}}]`:     "steps.0.set.a",
		`[{"handoff":"{{ order }"}]`: "steps.0.handoff",
		`[{"if":"a == 'b'","else":[{"ask":"x","retry":"{{"}]}]`:      "steps.0.else.0.retry",
		`[{"http":{"url":"https:///orders"}}]`:                       "steps.0.http.url",
		`[{"http":{"url":"https://exa mple.com/"}}]`:                 "steps.0.http.url",
		`[{"http":{"url":"https://example.com/{{id}"}}]`:             "steps.0.http.url",
		`[{"http":{"url":"https://a.com","headers":{"X Key":"1"}}}]`: "steps.0.http.headers.X Key",
		`[{"http":{"url":"https://a.com","headers":{"host":"b"}}}]`:  "steps.0.http.headers.host",
		`[{"http":{"url":"https://a.com","save":{"x":""}}}]`:         "steps.0.http.save.x",
		`[{"http":{"method":"POST","url":"https://a.com:8443/a/{{ x }}?q={{y}}","body":"{\"a\":{\"b\":\"{{x}}\"}}",` +
			`"headers":{"Authorization":"Bearer {{x}}"},"save":{"x":"a.0"}}}]`: "",
		`[{"say":"{{ name }}, a } and a { and {a}"}]`: "",
	} {
		f := &Flow{Name: "test"}
		if err := json.Unmarshal([]byte(steps), &f.Steps); err != nil {
			t.Fatal(err)
		}
		switch err := f.Validate(); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", steps, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), "("+want+")")):
			t.Errorf("%s: %v, not %s", steps, err, want)
		}
	}
	for event, fits := range map[string]bool{strings.Repeat("é", 255): true, strings.Repeat("e", 256): false} {
		f := &Flow{Name: "test", Trigger: Trigger{Event: event}, Steps: []Step{{Say: "a"}}}
		if err := f.Validate(); (err == nil) != fits {
			t.Errorf("an event of %d bytes: %v", len(event), err)
		}
	}
}

// A flow stored with an empty step continues after it.
func TestAStepThatIsNothingIsLeftOut(t *testing.T) {
	p, err := Compile(&Flow{Name: "test", Steps: []Step{{Say: "a"}, {}, {Say: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{t: t, p: p, run: Run{State: Ready, Values: Values{}}}
	w.took(p.Advance(&w.run, words, w.now))
	w.expect(Completed, "say a", "say b")
}
