package sending_test

import (
	"strings"
	"testing"

	"carillon/internal/edge/panel/paneltest"
)

func TestSuppressionsAreAddedFoundExportedAndLifted(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	got := w.Want(
		"POST", "/panel/v1/suppressions", owner,
		`{"numbers":["34600000001","34600000002","51900000001"],"type":"marketing","reason":"=1+1"}`, 200, "", "",
	)
	if got["added"] != 3.0 {
		t.Error(got)
	}
	got = w.Want("POST", "/panel/v1/suppressions", owner, `{"numbers":["34600000001"],"type":"marketing"}`, 200, "", "")
	if got["added"] != 0.0 || got["given"] != 1.0 {
		t.Error(got)
	}
	for query, want := range map[string]int{"": 3, "number=346": 2, "number=%2B34+600": 2, "number=7": 0} {
		if rows := w.Want("GET", "/panel/v1/suppressions?"+query, owner, "", 200, "", "")["data"].([]any); len(rows) != want {
			t.Errorf("%s: %v", query, rows)
		}
	}
	text := w.Want("GET", "/panel/v1/suppressions/export", owner, "", 200, "", "")["csv"].(string)
	if !strings.Contains(text, "34600000001,marketing,'=1+1,owner@acme.test,20") || strings.Count(text, "\n") != 4 {
		t.Error(text)
	}
	w.Want("DELETE", "/panel/v1/suppressions/34600000001", owner, "", 204, "", "")
	w.Want("DELETE", "/panel/v1/suppressions/34600000001", owner, "", 404, "not_found", "")
	for body, field := range map[string]string{
		`{}`: "numbers", `{"numbers":["+34"]}`: "numbers.0", `{"numbers":["34600000001","x"]}`: "numbers.1",
		`{"numbers":["34600000001"],"type":"some"}`:                               "type",
		`{"numbers":["34600000001"],"reason":"` + strings.Repeat("x", 256) + `"}`: "reason", `{"number":"34600000001"}`: "body",
	} {
		w.Want("POST", "/panel/v1/suppressions", owner, body, 400, "validation_failed", field)
	}
	w.Want("GET", "/panel/v1/suppressions?number=abc", owner, "", 400, "validation_failed", "number")
}
