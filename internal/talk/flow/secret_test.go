package flow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
)

// keyed uses secrets in all places that accept them.
const keyed = `[{"http": {"method": "POST", "url": "https://shop.test/{{order}}?key={{secret.query}}&q={{order}}",
	"headers": {"Authorization": "Bearer {{ secret.token }}"},
	"body": "{\"key\": \"{{secret.body}}\", \"said\": \"{{said}}\"}"}}]`

func TestSecretsStandWhereServersAloneReadThem(t *testing.T) {
	if err := parsed(t, keyed).Validate(); err != nil {
		t.Error(err)
	}
	for steps, field := range map[string]string{
		`[{"say": "{{secret.token}}"}]`:                               "steps.0.say",
		`[{"handoff": "{{secret.token}}"}]`:                           "steps.0.handoff",
		`[{"ask": "a", "retry": "{{secret.token}}"}]`:                 "steps.0.retry",
		`[{"set": {"a": "{{secret.token}}"}}]`:                        "steps.0.set.a",
		`[{"if": "secret.token == 'a'"}]`:                             "steps.0.if",
		`[{"if": "'{{secret.token}}' == a"}, {"say": "{{secret.}}"}]`: "steps.1.say",
		`[{"send_template": {"name": "a", "language": "b", ` +
			`"variables": {"body_text_0": "{{secret.token}}"}}}]`: "steps.0.send_template.variables.body_text_0",
		`[{"http": {"url": "https://{{secret.token}}/"}}]`:                          "steps.0.http.url",
		`[{"http": {"url": "https://a.test/{{secret.token}}?a"}}]`:                  "steps.0.http.url",
		`[{"http": {"url": "https://a.test/?a={{secret.a b}}"}}]`:                   "steps.0.http.url",
		`[{"http": {"url": "https://a.test/", "save": {"a": "{{secret.token}}"}}}]`: "steps.0.http.save.a",
	} {
		if err := parsed(t, steps).Validate(); err == nil || !strings.Contains(err.Error(), "("+field+")") {
			t.Errorf("%s: %v", steps, err)
		}
	}
}

func TestARequestHasItsSecretsOnlyWhereItIsSent(t *testing.T) {
	const hostile = `{{secret.token}} "}`
	p, err := Compile(parsed(t, keyed))
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{State: Ready, Values: Values{"order": "7", "said": hostile}}
	o := p.Advance(r, words, r.Due)
	shown, err := json.Marshal([]any{o, p.Effect(r), r})
	if err != nil || strings.Count(string(shown), secret.Hidden) != 6 {
		t.Errorf("%s, %v", shown, err)
	}
	e := p.Effect(r)
	if got := fmt.Sprint(e.Secrets()); got != "[body query token]" {
		t.Error(got)
	}
	h := e.Request(map[string]string{"query": "a b&c", "token": "t-1\r\nX: 1", "body": `b"1`})
	if h.URL != "https://shop.test/7?key=a%20b%26c&q=7" || h.Headers["Authorization"] != "Bearer t-1  X: 1" {
		t.Errorf("%+v", h)
	}
	var body map[string]string
	if err := json.Unmarshal([]byte(h.Body), &body); err != nil || body["key"] != `b"1` || body["said"] != hostile {
		t.Error(h.Body, err)
	}
	if e.HTTP.URL != "https://shop.test/7?key="+secret.Hidden+"&q=7" {
		t.Error("what is shown has become:", e.HTTP.URL)
	}
}

func TestAFlowRefersToItsSecretsByFieldAndHost(t *testing.T) {
	f := parsed(t, `[{"if": "a == 'b'", "then": [`+keyed[1:len(keyed)-1]+`]}, `+keyed[1:])
	got := map[string]string{}
	var all []resource.Reference
	for _, r := range f.References() {
		if r.Kind == secretKind {
			got[r.Field] = *r.To
			all = append(all, r)
		}
	}
	if len(got) != 6 || got["steps.0.then.0.http.headers.Authorization"] != "token" || got["steps.1.http.url"] != "query" ||
		got["steps.1.http.body"] != "body" {
		t.Error(got)
	}
	for hosts, admitted := range map[string]bool{
		`["shop.test"]`: true, `["other.test", "shop.test"]`: true, `["api.shop.test"]`: false, `["test"]`: false,
	} {
		for _, r := range all {
			if why := r.Check([]byte(`{"name": "token", "hosts": ` + hosts + `}`)); (why == "") != admitted {
				t.Errorf("%s: %q", hosts, why)
			}
		}
	}
	h, _ := f.Head().(*Head)
	if fmt.Sprint(h.Secrets) != "[body query token]" || h.Steps != 2 || h.Digest == "" {
		t.Errorf("%+v", h)
	}
}

func TestWhatRequestsTellServersIsHiddenAsAWhole(t *testing.T) {
	f := parsed(t, `[{"if": "a == 'b'", "else": [{"http": {"method": "POST", "url": "https://shop.test/a?key=plain-1", "headers": `+
		`{"X-Key": "plain-2"}, "body": "plain-3"}}]}, {"http": {"url": "https://shop.test/b"}}]`)
	if !f.HideRequests() {
		t.Error("there is nothing to hide")
	}
	text, _, err := f.Document()
	if err != nil || strings.Contains(text, "plain-") || strings.Count(text, secret.Hidden) != 3 ||
		!strings.Contains(text, "https://shop.test/a?") {
		t.Error(text, err)
	}
	if parsed(t, `[{"http": {"url": "https://shop.test/b"}}]`).HideRequests() {
		t.Error("something is hidden of a request without any")
	}
}
