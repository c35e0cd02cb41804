package jsonbody

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

func nest(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestReadJSONRefuses(t *testing.T) {
	var many strings.Builder
	for i := range 40 {
		many.WriteString(`"k` + strings.Repeat("x", i) + `":1,`)
	}
	for _, c := range []struct{ name, body, reason string }{
		{"nothing", "", "empty"},
		{"space", " \n\t", "empty"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "UTF-8"},
		{"a surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", "UTF-8"},
		{"byte order mark", "\ufeff{}", "byte 0"},
		{"raw NUL", "{\"a\":\"\x00\"}", "byte 6"},
		{"escaped NUL", `{"a":"\u0000"}`, "U+0000"},
		{"escaped NUL in a key", `{"\u0000":1}`, "U+0000"},
		{"lone high surrogate", `{"a":"\ud83d"}`, "surrogate"},
		{"lone low surrogate", `{"a":"\ude00"}`, "surrogate"},
		{"high surrogate twice", `{"a":"\ud83d\ud83d"}`, "surrogate"},
		{"high surrogate and text", `{"a":"\ud83dxxxxxx"}`, "surrogate"},
		{"lone surrogate in a key", `{"\udfff":1}`, "surrogate"},
		{"key twice", `{"a":1,"a":1}`, `"a" occurs twice`},
		{"key twice, once escaped", `{"a":1,"\u0061":2}`, "twice"},
		{"key twice, deep", `{"a":[{"b":{"c":1,"c":2}}]}`, `"c" occurs twice`},
		{"key twice, once null", `{"a":null,"a":1}`, "twice"},
		{"key twice in a large object", "{" + many.String() + `"k":2}`, "twice"},
		{"last key twice in a large object", "{" + many.String() + `"z":2,"z":3}`, "twice"},
		{"bytes behind", `{} x`, "byte 3"},
		{"two values", `{}{}`, "byte 2"},
		{"33 levels", nest(33), "32 levels"},
		{"33 levels of objects", strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33), "32 levels"},
		{"open object", `{"a":1`, "Invalid JSON"},
		{"open array", `[1,`, "Invalid JSON"},
		{"open string", `"abc`, "Invalid JSON"},
		{"open escape", `"abc\`, "Invalid JSON"},
		{"short escape", `"\u12"`, "Invalid JSON"},
		{"unknown escape", `"\x"`, "Invalid JSON"},
		{"no hexadecimal", `"\u12g4"`, "Invalid JSON"},
		{"control character", "\"a\nb\"", "Invalid JSON"},
		{"trailing comma", `{"a":1,}`, "Invalid JSON"},
		{"trailing comma in an array", `[1,]`, "Invalid JSON"},
		{"no colon", `{"a" 1}`, "Invalid JSON"},
		{"bare key", `{a:1}`, "Invalid JSON"},
		{"single quotes", `{'a':1}`, "Invalid JSON"},
		{"comment", `{}//`, "byte 2"},
		{"half a word", `tru`, "Invalid JSON"},
		{"NaN", `NaN`, "Invalid JSON"},
		{"plus", `+1`, "Invalid JSON"},
		{"leading zero", `01`, "byte 1"},
		{"no fraction", `1.`, "Invalid JSON"},
		{"no exponent", `1e+`, "Invalid JSON"},
		{"minus alone", `-`, "Invalid JSON"},
		{"point first", `.5`, "Invalid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse([]byte(c.body))
			e := asError(t, err)
			reason, _ := e.Details.Find("reason").(string)
			if e.Code != carillon.ValidationFailed || e.Details.Find("field") != "body" || !strings.Contains(reason, c.reason) {
				t.Errorf("got %v, want a reason with %q", e.Details, c.reason)
			}
		})
	}
}

func TestReadJSONAccepts(t *testing.T) {
	for _, body := range []string{
		nest(32), ` { "a" : [ 1 , -0.5e-7 , 0 , 1E9 , true , false , null , "x" ] } `, `"\ud83d\ude00\/\b\f\n\r\t\"\\\u00e9"`,
		`{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`, "\"\u007f\ue000\uffff\"",
	} {
		if _, err := parse([]byte(body)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestParseObjectWantsAnObject(t *testing.T) {
	for _, body := range []string{`[]`, `"x"`, `1`, `null`, `true`} {
		_, err := Parse([]byte(body))
		if f := asError(t, err).Details.Find("field"); f != "body" {
			t.Errorf("%s: %v", body, f)
		}
	}
}

func TestObjectReadsItsValues(t *testing.T) {
	o, err := Parse([]byte(`{"s":"a\u00e9\ud83d\ude00\n","e":"","b":true,"i":-42,"big":9223372036854775808,"f":1.5,
		"o":{"s":"in"},"a":[1,"x",null,{"i":7},[2]],"n":null,"\u006bey":"k"}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"s", "e", "b", "i", "big", "f", "o", "a", "n", "key"}, o.Keys()); d != "" {
		t.Error(d)
	}
	for key, want := range map[string]string{"s": "aé😀\n", "e": "", "key": "k"} {
		if got, present, err := o.String("f", key); got != want || !present || err != nil {
			t.Errorf("%s: %q, %v, %v", key, got, present, err)
		}
	}
	for _, key := range []string{"n", "nowhere"} {
		_, s, err1 := o.String("f", key)
		_, b, err2 := o.Bool("f", key)
		_, in, err3 := o.Find(key).Object("f")
		_, a, err4 := o.Array("f", key)
		if raw := o.Find(key).Raw(); s || b || in || a || raw != nil {
			t.Errorf("%s is present", key)
		}
		for _, err := range []error{err1, err2, err3, err4} {
			if err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	if b, present, err := o.Bool("f", "b"); !b || !present || err != nil {
		t.Errorf("b: %v, %v, %v", b, present, err)
	}
	inner, _, err := o.Find("o").Object("f")
	if err != nil {
		t.Fatal(err)
	}
	if s, _, _ := inner.String("f", "s"); s != "in" {
		t.Errorf("o.s: %q", s)
	}
	list, _, err := o.Array("f", "a")
	if err != nil || len(list) != 5 || list[2].Present() {
		t.Fatalf("a: %v, %v", list, err)
	}
	third, _, err := list[3].Object("f")
	if err != nil {
		t.Fatal(err)
	}
	if i, _ := third.Find("i").Scalar(); i != "7" {
		t.Errorf("a.3.i: %s", i)
	}
	if raw := o.Find("a").Raw(); string(raw) != `[1,"x",null,{"i":7},[2]]` {
		t.Errorf("raw a: %s", raw)
	}
}

func TestObjectRefusesOtherTypes(t *testing.T) {
	o, err := Parse([]byte(`{"s":"x","b":true,"i":1,"f":1.5,"big":9223372036854775808,"o":{"a":1},"a":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	second := func(_ any, _ bool, err error) error { return err }
	read := map[string]func(string) error{
		"string":  func(k string) error { s, p, err := o.String("x.y", k); return second(s, p, err) },
		"boolean": func(k string) error { b, p, err := o.Bool("x.y", k); return second(b, p, err) },
		"object":  func(k string) error { v, p, err := o.Find(k).Object("x.y"); return second(v, p, err) },
		"array":   func(k string) error { v, p, err := o.Array("x.y", k); return second(v, p, err) },
	}
	types := map[string]string{"s": "string", "b": "boolean", "i": "", "o": "object", "a": "array", "f": "", "big": ""}
	for key, kind := range types {
		for expected, read := range read {
			err := read(key)
			if expected == kind {
				if err != nil {
					t.Errorf("%s as %s: %v", key, expected, err)
				}
				continue
			}
			raw := o.Find(key).Raw()
			message, details := shownTo(t, err)
			if message != "Invalid parameter format" ||
				!strings.HasPrefix(details, `{"field":"x.y","provided":`+string(raw)+`,"expected_format":"`+expected+`"`) {
				t.Errorf("%s as %s: %s %s", key, expected, message, details)
			}
		}
	}
}
