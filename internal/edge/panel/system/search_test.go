package system_test

import (
	"fmt"
	"net/url"
	"testing"

	"carillon/internal/edge/panel/paneltest"
)

func TestSearchFindsWhatTheCompanyHas(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner, viewer, stranger := w.As("owner@acme.test"), w.As("viewer@acme.test"), w.As("owner@other.test")
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "",
	)
	w.Want("POST", "/panel/v1/templates?sender=main", owner, `{"name":"summer_trip","language":"en","category":"UTILITY",
		"content":"Your boat leaves soon."}`, 201, "", "")
	w.Want("POST", "/panel/v1/knowledge", owner, `{"id":"summer-boats","articles":[{"title":"Hours","text":"From nine."}]}`, 201, "", "")
	find := func(as, text string) map[string]string {
		t.Helper()
		found := map[string]string{}
		for _, x := range w.Want("GET", "/panel/v1/search?q="+url.QueryEscape(text), as, "", 200, "", "")["data"].([]any) {
			hit := x.(map[string]any)
			found[hit["kind"].(string)] = hit["name"].(string)
		}
		return found
	}
	for text, want := range map[string]map[string]string{
		"SUMMER":         {"template": "summer_trip", "knowledge": "summer-boats"},
		"mmer_t":         {"template": "summer_trip"},
		"mai":            {"sender": "main"},
		"+1 (555) 555":   {"sender": "main"},
		"s":              {},
		"%":              {},
		"__":             {},
		"summer winter":  {},
		`"'; DROP TABLE`: {},
	} {
		for name, as := range map[string]string{"owner": owner, "viewer": viewer} {
			if got := find(as, text); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s finds %q: %v, want %v", name, text, got, want)
			}
		}
		if got := find(stranger, text); len(got) != 0 {
			t.Errorf("another company finds %q: %v", text, got)
		}
	}
	w.Want("GET", "/panel/v1/search?q=summer", "", "", 401, "", "")
}
