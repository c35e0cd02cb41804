package contract

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/reference/contract.md")

const (
	casesDir = "../../testdata/contract"
	pageFile = "../../docs/reference/contract.md"
)

func TestEveryRowHasACase(t *testing.T) {
	if _, _, err := Load(casesDir); err != nil {
		t.Error(err)
	}
}

func TestPageIsUpToDate(t *testing.T) {
	rows, files, err := Load(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	page := Page(rows, files)
	if *update {
		if err := os.WriteFile(pageFile, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(pageFile)
	if err != nil || string(written) != string(page) {
		t.Errorf("docs/reference/contract.md is stale (%v): go test ./e2e/contract -update", err)
	}
}

func TestLoadTellsWhatIsWrong(t *testing.T) {
	const row = `[{"id":"a","section":"s","cell":"c","says":"x"},{"id":"b","section":"s","cell":"c","says":"x"}]`
	step := `{"request":{"method":"GET","path":"x"},"response":{"status":200}}`
	file := func(cases string) string { return `{"about":"","bases":{},"cases":[` + cases + `]}` }
	tests := map[string]string{
		"row b has no case": file(`{"name":"n","rows":["a"],"steps":[` + step + `]}`),
		"unknown row z":     file(`{"name":"n","rows":["a","b","z"],"steps":[` + step + `]}`),
		"two cases are called": file(`{"name":"n","rows":["a"],"steps":[` + step + `]},{"name":"n","rows":["b"],"steps":[` +
			step + `]}`),
		"no step":                 file(`{"name":"n","rows":["a","b"],"steps":[]}`),
		"is not a request with":   file(`{"name":"n","rows":["a","b"],"steps":[{}]}`),
		"is not alone":            file(`{"name":"n","rows":["a","b"],"steps":[{"sql":"SELECT 1"}]}`),
		"there is no base nobody": file(`{"name":"n","rows":["a","b"],"steps":[{"request":{"base":"nobody"},"response":{"status":200}}]}`),
		"unknown field":           file(`{"name":"n","rwos":["a","b"],"steps":[` + step + `]}`),
	}
	for wrong, cases := range tests {
		dir := t.TempDir()
		for name, text := range map[string]string{"rows.json": row, "cases.json": cases} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("got %v, want a fault that says %q", err, wrong)
		}
	}
}

func TestMatchTellsWhatDiffers(t *testing.T) {
	tests := []struct{ want, got, fault string }{
		{`{"a":1,"b":"x"}`, `{"a":1,"b":"x"}`, ""},
		{`{"a":1,"b":"x"}`, `{"b":"x","a":1}`, "in this order"},
		{`{"a":1}`, `{"a":1,"c":2}`, "in this order"},
		{`{"a":1}`, `{"c":2}`, "the key a"},
		{`{"a":1}`, `{"a":"1"}`, "want 1"},
		{`{"a":null}`, `{"a":null}`, ""},
		{`{"a":null}`, `{"a":0}`, "want"},
		{`{"a?":1,"b":2}`, `{"b":2}`, ""},
		{`{"a?":1,"b":2}`, `{"a":3,"b":2}`, "a: want 1"},
		{`{"$some":{"b":2}}`, `{"a":1,"b":2}`, ""},
		{`{"$some":{"b":2}}`, `{"a":1}`, "the key b"},
		{`[1,"<string>"]`, `[1,"x"]`, ""},
		{`[1,"<string>"]`, `[1,""]`, "<string>"},
		{`[1]`, `[1,2]`, "a list of 1"},
		{`[]`, `{}`, "a list of 0"},
		{`{"$each":"<integer>","$has":[2]}`, `[1,2]`, ""},
		{`{"$each":"<integer>","$has":[3]}`, `[1,2]`, "an element like"},
		{`{"$each":"<integer>"}`, `[1,2.5]`, "<integer>"},
		{`{"$each":"<integer>"}`, `[]`, "not empty"},
		{`{"$or":[1,"<re:^x>"]}`, `"xy"`, ""},
		{`{"$or":[1,"<re:^x>"]}`, `"y"`, "want 1"},
		{`{"$odd":1}`, `1`, "a matcher"},
		{`"<time>"`, `"2026-01-02T03:04:05Z"`, ""},
		{`"<time>"`, `"2026-01-02T03:04:05.6Z"`, "<time>"},
		{`"<unix 3600>"`, `12`, "<unix 3600>"},
		{`"<sorted n l>"`, `[{"n":"a","l":"b"},{"n":"a","l":"c"},{"n":"b","l":"a"}]`, ""},
		{`"<sorted n l>"`, `[{"n":"a","l":"c"},{"n":"a","l":"b"}]`, "<sorted"},
		{`"${id}"`, `"captured"`, ""},
		{`{"$jwt":{"header":{"alg":"x"},"claims":{"n":1}}}`, `"eyJhbGciOiJ4In0.eyJuIjoxfQ.c2ln"`, ""},
		{`{"$jwt":{"header":{"alg":"y"},"claims":{"n":1}}}`, `"eyJhbGciOiJ4In0.eyJuIjoxfQ.c2ln"`, "alg"},
		{`{"$jwt":{"header":{},"claims":{}}}`, `"no token"`, "an object"},
		{`"<nonsense>"`, `"<nonsense>"`, "<nonsense>"},
	}
	for _, test := range tests {
		want, err := Parse([]byte(test.want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse([]byte(test.got))
		if err != nil {
			t.Fatal(err)
		}
		vars := NewVars()
		vars.Set("id", "captured")
		faults := strings.Join(vars.Match(want, got), "; ")
		if (faults == "") != (test.fault == "") || !strings.Contains(faults, test.fault) {
			t.Errorf("%s against %s: got %q, want %q", test.got, test.want, faults, test.fault)
		}
	}
}

func TestBuildFillsTheBase(t *testing.T) {
	f := File{Bases: map[string]json.RawMessage{
		"send": json.RawMessage(`{"method":"POST","path":"notify","query":{"k":"v"},"body":{"b":1,"a":{"x":"y"},"c":[1]}}`),
	}}
	tests := []struct{ step, target, body, kind string }{
		{`{"base":"send"}`, "/functions/v1/notify?k=v", `{"b":1,"a":{"x":"y"},"c":[1]}`, "application/json"},
		{
			`{"base":"send","query":{"k":null,"l":"+"},"body":{"b":null,"a":{"z":"${id}"}}}`, "/functions/v1/notify?l=%2B",
			`{"a":{"x":"y","z":"7"},"c":[1]}`, "application/json",
		},
		{`{"base":"send","body":null,"raw":"${repeat ab 2}","headers":{"Content-Type":""}}`, "/functions/v1/notify?k=v", "abab", ""},
		{
			`{"base":"send","body":{"a":null,"c":{"$repeat":2,"value":"n${i}"}}}`, "/functions/v1/notify?k=v",
			`{"b":1,"c":["n00000","n00001"]}`, "application/json",
		},
		{`{"method":"GET","path":"/x"}`, "/x", "", ""},
	}
	for _, test := range tests {
		vars := NewVars()
		vars.Set("id", "7")
		r, err := f.Build(json.RawMessage(test.step), vars)
		if err != nil {
			t.Errorf("%s: %v", test.step, err)
			continue
		}
		if r.Target != test.target || string(r.Body) != test.body || r.Header.Get("Content-Type") != test.kind {
			t.Errorf("%s: got %s %s %q, want %s %s %q", test.step, r.Target, r.Body, r.Header.Get("Content-Type"), test.target,
				test.body, test.kind)
		}
	}
}
