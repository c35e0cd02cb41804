package flow

import (
	"encoding/json"
	"testing"
)

func TestKeywordsOfAHeadAreComparedWithoutCaseAndAccents(t *testing.T) {
	f := &Flow{ID: "1", Name: "a", Trigger: Trigger{Keywords: []string{"¡Hóla!", "Buenos días"}}, Steps: []Step{{Say: "a"}}}
	text, err := json.Marshal(f.Head())
	if err != nil {
		t.Fatal(err)
	}
	var read Head
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*Head{&read, f.Listed().Head} {
		if !h.Keyword(Plain("HOLA")) || !h.Keyword(Plain("buenos dias.")) || h.Keyword("") || h.Keyword("ho") {
			t.Errorf("%+v", h)
		}
	}
}
