package jsonbody

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReadJSON checks that encoding/json accepts everything that the reader accepts and reads the same values, and
// that the reader refuses valid JSON only for one of the contract's own rules.
func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e-7,"\ud83d\ude00\n",null,true,{"b":{}}]}`, `[1,]`, `"\ud83d"`, `{"a":1,"a":2}`, nest(33), "1 2", `"\u0000"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, err := parse(body)
		if err != nil {
			reason, _ := asError(t, err).Details.Find("reason").(string)
			strict := regexp.MustCompile(`U\+0000|surrogate|twice|deeper|UTF-8`).MatchString(reason)
			if json.Valid(body) && !strict {
				t.Errorf("%q is refused: %s", body, reason)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil || !json.Valid(body) {
			t.Fatalf("encoding/json refuses %q: %v", body, err)
		}
		if d := cmp.Diff(want, tree(Value{doc, 0})); d != "" {
			t.Error(d)
		}
	})
}

// tree returns a value as encoding/json decodes it.
func tree(v Value) any {
	switch v.kind() {
	case kindAbsent, kindNull:
		return nil
	case kindTrue, kindFalse:
		return v.kind() == kindTrue
	case kindNumber:
		return json.Number(v.Raw())
	case kindString, kindEscaped:
		return v.doc.text(v.at)
	case kindArray:
		list := []any{}
		elements, _, _ := v.Array("")
		for _, e := range elements {
			list = append(list, tree(e))
		}
		return list
	}
	o := &Object{v.doc, v.at}
	m := map[string]any{}
	for _, key := range o.Keys() {
		m[key] = tree(o.Find(key))
	}
	return m
}
