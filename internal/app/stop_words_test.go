package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/whatsapp/graphtest"
)

// stopWords and startWords are what people write to get no more messages, and to get them again, by the language of the confirmation.
var (
	stopWords = map[string][]string{
		"en": {"stop", "stop all", "stopall", "unsubscribe", "quit", "end", "opt out", "optout", "stop promotions"},
		"es": {"baja", "parar", "alto", "cancelar suscripción", "darme de baja", "dar de baja", "no más mensajes", "detener", "detener promociones"},
		"pt": {"sair", "pare", "parar mensagens", "cancelar inscrição", "descadastrar", "remover", "interromper", "interromper promoções"},
	}
	startWords = map[string][]string{
		"en": {"start", "unstop", "subscribe", "opt in", "optin", "resume promotions"},
		"es": {"alta", "darme de alta", "iniciar", "suscribirme", "reanudar promociones"},
		"pt": {"voltar", "inscrever", "iniciar mensagens", "retomar promoções"},
	}
	stopped = map[string]string{
		"en": "You will get no more messages from us. Write START to get them again.", "es": "No recibirá más mensajes nuestros. Escriba ALTA para recibirlos de nuevo.",
		"pt": "Você não receberá mais mensagens nossas. Escreva VOLTAR para recebê-las de novo.",
	}
	started = map[string]string{
		"en": "You will get our messages again. Write STOP to end them.", "es": "Volverá a recibir nuestros mensajes. Escriba BAJA para dejar de recibirlos.",
		"pt": "Você voltará a receber nossas mensagens. Escreva SAIR para deixar de recebê-las.",
	}
)

// spellings are a word as people write it.
func spellings(word string) []string {
	plain := strings.NewReplacer("ó", "o", "á", "a", "ç", "c", "ã", "a", "õ", "o").Replace(word)
	return []string{word, strings.ToUpper(word), plain, "  ¡" + strings.ToUpper(plain[:1]) + plain[1:] + "!!  \n", "«" + strings.ReplaceAll(word, " ", " - ") + "». 🛑"}
}

// sentences hold such words, and ask for nothing of the kind.
var sentences = []string{
	"please stop sending this", "do not stop", "stop it", "the end", "baja de peso", "no quiero que sea el alto", "alta costura", "¿puede parar mañana?", "quero sair amanhã",
	"stopp", "st op", "unstoppable", "I want to opt out of the tour", "pare aqui por favor",
}

var stopSetUp = strings.Replace(repliesSetUp, "    flows:\n", `      - {id: line, number: "15555550101", channel: voice, provider: sandbox, default: true, max_concurrent: 10}
    agents:
      - {id: 5a1c9e30-52bd-4f0a-9d47-18f3c7e25b21, name: Ann, language: en, engine: builtin}
    flows:
      - name: reach
        trigger: {keywords: [reach]}
        steps:
          - {send_template: {name: plain, language: en, variables: {body_text_0: "x"}}}
          - {place_call: {agent: Ann}}
          - {say: "done {{notification_id}}"}
      - name: started
        trigger: {keywords: [start, alta]}
        steps: [{say: "A flow began"}]
`, 1)

// crowd has each of many people write a text, in callbacks of fifty messages, each callback twice.
func (p *person) crowd(id string, texts []string) (people []*person) {
	p.t.Helper()
	var messages []graphtest.Inbound
	for i, text := range texts {
		x := p.another(fmt.Sprintf("346009%05d", i))
		people = append(people, x)
		messages = append(messages, graphtest.Text(x.number, fmt.Sprintf("wamid.%s%d", id, i), text, time.Now()))
	}
	for part := range slices.Chunk(messages, 50) {
		p.writes(part...)
	}
	return people
}

// suppressed are the numbers that the company suppresses.
func (p *person) suppressed() map[string]bool {
	p.t.Helper()
	found := map[string]bool{}
	for cursor := ""; ; {
		resp, err := http.Get(p.base + "/functions/v1/suppressions?limit=100&access_key=ck_channel_test&cursor=" + cursor)
		if err != nil {
			p.t.Fatal(err)
		}
		page := decode(p.t, resp, http.StatusOK)
		for _, x := range page["data"].([]any) {
			found[x.(map[string]any)["number"].(string)] = true
		}
		if cursor, _ = page["next_cursor"].(string); cursor == "" {
			return found
		}
	}
}

// state is the state of a notification's only recipient, once it has come to rest.
func (p *person) state(id string) string {
	p.t.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(p.base + "/functions/v1/notify/" + id + "?access_key=ck_channel_test")
		if err != nil {
			p.t.Fatal(err)
		}
		got := decode(p.t, resp, http.StatusOK)
		if r := got["recipients"].([]any)[0].(map[string]any); got["state"] == "completed" || time.Now().After(late) {
			return fmt.Sprint(r["state"], " ", r["reason"])
		}
	}
}

func (p *person) send(path, body string) string {
	p.t.Helper()
	resp, err := http.Post(p.base+"/functions/v1/"+path+"?access_key=ck_channel_test", "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	id, _ := decode(p.t, resp, http.StatusOK)["notification_id"].(string)
	return id
}

func TestStopInEveryLanguageEndsMessagesAndStartLiftsThat(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startPerson(t, engine, stopSetUp)
			var texts, languages []string
			for _, language := range []string{"en", "es", "pt"} {
				for _, word := range stopWords[language] {
					for _, text := range spellings(word) {
						texts, languages = append(texts, text), append(languages, language)
					}
				}
			}
			n := len(texts)
			people := p.crowd("stop", append(texts, sentences...))
			for i, x := range people[:n] {
				x.got(stopped[languages[i]])
			}
			time.Sleep(100 * time.Millisecond)
			suppressed := p.suppressed()
			for i, x := range people {
				if suppressed[x.number] != (i < n) {
					t.Errorf("%q: suppressed %t", append(texts, sentences...)[i], suppressed[x.number])
				}
				if got := x.gets(); i >= n && len(got) > 0 || i < n && len(got) != 1 {
					t.Errorf("%q gets %q", append(texts, sentences...)[i], got)
				}
			}
			first := people[0]
			contact := fmt.Sprintf(`"contact":{"number":%q},"recipient_id":"x","campaign_name":"c","name_event":"none"`, first.number)
			for _, kind := range []string{"marketing", "utility", "transactional"} {
				if got := first.state(first.send("notify", `{`+contact+`,"name_template":"plain","language_template":"en","notification_type":"`+kind+`","components_push":{"body_text_0":"x"}}`)); got != "skipped suppressed" {
					t.Errorf("a notification of type %s is %s", kind, got)
				}
			}
			if got := first.state(first.send("notify/voice", `{`+contact+`,"agent_id":"5a1c9e30-52bd-4f0a-9d47-18f3c7e25b21","notification_type":"transactional"}`)); got != "skipped suppressed" {
				t.Errorf("a call is %s", got)
			}
			// What a flow sends and whom it calls is no exception; that it talks with who writes to it is.
			second := people[1]
			second.text("reach")
			for late := time.Now().Add(20 * time.Second); time.Now().Before(late) && len(second.gets()) < 2; time.Sleep(20 * time.Millisecond) {
			}
			if got := second.gets(); len(got) != 2 || !strings.HasPrefix(got[1], "done ") {
				t.Fatalf("%q", got)
			} else if state := second.state(strings.TrimPrefix(got[1], "done ")); state != "skipped suppressed" || second.templates() > 0 {
				t.Errorf("the call of a flow is %s, and %d templates are sent", state, second.templates())
			}
			// STOP ends a flow that asks, whatever it asks for.
			asked := p.another("34600990001")
			asked.text("echo")
			asked.expect("What?")
			asked.text("Stop")
			asked.expect("What?", stopped["en"])
			asked.text("x")
			asked.expect("What?", stopped["en"])
			asked.shows("> echo", "* flow_began echo", "< What?", "> Stop", "* stopped", "< "+stopped["en"], "> x", "* handoff_requested", "* missed")
			if run := asked.run(); run["state"] != "stopped" {
				t.Errorf("the run is %v", run)
			}
			// START lifts it, each of its words.
			texts, languages = nil, nil
			for _, language := range []string{"en", "es", "pt"} {
				for _, word := range startWords[language] {
					for _, text := range spellings(word) {
						texts, languages = append(texts, text), append(languages, language)
					}
				}
			}
			texts, languages = texts[:min(n, len(texts))], languages[:min(n, len(texts))]
			before := make([][]string, len(texts))
			for i := range texts {
				before[i] = people[i].gets()
			}
			p.crowd("start", texts)
			for i := range texts {
				people[i].got(append(before[i], started[languages[i]])...)
			}
			time.Sleep(100 * time.Millisecond) // what confirms it comes before it
			suppressed = p.suppressed()
			for i, x := range people[:n] {
				if suppressed[x.number] != (i >= len(texts)) {
					t.Errorf("after %q suppressed %t", texts[i], suppressed[x.number])
				}
			}
			if got := first.state(first.send("notify", `{`+contact+`,"name_template":"plain","language_template":"en","notification_type":"utility","components_push":{"body_text_0":"x"}}`)); strings.HasPrefix(got, "skipped") {
				t.Errorf("a notification after START is %s", got)
			}
			// To who gets messages it is a word like any other.
			third := p.another("34600990002")
			third.text("START")
			third.expect("A flow began")
			log, _ := json.Marshal(p.log.String())
			if strings.Contains(string(log), "level=ERROR") {
				t.Errorf("%s", log)
			}
		})
	}
}
