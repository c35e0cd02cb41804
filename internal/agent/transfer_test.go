package agent

import (
	"context"
	"testing"

	"carillon/internal/agent/knowledge"
)

func TestATransferIsWantedByWholeWords(t *testing.T) {
	t.Parallel()
	sales, anybody := &Transfer{Phrases: []string{"sales", "Reclamación de equipaje"}}, &Transfer{}
	for _, c := range []struct {
		transfer *Transfer
		text     string
		want     bool
	}{
		{sales, "Sales, please", true},
		{sales, "could you get me the sales department?", true},
		{sales, "una reclamacion de equipaje", true},
		{sales, "do you sell to wholesalers", false},
		{sales, "the salesman called me", false},
		{sales, "equipaje", false},
		{sales, "I want to talk to a person", false}, // only the phrases trigger a transfer
		{anybody, "I want to talk to a person", true},
		{anybody, "sales", false},
	} {
		if got := c.transfer.Wanted(c.text); got != c.want {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestAToolIsUsedForWholeWords(t *testing.T) {
	t.Parallel()
	r := &Request{Agent: &Agent{ClientTools: []ClientTool{{Name: "show_cart", Phrases: []string{"my cart"}}}}}
	r.UseTool = func(context.Context, string, string) (string, error) { return "", nil }
	for text, want := range map[string]bool{
		"Show my cart!": true, "show MY   cart": true, "my carton is broken": false, "tommy cart": false, "cart": false,
	} {
		if got := toolFor(r, knowledge.Words(text)) != nil; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
