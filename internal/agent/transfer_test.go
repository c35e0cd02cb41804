package agent

import (
	"context"
	"errors"
	"slices"
	"testing"

	"carillon"
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

func TestATransferHasOneNumberOrSeveral(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		transfer Transfer
		field    string // that is refused; empty for none
		dialed   []string
	}{
		"one":         {Transfer{Number: "+34 600 999 888"}, "", []string{"34600999888"}},
		"several":     {Transfer{Numbers: []string{"34600999888", "+34 600 999 777"}}, "", []string{"34600999888", "34600999777"}},
		"none":        {Transfer{}, "transfer.number", nil},
		"both":        {Transfer{Number: "34600999888", Numbers: []string{"34600999777"}}, "transfer.number", nil},
		"a wrong one": {Transfer{Numbers: []string{"34600999888", "desk"}}, "transfer.numbers.1", nil},
		"one twice":   {Transfer{Numbers: []string{"34600999888", "+34600999888"}}, "transfer.numbers.1", nil},
		"a queue":     {Transfer{Number: "34600999888", Queue: &Queue{}}, "", []string{"34600999888"}},
		"a long wait": {Transfer{Number: "34600999888", Queue: &Queue{MaxWait: 3601}}, "transfer.queue.max_wait_s", nil},
		"many callers": {
			Transfer{Number: "34600999888", Queue: &Queue{MaxWaiting: 101}}, "transfer.queue.max_waiting", nil,
		},
		"many calls": {Transfer{Number: "34600999888", MaxCalls: 101}, "transfer.max_calls", nil},
		"too many": {
			Transfer{Numbers: []string{"34600999881", "34600999882", "34600999883", "34600999884", "34600999885", "34600999886"}},
			"transfer.numbers", nil,
		},
	} {
		a := &Agent{Name: "Robin", Language: "en", Transfer: &c.transfer}
		var refused *carillon.Error
		switch err := a.Validate(); {
		case c.field == "" && (err != nil || !slices.Equal(c.transfer.Dialed(), c.dialed)):
			t.Errorf("%s: %q, %v", name, c.transfer.Dialed(), err)
		case c.field != "" && (!errors.As(err, &refused) || len(refused.Details) == 0 || refused.Details[0].Value != c.field):
			t.Errorf("%s: %+v", name, refused)
		}
		if q := c.transfer.Queue; c.field == "" && q != nil && (*q != Queue{MaxWaiting: 10, MaxWait: 300} || c.transfer.MaxCalls != 1) {
			t.Errorf("%s: %+v, %d calls", name, q, c.transfer.MaxCalls)
		}
	}
}
