package httpio

import (
	"net/url"
	"strings"
	"testing"

	"carillon"
)

func TestAPageIsReadWithinItsBounds(t *testing.T) {
	good := EncodeCursor("list", "34600111222")
	for _, tc := range []struct {
		query, field string
		want         Page
	}{
		{"", "", Page{Limit: 25}},
		{"limit=1", "", Page{Limit: 1}},
		{"limit=100&cursor=" + good, "", Page{After: "34600111222", Limit: 100}},
		{"limit=0", "limit", Page{}},
		{"limit=101", "limit", Page{}},
		{"limit=-1", "limit", Page{}},
		{"limit=x", "limit", Page{}},
		{"limit=%2B5", "limit", Page{}},
		{"limit=1e1", "limit", Page{}},
		{"limit=99999999999999999999", "limit", Page{}},
		{"cursor=x", "cursor", Page{}},
		{"cursor=" + good + "=", "cursor", Page{}},
		{"cursor=" + EncodeCursor("other", "1"), "cursor", Page{}},
		{"cursor=" + EncodeCursor("list", ""), "cursor", Page{}},
		{"cursor=" + EncodeCursor("list", "a\x00b"), "cursor", Page{}},
		{"cursor=" + EncodeCursor("list", strings.Repeat("1", 300)), "cursor", Page{}},
	} {
		q, err := url.ParseQuery(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadPage(q, "list")
		switch {
		case tc.field == "" && (err != nil || got != tc.want):
			t.Errorf("%s: %+v %v", tc.query, got, err)
		case tc.field != "" && !isField(err, tc.field):
			t.Errorf("%s: %v", tc.query, err)
		}
	}
}

func isField(err error, field string) bool {
	e, ok := err.(*carillon.Error) //nolint:errorlint // constructed there
	return ok && e.Code == carillon.ValidationFailed && e.Details.Find("field") == field
}

func TestTheLastPageHasNoCursor(t *testing.T) {
	same := func(s string) string { return s }
	p := Page{Limit: 2}
	if l := ListOf(p, "list", []string{"a", "b"}, same, same); l.Next != nil || len(l.Data) != 2 {
		t.Errorf("the last page: %+v", l)
	}
	l := ListOf(p, "list", []string{"a", "b", "c"}, same, same)
	if l.Next == nil || len(l.Data) != 2 {
		t.Fatalf("a row is left: %+v", l)
	}
	if after, ok := decodeCursor("list", *l.Next); !ok || after != "b" {
		t.Error(after, ok)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add(EncodeCursor("list", "34600111222"))
	f.Add("bGlzdDo")
	f.Fuzz(func(t *testing.T, text string) {
		after, ok := decodeCursor("list", text)
		if !ok {
			return
		}
		if after == "" || len(after) > maxCursor || strings.ContainsAny(after, "\x00 \n") {
			t.Errorf("%q gave %q", text, after)
		}
		if back := EncodeCursor("list", after); back != text {
			t.Errorf("%q gave %q, which is %q", text, after, back)
		}
	})
}
