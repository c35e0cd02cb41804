package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// exchange says something in a chat and returns the agent's answer.
func (k talk) exchange(events <-chan sse, token, clientID, text string) map[string]any {
	k.t.Helper()
	k.ask("POST", "/functions/v1/chat/turns", token, fmt.Sprintf(`{"client_id":%q,"text":%q}`, clientID, text), 200)
	e := await(k.t, events, "an answer to "+text, func(e sse) bool { return e.kind == "turn" && e.data["author"] == "agent" })
	return e.data
}

// visitIn begins a session in a language.
func (k talk) visitIn(n int, lang string) (token string) {
	k.t.Helper()
	got := k.ask("POST", "/functions/v1/chat/session", "",
		fmt.Sprintf(`{"widget_id":%q,"customer_id":"bbbbbbbb-bbbb-4bbb-8bbb-%012d","lang":%q}`, demoWidget, n, lang), 200)
	return got["token"].(string)
}

// source is the address of an answer's source.
func source(turn map[string]any) string {
	sources, _ := turn["sources"].([]any)
	if len(sources) != 1 {
		return ""
	}
	url, _ := at(sources[0], "url").(string)
	return strings.TrimPrefix(url, "https://harbour.test/")
}

func TestTheDemosAgentAnswersFromItsKnowledge(t *testing.T) {
	a, _ := demo(t, nil)
	k := talk{t, a}
	const unknown = "?"
	n := 0
	for lang, questions := range map[string][][2]string{
		"en": {
			{"What are your opening hours?", "en/opening-hours"}, {"when do you open on saturdays", "en/opening-hours"},
			{"How much does shipping cost?", "en/shipping"}, {"How can I pay?", "en/payment"}, {"Can I pay with PayPal?", "en/payment"},
			{"How do I book a tour?", "en/booking"}, {"I want to change my booking", "en/booking"}, {"How do I cancel and get a refund?", "en/returns"},
			{"Can I return something from the shop?", "en/returns"}, {"Where do we meet?", "en/meeting-point"}, {"How much luggage may I bring?", "en/luggage"},
			{"¿Cuál es el horario?", "es/horario"},
			{"Who won the football world cup in 1954?", unknown}, {"Is there life on the cheese moon xyzzy?", unknown}, {"asdf qwer", unknown},
		},
		"es-ES": {
			{"¿Cuál es el horario de apertura?", "es/horario"}, {"¿A qué hora abren?", "es/horario"}, {"¿Cuánto cuesta el envío?", "es/envios"},
			{"¿Cómo puedo pagar?", "es/pago"}, {"Quiero reservar una excursión", "es/reservas"}, {"¿Puedo devolver un pedido?", "es/devoluciones"},
			{"¿Cómo cancelo y recibo el reembolso?", "es/devoluciones"},
			{"¿Quién ganó el mundial de fútbol de 1954?", unknown}, {"¿Hay vida en la luna de queso xyzzy?", unknown},
		},
	} {
		n++
		token := k.visitIn(n, lang)
		events, _ := k.follow("/functions/v1/chat/stream", token, "0")
		for i, q := range questions {
			answer := k.exchange(events, token, fmt.Sprint("c", i), q[0])
			got := source(answer)
			if answer["kind"] == "choices" {
				got = unknown
			}
			if got != q[1] {
				t.Errorf("%s: %q: %q, want %q: %v", lang, q[0], got, q[1], answer)
			}
			if text, _ := answer["text"].(string); text == "" || len([]rune(text)) > 600 {
				t.Errorf("%s: %q: the answer is %q", lang, q[0], text)
			}
		}
	}
}

func TestTheAgentMakesSmallTalkAndGetsAPerson(t *testing.T) {
	a, _ := demo(t, nil)
	k := talk{t, a}
	n := 0
	for lang, talks := range map[string][][2]string{
		"en": {{"Hi there!", "Hello!"}, {"ok, thanks a lot", "You are welcome."}, {"Goodbye!", "Goodbye"}, {"xyzzy", "I do not know"}, {"no thanks", "All right."}},
		"es": {{"¡Buenas tardes!", "¡Hola!"}, {"muchas gracias", "De nada."}, {"adiós", "¡Hasta luego"}, {"Hello", "¡Hola!"}, {"xyzzy", "No lo sé."}},
		"pt": {{"Olá, tudo bem?", "Olá!"}, {"obrigada", "De nada."}, {"tchau", "Até logo"}, {"xyzzy", "Não sei."}},
		"fr": {{"hola", "Hello!"}},
	} {
		n++
		token := k.visitIn(n, lang)
		events, _ := k.follow("/functions/v1/chat/stream", token, "0")
		for i, x := range talks {
			answer := k.exchange(events, token, fmt.Sprint("c", i), x[0])
			if text, _ := answer["text"].(string); !strings.HasPrefix(text, x[1]) {
				t.Errorf("%s: %q: %q, want %q …", lang, x[0], text, x[1])
			}
		}
	}
	for i, wish := range []string{"Can I talk to a person, please?", "Quiero hablar con alguien", "falar com uma pessoa"} {
		token := k.visitIn(100+i, "en")
		events, _ := k.follow("/functions/v1/chat/stream", token, "0")
		k.ask("POST", "/functions/v1/chat/turns", token, fmt.Sprintf(`{"client_id":"c","text":%q}`, wish), 200)
		await(t, events, "a handoff after "+wish, func(e sse) bool { return e.kind == "turn" && e.data["event"] == "handoff_requested" })
	}
	token := k.visitIn(200, "en")
	events, _ := k.follow("/functions/v1/chat/stream", token, "0")
	k.exchange(events, token, "1", "xyzzy")
	k.ask("POST", "/functions/v1/chat/turns", token, `{"client_id":"2","text":"yes, please"}`, 200)
	await(t, events, "a handoff after a yes", func(e sse) bool { return e.kind == "turn" && e.data["event"] == "handoff_requested" })
}
