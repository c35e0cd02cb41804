package flow

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	v := Values{"received": "no", "total": "12.5", "code": "5", "name": "Ana Díaz", "empty": "", "plan": "pro"}
	for text, want := range map[string]bool{
		"received == 'no'":                      true,
		`received == "yes"`:                     false,
		"received != 'no'":                      false,
		"total > 12":                            true,
		"total >= 12.5 and total < 13":          true,
		"total == 12.5":                         true,
		"12 < total":                            true,
		"code == '5'":                           true,
		"code == 5":                             true,
		"code != 6":                             true,
		"code < total":                          true,
		"total + 1 > 13":                        true,
		"missing == 'x'":                        false,
		"missing > 3":                           false,
		"name > 3":                              false,
		"not (received == 'yes')":               true,
		"plan in ['free', 'pro']":               true,
		"name contains 'Ana'":                   true,
		"name startsWith 'Ana' && code == '5'":  true,
		"empty == ''":                           true,
		"received == 'yes' || received == 'no'": true,
		"received == 'no' ? true : false":       true,
		`name != 'it\'s'`:                       true,
		"not (name contains 'x')":               true,
		"missing == ''":                         true,
		"name != ''":                            true,
		"missing != '' or missing contains 'x'": false,
	} {
		p, err := compile(text, maxPatterns)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := v.holds(p); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "received", "received ==", "len(received) > 3", "1 + 1", "received = 'no'", "all([1], # > 0)", "now() > 3",
		"received == 'a' or",
	} {
		if _, err := compile(text, maxPatterns); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestResponsesToQuestions(t *testing.T) {
	choices := []string{"Sí", "No", "Más tarde"}
	for _, c := range []struct {
		step    Step
		text    string
		want    string
		refused bool
	}{
		{step: Step{Choices: choices}, text: "si", want: "Sí"},
		{step: Step{Choices: choices}, text: " MÁS TARDE!", want: "Más tarde"},
		{step: Step{Choices: choices}, text: "2", want: "No"},
		{step: Step{Choices: choices}, text: "4", refused: true},
		{step: Step{Choices: choices}, text: "pues mas tarde mejor", want: "Más tarde"},
		{step: Step{Choices: choices}, text: "si o no", refused: true},
		{step: Step{Choices: choices}, text: "nothing", refused: true},
		{step: Step{}, text: " what ever ", want: "what ever"},
		{step: Step{}, text: "  ", refused: true},
		{step: Step{Accept: "number"}, text: "1.234,5", want: "1234.5"},
		{step: Step{Accept: "number"}, text: "1,234.5", want: "1234.5"},
		{step: Step{Accept: "number"}, text: "3,5", want: "3.5"},
		{step: Step{Accept: "number"}, text: "-7", want: "-7"},
		{step: Step{Accept: "number"}, text: "several", refused: true},
		{step: Step{Accept: "number"}, text: "Twenty-five.", want: "25"},
		{step: Step{Accept: "number"}, text: "treinta y dos", want: "32"},
		{step: Step{Accept: "number"}, text: "vinte e um", want: "21"},
		{step: Step{Accept: "number"}, text: "two twenty", refused: true},
		{step: Step{Accept: "yes_no"}, text: "Yes, please.", want: "yes"},
		{step: Step{Accept: "yes_no"}, text: "no, gracias", want: "no"},
		{step: Step{Choices: choices}, text: "Two.", want: "No"},
		{step: Step{Choices: choices}, text: "diez", refused: true},
		{step: Step{Accept: "number"}, text: "NaN", refused: true},
		{step: Step{Accept: "number"}, text: "1e99", refused: true},
		{step: Step{Accept: "email"}, text: "ana@acme.test", want: "ana@acme.test"},
		{step: Step{Accept: "email"}, text: "Ana <ana@acme.test>", refused: true},
		{step: Step{Accept: "email"}, text: "ana@acme", refused: true},
		{step: Step{Accept: "phone"}, text: "+34 600 11 22 33", want: "34600112233"},
		{step: Step{Accept: "phone"}, text: "600", refused: true},
		{step: Step{Accept: "phone"}, text: "call me 600112233", refused: true},
		{step: Step{Accept: "date"}, text: "24/12/2026", want: "2026-12-24"},
		{step: Step{Accept: "date"}, text: "2026-02-30", refused: true},
		{step: Step{Accept: "yes_no"}, text: "¡Claro!", want: "yes"},
		{step: Step{Accept: "yes_no"}, text: "Não", want: "no"},
		{step: Step{Accept: "yes_no"}, text: "perhaps", refused: true},
	} {
		if got, ok := c.step.read(c.text); ok == c.refused || got != c.want && ok {
			t.Errorf("%+v %q: %q, %v", c.step, c.text, got, ok)
		}
	}
}

func TestFill(t *testing.T) {
	v := Values{"name": "Ana", "x": "{{name}}"}
	for text, want := range map[string]string{
		"Hola {{name}}, ¿qué tal?": "Hola Ana, ¿qué tal?", "Hola {{ name }}": "Hola Ana", "Hola {{other}}, ¿qué tal?": "Hola, ¿qué tal?",
		"{{x}}": "{{name}}", "open {{name": "open {{name", "no place": "no place",
	} {
		if got := v.Fill(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// hostileTexts are messages that try to break out of a request that a flow fills in.
var hostileTexts = []string{
	"..", ".", "../../admin", "..%2f..%2fadmin", "/../admin", "?admin=1", "#x", "&a=b", "x\r\nX-Admin: 1", "x\nHost: evil.test",
	"@evil.test/", "//evil.test", `\..\`,
	"a b+c%", `"}, "admin": true, {"`, "\x00", "\u202e", "é", strings.Repeat("x", 4000), "{{secret}}",
}

// Text of a contact changes neither the target of a request nor its headers or the form of its body.
func TestHostileTextsStayValuesInRequests(t *testing.T) {
	for _, hostile := range hostileTexts {
		v := Values{"x": hostile, "secret": "swordfish"}
		for template, prefix := range map[string]string{
			"https://api.test/orders/{{x}}": "/orders/", "https://api.test/orders/{{x}}/items?q={{x}}": "/orders/",
			"https://api.test/a?q={{x}}&z=1": "/a",
			"https://api.test/{{x}}{{x}}/b":  "/",
		} {
			r, err := http.NewRequest(http.MethodGet, v.fillURL(template), nil)
			if err != nil {
				t.Errorf("%q in %s: %v", hostile, template, err)
				continue
			}
			u := r.URL
			if u.Host != "api.test" || u.User != nil || u.Fragment != "" || !strings.HasPrefix(u.EscapedPath(), prefix) ||
				strings.Count(u.EscapedPath(), "/") != strings.Count(template[len("https://"):], "/") || climbs(u.EscapedPath()) {
				t.Errorf("%q makes of %s the address %s", hostile, template, u)
			}
			if q := u.Query(); strings.Contains(template, "q=") &&
				(q.Get("q") != hostile || q.Has("admin") || q.Has("a") || strings.Contains(template, "z=1") && q.Get("z") != "1") {
				t.Errorf("%q makes of %s the query %v", hostile, template, q)
			}
		}
		headers := v.fillHeaders(map[string]string{"X-Said": "v {{x}}"})
		if value := headers["X-Said"]; strings.ContainsAny(value, "\r\n\x00") || len(headers) != 1 || !strings.HasPrefix(value, "v") {
			t.Errorf("%q makes the header %q", hostile, value)
		}
		var body map[string]string
		if err := json.Unmarshal([]byte(v.fillBody(`{"said": "{{x}}"}`, nil)), &body); err != nil || len(body) != 1 ||
			body["said"] != hostile {
			t.Errorf("%q makes the body %v, %v", hostile, body, err)
		}
		r, err := http.NewRequest(http.MethodPost, "https://api.test/",
			strings.NewReader(v.fillBody("said={{x}}&z=1",
				map[string]string{"content-type": "Application/x-www-form-urlencoded; charset=utf-8"})))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if err := r.ParseForm(); err != nil || len(r.PostForm) != 2 || r.PostForm.Get("said") != hostile || r.PostForm.Get("z") != "1" {
			t.Errorf("%q makes the form %v, %v", hostile, r.PostForm, err)
		}
	}
}

// A flow may repeat a long value as often as its text allows: the filled-in text is limited, and a stored value is
// truncated at once.
func TestTextsAreBoundedOnceTheyAreFilledIn(t *testing.T) {
	v := Values{"a": strings.Repeat("ñ", maxValue/2)}
	for _, got := range []string{
		v.Fill(strings.Repeat("{{a}}", 10_000)), v.fillBody("{"+strings.Repeat("{{a}}", 10_000), nil),
		v.fillURL("https://a.test/" + strings.Repeat("{{a}}", 10_000)),
	} {
		if n := len(got); n < MaxFilled || n > MaxFilled+6*maxValue {
			t.Error(n)
		}
	}
	w := begin(t, `[{"set": {"b": "`+strings.Repeat("{{a}}", 700)+`"}}]`, v)
	if n := len(w.run.Values["b"]); n != maxValue {
		t.Error(n)
	}
}
