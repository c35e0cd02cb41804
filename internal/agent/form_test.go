package agent

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheBuiltinEngineAsksForResults(t *testing.T) {
	a := &Agent{Language: "en", Result: []Result{
		{Name: "confirmed", Type: "boolean", Question: "Do you confirm?"},
		{Name: "note", Type: "text"},
		{Name: "people", Type: "number", Question: "How many of you come?"},
		{Name: "time", Type: "choice", Choices: []string{"morning", "late afternoon"}, Question: "Morning or late afternoon?"},
		{Name: "wish", Type: "text", Question: "What do you wish for?"},
	}}
	for _, c := range []struct {
		question, message string
		set               string // "": no answer
		say               string // what follows
		choices           []string
	}{
		{"Hello Ana. Do you confirm?", "Yes", "true", "How many of you come?", nil},
		{"Do you confirm?", "yes please", "true", "How many of you come?", nil},
		{"Do you confirm?", "no, thanks", "false", "How many of you come?", nil},
		{"Do you confirm?", "the moon", "", "I did not understand that. Do you confirm?", []string{"Yes", "No"}},
		{"How many of you come?", "We are 3.", "3", "Morning or late afternoon?", []string{"morning", "late afternoon"}},
		{"How many of you come?", "2,5", "2.5", "Morning or late afternoon?", []string{"morning", "late afternoon"}},
		{"How many of you come?", "a few", "", "I did not understand that. How many of you come?", nil},
		{"Morning or late afternoon?", "In the LATE afternoon, please", "late afternoon", "What do you wish for?", nil},
		{"What do you wish for?", "A quiet room", "A quiet room", "Thank you, I have noted that. Is there anything else?", nil},
		{"What do you wish for?", "What can I wish for?", "", "I did not understand that. What do you wish for?", nil},
		{"Is there anything else?", "Yes", "", "I do not know that. Shall I get a person for you?", []string{"Talk to a person"}},
	} {
		r := &Request{Agent: a, Language: "en", Said: []Said{{Text: c.question}, {Contact: true, Text: c.message}}}
		var said, set string
		var choices []string
		if err := (Builtin{}).Reply(context.Background(), r, func(x Action) error {
			said += x.Say
			choices = append(choices, x.Choices...)
			for _, v := range x.Set {
				set = v.Text
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if said != c.say || set != c.set || !cmp.Equal(choices, c.choices) {
			t.Errorf("%q to %q: %q, set %q, choices %q", c.message, c.question, said, set, choices)
		}
	}
}
