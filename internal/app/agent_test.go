package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"carillon/internal/base/config"
)

// exchange sends a message in a chat and returns the agent's answer.
func (k talk) exchange(events <-chan sse, token, clientID, text string) map[string]any {
	k.t.Helper()
	k.ask("POST", "/functions/v1/chat/turns", token, fmt.Sprintf(`{"client_id":%q,"text":%q}`, clientID, text), 200)
	e := await(k.t, events, "an answer to "+text, func(e sse) bool { return e.kind == "turn" && e.data["author"] == "agent" })
	return e.data
}

// visitIn begins a chat session in a language.
func (k talk) visitIn(n int, lang string) (token string) {
	k.t.Helper()
	got := k.ask("POST", "/functions/v1/chat/session", "",
		fmt.Sprintf(`{"widget_id":%q,"customer_id":"bbbbbbbb-bbbb-4bbb-8bbb-%012d","lang":%q}`, demoWidget, n, lang), 200)
	return got["token"].(string)
}

// source returns the address of an answer's source.
func source(turn map[string]any) string {
	sources, _ := turn["sources"].([]any)
	if len(sources) != 1 {
		return ""
	}
	url, _ := at(sources[0], "url").(string)
	return strings.TrimPrefix(url, "https://harbour.test/")
}

func TestTheDemosAgentAnswersFromItsKnowledge(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	k := talk{t, a}
	const unknown = "?"
	n := 0
	for lang, questions := range map[string][][2]string{
		"en": {
			{"What are your opening hours?", "en/opening-hours"},
			{"when do you open on saturdays", "en/opening-hours"},
			{"How much does shipping cost?", "en/shipping"},
			{"How can I pay?", "en/payment"},
			{"Can I pay with PayPal?", "en/payment"},
			{"How do I book a tour?", "en/booking"},
			{"I want to change my booking", "en/booking"},
			{"How do I cancel and get a refund?", "en/returns"},
			{"Can I return something from the shop?", "en/returns"},
			{"Where do we meet?", "en/meeting-point"},
			{"what time do you close?", "en/opening-hours"},
			{"do you deliver to france", "en/shipping"},
			{"how long does delivery take", "en/shipping"},
			{"what does it cost for kids", "en/payment"},
			{"how much is a tour", "en/payment"},
			{"what happens if it rains", "en/weather"},
			{"can I bring a suitcase", "en/luggage"},
			{"Can I bring my dog?", "en/pets"},
			{"How much luggage may I bring?", "en/luggage"},
			{"¿Cuál es el horario?", "es/horario"},
			{"Who won the football world cup in 1954?", unknown},
			{"Is there life on the cheese moon xyzzy?", unknown},
			{"asdf qwer", unknown},
		},
		"es-ES": {
			{"¿Cuál es el horario de apertura?", "es/horario"},
			{"¿A qué hora abren?", "es/horario"},
			{"¿a qué hora cierran?", "es/horario"},
			{"¿dónde puedo aparcar?", "es/encuentro"},
			{"¿qué pasa si llueve?", "es/tiempo"},
			{"¿puedo llevar una maleta?", "es/equipaje"},
			{"¿cuánto cuesta una excursión?", "es/pago"},
			{"¿Puedo llevar a mi perro?", "es/mascotas"},
			{"¿Cuánto cuesta el envío?", "es/envios"},
			{"¿Cómo puedo pagar?", "es/pago"},
			{"Quiero reservar una excursión", "es/reservas"},
			{"¿Puedo devolver un artículo?", "es/devoluciones"},
			{"¿Cómo cancelo y recibo el reembolso?", "es/devoluciones"},
			{"¿Quién ganó el mundial de fútbol de 1954?", unknown},
			{"¿Hay vida en la luna de queso xyzzy?", unknown},
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
	t.Parallel()
	a, _ := demo(t, nil)
	k := talk{t, a}
	n := 0
	for lang, talks := range map[string][][2]string{
		"en": {
			{"Hi there!", "Hello!"},
			{"ok, thanks a lot", "You're welcome!"},
			{"Goodbye!", "Goodbye"},
			{"xyzzy", "I couldn't find that"},
			{"no thanks", "No problem."},
		},
		"es": {
			{"¡Buenas tardes!", "¡Hola!"},
			{"muchas gracias", "¡De nada!"},
			{"adiós", "¡Hasta luego"},
			{"Hello", "¡Hola!"},
			{"xyzzy", "No he encontrado esa información."},
		},
		"pt": {{"Olá, tudo bem?", "Olá!"}, {"obrigada", "De nada!"}, {"tchau", "Até logo!"}, {"xyzzy", "Não encontrei essa informação."}},
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

// engine starts a server with OpenAI's interface that expects an Authorization header and always gives the same
// answer.
func engine(t *testing.T, authorization, answer string) (url string, asked func() int) {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != authorization {
			t.Errorf("asked %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", answer)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", func() int { return int(n.Load()) }
}

func TestAnAgentOfAnotherEngineAnswersTheChat(t *testing.T) {
	t.Parallel()
	url, asked := engine(t, "Bearer sk-demo", "From far away.")
	other, askedOther := engine(t, "", "Without a key.")
	a, _ := demo(t, func(c *config.Config) { c.MediaAllowPrivate = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	k := talk{t, a}
	owner := k.signIn("owner@demo.test")
	const path = "/panel/v1/agents/3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"
	body := func(url, key string) string {
		return fmt.Sprintf(`{"name":"Reception","engine":"openai","knowledge":["faq"],"persona":"Be brief.","openai":{"base_url":%q,`+
			`"model":"m"%s,"temperature":0.5}}`, url, key)
	}
	if got := k.ask("PUT", path, owner, body(url, `,"api_key":"sk-demo"`), 200); at(got, "openai", "base_url") != url ||
		at(got, "openai", "api_key") != nil || got["warning"] != nil {
		t.Errorf("put: %v", got)
	}
	if got := k.ask("GET", path, owner, "", 200); at(got, "openai", "api_key") != nil || at(got, "openai", "temperature") != 0.5 ||
		got["persona"] != "Be brief." {
		t.Errorf("read: %v", got)
	}
	k.ask("PUT", path, owner, body(url, ""), 200) // keeps the key
	token := k.visitIn(1, "en")
	events, _ := k.follow("/functions/v1/chat/stream", token, "0")
	if answer := k.exchange(events, token, "1", "What are your opening hours?"); answer["text"] != "From far away." ||
		source(answer) != "en/opening-hours" || asked() != 1 {
		t.Errorf("%v after %d requests", answer, asked())
	}
	play := func(agent string) map[string]any {
		return k.ask("POST", path+"/playground", owner, `{"said":[{"contact":true,"text":"What are your opening hours?"}]`+agent+`}`, 200)
	}
	if got := play(""); got["text"] != "From far away." || got["fault"] != nil {
		t.Errorf("the playground: %v", got)
	}
	if got := play(`,"agent":{"name":"Reception","engine":"elevenlabs"}`); got["fault"] == nil || got["text"] == "" {
		t.Errorf("the playground with an engine that is not built: %v", got)
	}
	// The key belongs to its server: another address does not get it, stored or not.
	if got := play(`,"agent":` + body(other, "")); got["text"] != "Without a key." {
		t.Errorf("the playground with another server: %v", got)
	}
	k.ask("PUT", path, owner, body(other, ""), 200)
	if got := play(""); got["text"] != "Without a key." || asked() != 2 || askedOther() != 2 {
		t.Errorf("with another server: %v after %d and %d requests", got, asked(), askedOther())
	}
}
