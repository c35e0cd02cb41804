package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent/knowledge"
)

func TestSmallTalkIsNoQuestion(t *testing.T) {
	for text, want := range map[string]talk{
		"Hi": greets, "hello there!": greets, "Good morning everyone": greets, "¡Hola, buenos días!": greets, "Oi, tudo bem?": greets,
		"Thanks!": thanks, "ok thank you very much": thanks, "muchas gracias por todo": thanks, "Hello, thanks, bye": leaves,
		"yes please": agrees, "Sí": agrees, "sim": agrees, "No, gracias.": declines, "não": declines,
		"I would like to talk to a real person": wantsPerson, "Human please": wantsPerson, "quiero hablar con una persona": wantsPerson,
		"Hi, what are your opening hours?": asks, "thanks for nothing but where is my order": asks, "": asks, "???": asks,
		"yes, I have a question":         asks,
		"Which operator runs the tours?": asks, strings.Repeat("word ", 20) + "talk to a person": asks,
	} {
		if got := talkOf(knowledge.Words(text)); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// replies returns the thinker's response to a conversation.
func replies(t *testing.T, thinker Thinker, r *Request) (text string, all []Action) {
	t.Helper()
	if r.Agent == nil {
		r.Agent = &Agent{Language: "en"}
	}
	if err := thinker.Reply(t.Context(), r, func(a Action) error {
		text += a.Say
		all = append(all, a)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return text, all
}

func TestOnlyWhatWasProposedIsAgreedTo(t *testing.T) {
	for _, c := range []struct {
		asked, said string
		handoff     bool
	}{
		{OffersPerson, "sí", true},
		{OffersPerson, "no", false},
		{"", "sí", false}, // although the proposal is part of the conversation
		{"something", "sí", false},
	} {
		said := []Said{{Text: textsOf("es").unknown}, {Contact: true, Text: c.said}}
		_, all := replies(t, Builtin{}, &Request{Language: "es", Asked: c.asked, Said: said})
		if got := all[0].Handoff != ""; got != c.handoff {
			t.Errorf("%+v: %+v", c, all)
		}
	}
}

func TestTheLanguageIsTheConversationsElseTheAgents(t *testing.T) {
	for _, c := range [][3]string{
		{"pt-BR", "es", "Não encontrei essa informação."},
		{"fr", "es", "No he encontrado esa información."},
		{"fr", "de", "I couldn't find that"},
	} {
		text, all := replies(t, Builtin{}, &Request{
			Language: c[0], Agent: &Agent{Language: c[1]}, Said: []Said{{Contact: true, Text: "xyzzy"}},
		})
		if !strings.HasPrefix(text, c[2]) || all[0].Outcome != Unanswered || len(all[0].Choices) != 1 {
			t.Errorf("%v: %q, %+v", c, text, all)
		}
	}
}

func TestATextComesInPieces(t *testing.T) {
	text := "A first sentence of some length. Una frase más, con eñes y tildes: ñandú. Ende"
	got := pieces(text)
	if len(got) != 4 || strings.Join(got, "") != text {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{""}, pieces("")); diff != "" {
		t.Error(diff)
	}
}

func TestAnErrorOfTheListenerEndsTheReply(t *testing.T) {
	gone := errors.New("gone")
	err := Builtin{}.Reply(context.Background(), &Request{Agent: &Agent{}, Said: []Said{{Contact: true, Text: "hi"}}},
		func(Action) error { return gone })
	if !errors.Is(err, gone) {
		t.Error(err)
	}
}
