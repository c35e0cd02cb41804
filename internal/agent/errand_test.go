package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// box offers fixed tools, and records their calls.
type box struct {
	tools []ServerTool
	ran   Ran
	calls []string // name and arguments
	keys  []string
}

func (b *box) Usable(context.Context, *Request) ([]ServerTool, error) { return b.tools, nil }

func (b *box) Run(_ context.Context, _ *Request, t *ServerTool, c *Call) (Ran, error) {
	arguments, _ := json.Marshal(c.Arguments)
	b.calls, b.keys = append(b.calls, t.Name+string(arguments)), append(b.keys, c.Key)
	return b.ran, nil
}

func newBox() *box {
	return &box{ran: Ran{Status: RanWell, Say: "It is done."}, tools: []ServerTool{
		{
			ID: "1", Name: "order_status", Phrases: []string{"my order", "mi pedido", "meu pedido"},
			Parameters: []Parameter{{
				Name: "order_id", Type: "text", Required: true, Pattern: `[A-Z]{2}-\d{4}`,
				Question: Texts{"en": "Which order?", "es": "¿Qué pedido?", "pt": "Qual pedido?"},
			}},
		},
		{
			ID: "2", Name: "book", Title: Texts{"en": "book a tour"}, Phrases: []string{"book", "reservar"}, Changes: true,
			Parameters: []Parameter{
				{Name: "tour", Type: "choice", Choices: []string{"Harbour", "Sunset"}, Required: true},
				{Name: "day", Type: "date", Required: true},
				{Name: "people", Type: "integer", Required: true, Question: Texts{"en": "How many people?"}},
				{Name: "lunch", Type: "boolean", Required: true, Question: Texts{"en": "With lunch?"}},
				{Name: "note", Type: "text"},
			},
		},
		{
			ID: "3", Name: "cancel", Phrases: []string{"cancel order"}, Changes: true, Confirm: Texts{"en": "Shall I cancel {{order_id}}?"},
			Parameters: []Parameter{{Name: "order_id", Type: "text", Required: true, Pattern: `[A-Z]{2}-\d{4}`}, {
				Name: "why",
				Type: "text",
			}},
		},
	}}
}

// chat is a conversation with the built-in engine.
type chat struct {
	t        *testing.T
	box      *box
	r        Request
	choices  []string
	used     []*Use
	handoff  bool
	fault    string
	response string
}

func newChat(t *testing.T, b *box) *chat {
	return &chat{t: t, box: b, r: Request{
		CompanyID: "c", ConversationID: "x", Language: "en", Toolbox: b, Agent: &Agent{Language: "en", ServerTools: []string{"1"}},
		Now: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), // a Saturday
	}}
}

// says passes a message of the person to the engine and returns the response.
func (c *chat) says(message string) string {
	c.t.Helper()
	c.r.Said = append(c.r.Said, Said{Contact: true, Text: message})
	c.r.Turn++
	c.choices, c.response, c.fault = nil, "", ""
	asks := ""
	err := Builtin{}.Reply(c.t.Context(), &c.r, func(a Action) error {
		c.response += a.Say
		c.choices = append(c.choices, a.Choices...)
		if a.Asks != "" {
			asks = a.Asks
		}
		if a.Used != nil {
			c.used = append(c.used, a.Used)
		}
		c.handoff = c.handoff || a.Handoff != ""
		c.fault += a.Failure
		if a.Memory != nil {
			c.r.Memory = ReadMemory(a.Memory.Text()) // as stored
		}
		return nil
	})
	if err != nil {
		c.t.Error(err)
	}
	if !c.r.Early || asks != "" {
		c.r.Asked = asks
	}
	c.r.Early = false
	return c.response
}

// expects plays a conversation, given as message and part of the response.
func (c *chat) expects(turns ...string) {
	c.t.Helper()
	for i := 0; i < len(turns); i += 2 {
		if got := c.says(turns[i]); !strings.Contains(got, turns[i+1]) || turns[i+1] == "" && got != "" {
			c.t.Errorf("%q: %q, want %q", turns[i], got, turns[i+1])
		}
	}
}

func (c *chat) called(want ...string) {
	c.t.Helper()
	if !slices.Equal(c.box.calls, want) {
		c.t.Errorf("calls %q, want %q", c.box.calls, want)
	}
}

func TestAPhraseCallsATool(t *testing.T) {
	for _, c := range []struct {
		language string
		turns    []string
	}{
		{"en", []string{"Where is my order AB-1234?", "It is done."}},
		{"en", []string{"where is my order", "Which order?", "it is ab-1234, I think", "It is done."}},
		{"es", []string{"¿dónde está mi pedido?", "¿Qué pedido?", "AB-1234", "It is done."}},
		{"pt", []string{"cadê o meu pedido", "Qual pedido?", "o AB-1234", "It is done."}},
		{"en", []string{
			"my order please", "Which order?", "hello", "Which order?", "the blue one", "Which order?", "AB-1234",
			"It is done.",
		}},
	} {
		x := newChat(t, newBox())
		x.r.Language = c.language
		x.expects(c.turns...)
		x.says("thanks")
		if len(x.box.calls) != 1 || !strings.EqualFold(x.box.calls[0], `order_status{"order_id":"AB-1234"}`) ||
			x.r.Memory.Call != nil || len(x.used) != 1 {
			t.Errorf("%v: %v, %+v", c.turns, x.box.calls, x.r.Memory.Call)
		}
	}
}

func TestMissingParametersAreAskedForOneByOne(t *testing.T) {
	x := newChat(t, newBox())
	x.expects("I want to book a tour", "What is the tour?")
	if !slices.Equal(x.choices, []string{"Harbour", "Sunset"}) {
		t.Errorf("%v", x.choices)
	}
	x.expects("2", "What is the day?", "next friday", "How many people?", "one", "With lunch?")
	if !slices.Equal(x.choices, []string{"Yes", "No"}) {
		t.Errorf("%v", x.choices)
	}
	x.expects("no", "Shall I go ahead with this: book a tour (day: 4 December 2026, lunch: No, people: 1, tour: Sunset)?")
	x.called()
	x.expects("Yes", "It is done.")
	x.called(`book{"day":"2026-12-04","lunch":false,"people":1,"tour":"Sunset"}`)
}

func TestValuesInTheFirstMessageAreNotAskedFor(t *testing.T) {
	x := newChat(t, newBox())
	x.expects("Please book the sunset tour for 4 people on 5 June", "With lunch?", "yes", "5 June 2027", "yes please", "It is done.")
	x.called(`book{"day":"2027-06-05","lunch":true,"people":4,"tour":"Sunset"}`)
}

// Nothing is changed without a yes to exactly this question.
func TestAChangeIsConfirmed(t *testing.T) {
	for _, turns := range [][]string{
		{"cancel order AB-1234", "Shall I cancel AB-1234?", "no", "won't do that"},
		{"cancel order AB-1234", "Shall I cancel AB-1234?", "never mind", "won't do that", "yes", ""},
		{"cancel order AB-1234", "Shall I cancel AB-1234?", "maybe", "Shall I cancel AB-1234?", "maybe", "Shall I", "maybe", "our team"},
		{"cancel order AB-1234", "Shall I cancel AB-1234?", "what does that cost?", "Shall I cancel AB-1234?", "no", "won't do that"},
		{"cancel order", "What is the order id?", "cancel", "won't do that"},
		{"cancel order", "What is the order id?", "no", "won't do that"},
		{"cancel order AB-1234", "Shall I cancel AB-1234?", "I want to talk to a person", ""},
		{"yes", ""},
	} {
		x := newChat(t, newBox())
		for i := 0; i < len(turns); i += 2 {
			if got := x.says(turns[i]); turns[i+1] != "" && !strings.Contains(got, turns[i+1]) {
				t.Errorf("%q: %q, want %q", turns[i], got, turns[i+1])
			}
		}
		x.called()
	}
	for _, yes := range []string{"yes", "Yes", "1", "yes yes", "ok", "go ahead"} {
		x := newChat(t, newBox())
		x.expects("cancel order AB-1234", "Shall I cancel AB-1234?", yes, "It is done.")
		x.says(yes)
		x.called(`cancel{"order_id":"AB-1234"}`)
	}
}

// A yes that was said before the question confirms nothing, and the question stays open.
func TestAnEarlyYesConfirmsNothing(t *testing.T) {
	x := newChat(t, newBox())
	x.expects("cancel order AB-1234", "Shall I cancel AB-1234?")
	x.r.Early = true
	x.says("yes")
	x.called()
	x.expects("yes", "It is done.")
	x.called(`cancel{"order_id":"AB-1234"}`)
}

func TestAnAnswerToAnEarlierQuestionConfirmsNothing(t *testing.T) {
	x := newChat(t, newBox())
	x.expects("cancel order AB-1234", "Shall I cancel AB-1234?")
	first := x.r.Asked
	x.expects("no", "won't do that", "cancel order AB-9999", "Shall I cancel AB-9999?")
	if x.r.Asked == first {
		t.Error("two confirmations have one name")
	}
	x.r.Asked = first
	x.says("yes")
	x.called()
}

func TestThePersonHearsThatACallFailed(t *testing.T) {
	for language, texts := range toolLanguages {
		for status, want := range map[Status]string{
			RanFailed: texts.failed, RanRefused: texts.failed, RanUnknown: texts.unsure, RanNothing: texts.nothing,
		} {
			b := newBox()
			b.ran = Ran{Status: status, Reason: "the server responded with 500"}
			x := newChat(t, b)
			x.r.Language = language
			for _, message := range []string{"my order AB-1234 mi pedido meu pedido"} {
				if got := x.says(message); got != want || x.r.Asked != OffersPerson || len(x.choices) != 1 ||
					(status == RanNothing) != (x.fault == "") {
					t.Errorf("%s %s: %q %q %q %v", language, status, got, x.r.Asked, x.fault, x.choices)
				}
			}
			x.says(textsOf(language).yes)
			if !x.handoff {
				t.Errorf("%s %s: nobody was asked for", language, status)
			}
		}
	}
}

// A node that dies during a change leaves its claim. The next one repeats the change only if the server recognizes it.
func TestAChangeIsNotRepeatedBlindly(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		b := newBox()
		b.tools[2].Idempotent = idempotent
		x := newChat(t, b)
		x.expects("cancel order AB-1234", "Shall I cancel AB-1234?")
		died := errors.New("the node died")
		x.r.Claim = func(_ context.Context, m Memory) error {
			x.r.Memory = ReadMemory(m.Text())
			return died
		}
		x.r.Said = append(x.r.Said, Said{Contact: true, Text: "yes"})
		if err := (Builtin{}).Reply(t.Context(), &x.r, func(Action) error { return nil }); !errors.Is(err, died) {
			t.Fatal(err)
		}
		x.called()
		key := x.r.Memory.Call.Key
		x.r.Claim = nil
		if idempotent {
			x.expects("yes", "It is done.")
			if !slices.Equal(b.keys, []string{key}) {
				t.Errorf("the keys %v are not %s", b.keys, key)
			}
			continue
		}
		x.expects("yes", "not sure if that worked")
		x.called()
		if len(x.used) != 1 || x.used[0].Status != RanUnknown {
			t.Errorf("%+v", x.used)
		}
	}
}

// A tool that the agent may not use any more is not called because of an earlier message.
func TestAPendingCallNeedsItsTool(t *testing.T) {
	for name, change := range map[string]func(b *box){
		"gone":            func(b *box) { b.tools = nil },
		"another":         func(b *box) { b.tools[2].ID = "9" },
		"other arguments": func(b *box) { b.tools[2].Parameters = b.tools[2].Parameters[1:] },
	} {
		b := newBox()
		x := newChat(t, b)
		x.expects("cancel order AB-1234", "Shall I cancel AB-1234?")
		change(b)
		x.says("yes")
		if len(b.calls) > 0 {
			t.Errorf("%s: %v", name, b.calls)
		}
	}
}

func TestACallLeavesTheAgentsQuestionOpen(t *testing.T) {
	x := newChat(t, newBox())
	x.r.Agent.Result = []Result{{Name: "guests", Type: "number", Question: "How many guests?"}}
	x.r.Asked = "guests"
	x.expects("where is my order AB-1234", "It is done. How many guests?")
	if x.r.Asked != "guests" {
		t.Errorf("%q is open", x.r.Asked)
	}
}

func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct {
		text, language, want string
	}{
		{"4", "en", "4"},
		{"we are 12 people", "en", "12"},
		{"1,234.5", "en", "1234.5"},
		{"1.234,5", "es", "1234.5"},
		{"12,5", "pt-BR", "12.5"},
		{"12.5", "es", "12.5"},
		{"1.500", "es", "1500"},
		{"1.500", "en", "1.5"},
		{"1,500", "en", "1500"},
		{"-3", "en", "-3"},
		{"two", "en", "2"},
		{"dos", "es", "2"},
		{"dezesseis pessoas", "pt", "16"},
		{"uno", "es", "1"},
		{"AB-1234", "en", ""},
		{"at 10:30", "en", ""},
		{"5/6", "en", ""},
		{"1.2.3", "en", ""},
		{"nothing", "en", ""},
	} {
		got := ""
		if all := numbersIn(c.text, c.language); len(all) > 0 {
			got = fmt.Sprint(all[0].value)
		}
		if got != c.want {
			t.Errorf("%q in %s is %s, want %s", c.text, c.language, got, c.want)
		}
	}
}

func TestDatesAreReadAsPeopleWriteThem(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC) // a Saturday
	for _, c := range []struct{ text, language, want string }{
		{"2026-12-05", "en", "2026-12-05"},
		{"on 5 June", "en", "2027-06-05"},
		{"June 5th, 2028", "en", "2028-06-05"},
		{"December 1", "en", "2026-12-01"},
		{"the 1st of December", "en", "2026-12-01"},
		{"el 5 de diciembre", "es", "2026-12-05"},
		{"5 de março de 2027", "pt", "2027-03-05"},
		{"5/12/2026", "es", "2026-12-05"},
		{"5/12", "pt-BR", "2026-12-05"},
		{"5.12.27", "es", "2027-12-05"},
		{"12/5/2026", "en-US", "2026-12-05"},
		{"12/5/2026", "en-GB", "2026-05-12"},
		{"12/5/2026", "en", ""},
		{"12/25/2026", "en", "2026-12-25"},
		{"25/12/2026", "en", "2026-12-25"},
		{"31/2/2026", "es", ""},
		{"2.50", "es", ""},
		{"tomorrow", "en", "2026-11-29"},
		{"the day after tomorrow", "en", "2026-11-30"},
		{"hoy", "es", "2026-11-28"},
		{"mañana", "es", "2026-11-29"},
		{"depois de amanhã", "pt", "2026-11-30"},
		{"on Saturday", "en", "2026-12-05"},
		{"el lunes", "es", "2026-11-30"},
		{"sexta-feira", "pt", "2026-12-04"},
		{"some day", "en", ""},
	} {
		got := ""
		if all := datesIn(c.text, c.language, now); len(all) > 0 {
			got = all[0].text
		}
		if got != c.want {
			t.Errorf("%q in %s is %q, want %q", c.text, c.language, got, c.want)
		}
	}
}

func TestADamagedMemoryIsEmpty(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"call":7}`, `{"other":1}`} {
		if m := ReadMemory(text); m.Call != nil {
			t.Errorf("%q: %+v", text, m)
		}
	}
	if text := (Memory{Call: &Call{Tool: strings.Repeat("x", maxMemory)}}).Text(); text != "" {
		t.Errorf("%d bytes are stored", len(text))
	}
}
