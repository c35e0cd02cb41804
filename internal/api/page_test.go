package api

import (
	"net/url"
	"strings"
	"testing"

	"carillon"
)

func TestAPageIsReadWithinItsBounds(t *testing.T) {
	good := encodeCursor("list", "34600111222")
	for _, tc := range []struct {
		query, field string
		want         page
	}{
		{"", "", page{Limit: 25}},
		{"limit=1", "", page{Limit: 1}},
		{"limit=100&cursor=" + good, "", page{After: "34600111222", Limit: 100}},
		{"limit=0", "limit", page{}},
		{"limit=101", "limit", page{}},
		{"limit=-1", "limit", page{}},
		{"limit=x", "limit", page{}},
		{"limit=%2B5", "limit", page{}},
		{"limit=1e1", "limit", page{}},
		{"limit=99999999999999999999", "limit", page{}},
		{"cursor=x", "cursor", page{}},
		{"cursor=" + good + "=", "cursor", page{}},
		{"cursor=" + encodeCursor("other", "1"), "cursor", page{}},
		{"cursor=" + encodeCursor("list", ""), "cursor", page{}},
		{"cursor=" + encodeCursor("list", "a\x00b"), "cursor", page{}},
		{"cursor=" + encodeCursor("list", strings.Repeat("1", 300)), "cursor", page{}},
	} {
		q, err := url.ParseQuery(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readPage(q, "list")
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
	p := page{Limit: 2}
	if p.next("list", 2, "b") != nil {
		t.Error("a cursor behind the last row")
	}
	c := p.next("list", 3, "b")
	if c == nil {
		t.Fatal("no cursor although a row is left")
	}
	if after, ok := decodeCursor("list", *c); !ok || after != "b" {
		t.Error(after, ok)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add(encodeCursor("list", "34600111222"))
	f.Add("bGlzdDo")
	f.Fuzz(func(t *testing.T, text string) {
		after, ok := decodeCursor("list", text)
		if !ok {
			return
		}
		if after == "" || len(after) > cursorMost || strings.ContainsAny(after, "\x00 \n") {
			t.Errorf("%q gave %q", text, after)
		}
		if back := encodeCursor("list", after); back != text {
			t.Errorf("%q gave %q, which is %q", text, after, back)
		}
	})
}
