package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheBuiltinEngineAsksForResults(t *testing.T) {
	a := &Agent{Language: "en", Result: []Result{
		{Name: "confirmed", Type: "boolean", Question: "Do you confirm?"},
		{Name: "note", Type: "text"},
		{Name: "people", Type: "number", Question: "How many of you come?"},
		{Name: "time", Type: "choice", Choices: []string{"morning", "late", "late afternoon"}, Question: "Morning or late afternoon?"},
		{Name: "wish", Type: "text", Question: "What do you wish for?"},
	}}
	for _, c := range []struct {
		asked, message string
		set            string // expected value; empty means not an answer
		say            string // expected response
		choices        []string
		asks           string
	}{
		{"confirmed", "Yes", "true", "How many of you come?", nil, "people"},
		{"confirmed", "yes please", "true", "How many of you come?", nil, "people"},
		{"confirmed", "no, thanks", "false", "How many of you come?", nil, "people"},
		{"confirmed", "2", "false", "How many of you come?", nil, "people"},
		{"confirmed", "the moon", "", "Sorry, I didn't catch that. Do you confirm?", []string{"Yes", "No"}, "confirmed"},
		{"confirmed", "hello", "", " Do you confirm?", []string{"Yes", "No"}, "confirmed"},
		{"confirmed", "thanks", "", " Do you confirm?", []string{"Yes", "No"}, "confirmed"},
		{"people", "We are 3.", "3", "Morning or late afternoon?", []string{"morning", "late", "late afternoon"}, "time"},
		{"people", "2,5", "2.5", "Morning or late afternoon?", []string{"morning", "late", "late afternoon"}, "time"},
		{"people", "a few", "", "Sorry, I didn't catch that. How many of you come?", nil, "people"},
		{"time", "In the LATE afternoon, please", "late afternoon", "What do you wish for?", nil, "wish"},
		{"time", "late", "late", "What do you wish for?", nil, "wish"},
		{"time", "3", "late afternoon", "What do you wish for?", nil, "wish"},
		{
			"time", "in the morning or late", "", "Sorry, I didn't catch that. Morning or late afternoon?",
			[]string{"morning", "late", "late afternoon"},
			"time",
		},
		{"wish", "A quiet room", "A quiet room", "Thanks, I've made a note of that. Is there anything else?", nil, ""},
		{"wish", "What can I wish for?", "", "Sorry, I didn't catch that. What do you wish for?", nil, "wish"},
		{"", "Yes", "", "I couldn't find that. Would you like to talk to our team?", []string{"Talk to a person"}, OffersPerson},
		{"note", "Yes", "", "I couldn't find that. Would you like to talk to our team?", []string{"Talk to a person"}, OffersPerson},
	} {
		// The agent's earlier words must not matter: the person may have interrupted them, or they may contain the
		// text of another question.
		r := &Request{
			Agent: a, Language: "en", Asked: c.asked, Said: []Said{
				{Text: "Hello Ana. Do you … What do you wish for?"}, {Contact: true, Text: c.message},
			},
		}
		said, set, choices, asks := responds(t, r)
		if said != c.say || set != c.set || !cmp.Equal(choices, c.choices) || asks != c.asks {
			t.Errorf("%q to %q: %q, set %q, choices %q, asks %q", c.message, c.asked, said, set, choices, asks)
		}
	}
}

// responds returns the built-in engine's actions for a request.
func responds(t *testing.T, r *Request) (said, set string, choices []string, asks string) {
	t.Helper()
	if err := (Builtin{}).Reply(t.Context(), r, func(x Action) error {
		said += x.Say
		choices = append(choices, x.Choices...)
		asks += x.Asks
		for _, v := range x.Set {
			set = v.Text
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return said, set, choices, asks
}

func TestWhatWasSaidBeforeAQuestionAnswersItOrIsLeft(t *testing.T) {
	a := &Agent{Language: "en", Result: []Result{{Name: "come", Type: "boolean", Question: "Do you come?"}}}
	for message, want := range map[string]string{
		"yes": "true", "the moon": "", "hello": "", "thanks": "",
	} {
		r := &Request{Agent: a, Language: "en", Asked: "come", Early: true, Said: []Said{{Contact: true, Text: message}}}
		if said, set, _, _ := responds(t, r); set != want || want == "" && said != "" {
			t.Errorf("%q: %q, set %q", message, said, set)
		}
	}
	// An answer to an earlier question answers no current question and gets no response.
	r := &Request{Agent: a, Language: "en", Early: true, Said: []Said{{Contact: true, Text: "yes"}}}
	if said, set, _, _ := responds(t, r); said != "" || set != "" {
		t.Errorf("%q, set %q", said, set)
	}
	r.Said[0].Text = "I want to talk to a person"
	if _, all := replies(t, Builtin{}, r); len(all) != 1 || all[0].Handoff == "" {
		t.Errorf("who asks for a person gets %+v", all)
	}
}

func TestKeysThatNobodyAskedForAreNoQuestion(t *testing.T) {
	a := &Agent{Language: "en", Result: []Result{{Name: "come", Type: "boolean", Question: "Do you come?"}}}
	r := &Request{Agent: a, Language: "en", Said: []Said{{Contact: true, Text: "5", Keys: true}}}
	if said, set, _, asks := responds(t, r); said != "" || set != "" || asks != "" {
		t.Errorf("%q, set %q, asks %q", said, set, asks)
	}
	r.Asked = "come"
	if said, _, _, asks := responds(t, r); said != "Sorry, I didn't catch that. Do you come?" || asks != "come" {
		t.Errorf("instead of a choice: %q, asks %q", said, asks)
	}
}

func TestWordsOfTheCompanyAskTheLastQuestionInThem(t *testing.T) {
	a := &Agent{Result: []Result{
		{Name: "adults", Type: "number", Question: "How many?"},
		{Name: "children", Type: "number", Question: "And children? How many?"},
		{Name: "note", Type: "text"},
	}}
	for text, want := range map[string]string{
		"Hello. How many?": "adults", "Good. And children? How many?": "children",
		"How many? Say a number. And children? How many? Thanks.": "children",
		"And children? How many? Again, of the adults: How many?": "adults", "Hello.": "", "": "",
	} {
		if got := a.Asking(text); got != want {
			t.Errorf("%q asks %q, not %q", text, got, want)
		}
	}
}
