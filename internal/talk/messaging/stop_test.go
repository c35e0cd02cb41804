package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// stopWords and startWords are the words that stop and restart messages, by the language of the confirmation.
var (
	stopWords = map[string][]string{
		"en": {"stop", "stop all", "stopall", "unsubscribe", "quit", "end", "opt out", "optout", "stop promotions"},
		"es": {
			"baja", "parar", "alto", "cancelar suscripción", "darme de baja", "dar de baja", "no más mensajes", "detener",
			"detener promociones",
		},
		"pt": {"sair", "pare", "parar mensagens", "cancelar inscrição", "descadastrar", "remover", "interromper", "interromper promoções"},
	}
	startWords = map[string][]string{
		"en": {"start", "unstop", "subscribe", "opt in", "optin", "resume promotions"},
		"es": {"alta", "darme de alta", "iniciar", "suscribirme", "reanudar promociones"},
		"pt": {"voltar", "inscrever", "iniciar mensagens", "retomar promoções"},
	}
	stopped = map[string]string{
		"en": "You're unsubscribed. Reply START to resubscribe.",
		"es": "Se ha dado de baja. Responda ALTA para volver a recibir nuestros mensajes.",
		"pt": "Você se descadastrou. Responda VOLTAR para voltar a receber nossas mensagens.",
	}
	started = map[string]string{
		"en": "You're subscribed again. Reply STOP to unsubscribe.",
		"es": "Se ha dado de alta de nuevo. Responda BAJA para dejar de recibir nuestros mensajes.",
		"pt": "Você se cadastrou novamente. Responda SAIR para não receber mais nossas mensagens.",
	}
)

// spellings returns variants of a word as people write it.
func spellings(word string) []string {
	plain := strings.NewReplacer("ó", "o", "á", "a", "ç", "c", "ã", "a", "õ", "o").Replace(word)
	return []string{
		word, strings.ToUpper(word), plain, "  ¡" + strings.ToUpper(plain[:1]) + plain[1:] + "!!  \n",
		"«" + strings.ReplaceAll(word, " ", " - ") + "». 🛑",
	}
}

// spelled returns the words in all spellings, each with its language.
func spelled(words map[string][]string) (texts, languages []string) {
	for _, language := range []string{"en", "es", "pt"} {
		for _, word := range words[language] {
			for _, text := range spellings(word) {
				texts, languages = append(texts, text), append(languages, language)
			}
		}
	}
	return texts, languages
}

// sentences contain such words but are no request to stop.
var sentences = []string{
	"do not stop", "stop it", "the end", "baja de peso", "no quiero que sea el alto", "alta costura", "¿puede parar mañana?",
	"quero sair amanhã",
	"stopp", "st op", "unstoppable", "I want to opt out of the tour", "pare aqui por favor",
}

// checkSuppressed checks whether a number is suppressed.
func checkSuppressed(t *testing.T, p *person, why string, want bool) {
	t.Helper()
	if got, err := p.rig.suppressed(t.Context(), p.company.ID, p.address()); got != want || err != nil {
		t.Errorf("after %q it is suppressed: %t, %v", why, got, err)
	}
}

func TestStopInEveryLanguageEndsMessagesAndStartLiftsThat(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		stops, languages := spelled(stopWords)
		starts, startLanguages := spelled(startWords)
		if !r.bubble { // the words are the same on every database
			stops, starts = stops[:3], starts[:2]
		}
		people := make([]*person, len(stops))
		for i, text := range stops {
			people[i] = r.person(fmt.Sprintf("346009%05d", i))
			people[i].text(text)
		}
		others := make([]*person, len(sentences))
		for i, text := range sentences {
			others[i] = r.person(fmt.Sprintf("346008%05d", i))
			others[i].text(text)
		}
		for i, p := range people {
			p.until("it is confirmed", func() bool { return len(p.gets()) > 0 })
			checkSuppressed(t, p, stops[i], true)
		}
		for _, p := range others {
			p.until("it is taken in", func() bool { return len(p.turns()) > 1 })
		}
		r.comeToRest()
		for i, p := range people {
			p.got(stopped[languages[i]])
		}
		for i, p := range others {
			checkSuppressed(t, p, sentences[i], false)
			if got := p.gets(); len(got) > 0 {
				t.Errorf("%q gets %q", sentences[i], got)
			}
		}
		for i, text := range starts {
			people[i].text(text)
		}
		for i, p := range people[:len(starts)] {
			p.got(stopped[languages[i]], started[startLanguages[i]])
			p.until("the suppression is lifted", func() bool { // the confirmation comes before it
				is, err := r.suppressed(t.Context(), p.company.ID, p.address())
				return !is && err == nil
			})
		}
		for i, p := range people[len(starts):] {
			checkSuppressed(t, p, stops[len(starts)+i], true)
		}
		if strings.Contains(r.log.String(), "take in") {
			t.Error(r.log.String())
		}
	})
}

func TestStopEndsAFlowThatAsks(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600990001")
		p.text("echo")
		p.got("What?")
		p.text("Stop")
		p.got("What?", stopped["en"])
		p.text("x")
		p.shows("> echo", "* flow_began echo", "< What?", "> Stop", "* stopped", "< "+stopped["en"], "> x", "* handoff_requested",
			"* missed")
		p.got("What?", stopped["en"])
		if run := p.newestRun(); run.State != string(flow.Stopped) {
			t.Errorf("the run is %s", run.State)
		}
	})
}

// The language of the confirmation is that of the word or of the answered notification, since STOP is used in all
// languages.
func TestStopIsConfirmedInThePersonsLanguage(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600990003")
		r.bind(p.number, &chats.Bound{Event: "order-shipped", NotificationID: "n1", Language: "pt-BR"})
		p.text("STOP")
		p.got(stopped["pt"])
		p.text("alta")
		p.got(stopped["pt"], started["es"])
	})
}

// For people who get messages, START is an ordinary word.
func TestStartIsAWordLikeAnyOtherToThoseWhoGetMessages(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.flows.lay("started", flow.Trigger{Keywords: []string{"start", "alta"}}, `[{"say": "A flow began"}]`)
		r.run()
		p := r.person("34600990002")
		p.text("START")
		p.got("A flow began")
	})
}

// STOP in a caption has no effect, since it belongs to the file.
func TestTheCaptionOfAFileStopsNothing(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.putFiles()
		r.run()
		p := r.person("34600990004")
		p.write("wamid.1", `{"type":"image","image":{"id":"png","mime_type":"image/png","caption":"STOP"}}`)
		p.shows("> STOP (image.png image/png)", "* handoff_requested", "* missed")
		checkSuppressed(t, p, "a caption", false)
	})
}

// A node that stops during a STOP, or whose database is unavailable, obeys it later, and the confirmation is sent
// once.
func TestAStopThatFailedIsObeyedLater(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		failures := 3
		r.suppressing = func() error {
			if failures--; failures >= 0 {
				return errors.New("the database is away")
			}
			return nil
		}
		r.run()
		p := r.person("34600990005")
		p.text("STOP")
		p.got(stopped["en"])
		checkSuppressed(t, p, "STOP", true)
		p.shows("> STOP", "* stopped", "< "+stopped["en"])
	})
}

// Two companies know the same number: a STOP to one does not affect the other.
func TestStopIsForOneCompany(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		beta := &carillon.Company{ID: carillon.NewID(time.Now().Add(time.Millisecond)), Name: "Beta"}
		s := r.addSender(beta, "main")
		r.run()
		p := r.person("34600990006")
		p.text("Hello")
		p.take(s, callback(t, p.number, "Ana", p.message("wamid.stop", "STOP", r.now())))
		p.got(stopped["en"])
		for company, want := range map[string]bool{r.company.ID: false, beta.ID: true} {
			if got, err := r.suppressed(context.WithoutCancel(t.Context()), company, p.number); got != want || err != nil {
				t.Errorf("%s suppresses it: %t, %v", company, got, err)
			}
		}
		p.shows("> Hello", "* handoff_requested", "* missed")
	})
}

// A message that can never be processed is given up after some attempts, and its conversation shows that there was
// one. While the database is unavailable, it is not given up.
func TestAMessageThatCannotBeTakenInIsShownAsSuch(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"a fault of ours": {
			errors.New("a fault"), []string{"> STOP", "* not_shown", "< We couldn't process your message. Please send it again."},
		},
		"the database was away": {context.DeadlineExceeded, []string{"> STOP", "* stopped", "< " + stopped["en"]}},
	} {
		t.Run(name, func(t *testing.T) {
			onSQLite(t, func(t *testing.T, r *rig) {
				tries := 0
				r.suppressing = func() error {
					if tries++; tries > 15 {
						return nil
					}
					return c.err
				}
				r.run()
				p := r.person("34600990015")
				p.text("STOP")
				time.Sleep(time.Hour) // fake time
				p.shows(c.want...)
				if given := tries == 10; given != (name == "a fault of ours") {
					t.Errorf("it was tried %d times", tries)
				}
			})
		})
	}
}

// The payload of a button counts like its text, except for words that are ordinary answers.
func TestAButtonStopsByItsPayload(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		for i, c := range []struct {
			message string
			stops   bool
		}{
			{`{"type":"button","button":{"payload":"STOP","text":"No, thanks"}}`, true},
			{`{"type":"button","button":{"payload":"p-1","text":"Unsubscribe"}}`, true},
			{`{"type":"button","button":{"payload":"darme de baja","text":"👎"}}`, true},
			{`{"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"OPT-OUT","title":"I have enough"}}}`, true},
			{`{"type":"button","button":{"payload":"Cancel","text":"Cancel"}}`, false},
			{`{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.2","title":"Cancelar"}}}`, false},
			{`{"type":"button","button":{"payload":"stop-by-the-shop","text":"Stop by"}}`, false},
			{`{"type":"contacts","contacts":[{"name":{"formatted_name":"Stop"}}]}`, false},
			{
				`{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"body":"STOP",` +
					`"response_json":"{\"stop\":\"please stop\"}"}}}`, false,
			},
			{`{"type":"edit","edit":{"original_message_id":"wamid.x","message":{"type":"text","text":{"body":"STOP"}}}}`, true},
		} {
			p := r.person(fmt.Sprintf("346009300%02d", i))
			p.write(fmt.Sprint("wamid.button.", i), c.message)
			p.until("it is taken in", func() bool { return len(p.turns()) > 0 })
			if c.stops {
				p.until("it is confirmed", func() bool {
					return slices.Contains(p.lines(), "< "+stopped["en"]) || slices.Contains(p.lines(), "< "+stopped["es"])
				})
			}
			r.comeToRest()
			checkSuppressed(t, p, c.message, c.stops)
		}
	})
}

// Words that are ordinary answers are only answers if they were offered or start a flow. A request to stop in other
// words is still obeyed.
func TestAnOfferedWordIsAnAnswer(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.flows.lay("booking", flow.Trigger{Keywords: []string{"booking"}},
			`[{"say": "Your booking:"}, {"ask": "what", "choices": ["Keep", "Cancel", "Stop"]}, {"say": "You said {{what}}"}]`)
		r.flows.lay("leave", flow.Trigger{Keywords: []string{"parar"}}, `[{"say": "Where shall we stop?"}]`)
		r.run()
		p := r.person("34600940001")
		p.text("booking")
		p.got("Your booking: [Keep] [Cancel] [Stop]")
		p.text("cancel")
		p.got("Your booking: [Keep] [Cancel] [Stop]", "You said Cancel")
		checkSuppressed(t, p, "an offered word", false)
		p.text("Parar")
		p.got("Your booking: [Keep] [Cancel] [Stop]", "You said Cancel", "Where shall we stop?")
		checkSuppressed(t, p, "a keyword", false)
		p.text("cancel")
		p.got("Your booking: [Keep] [Cancel] [Stop]", "You said Cancel", "Where shall we stop?", stopped["en"])
		checkSuppressed(t, p, "a word that was not offered", true)

		q := r.person("34600940002")
		q.text("booking")
		q.got("Your booking: [Keep] [Cancel] [Stop]")
		q.text("Stop")
		q.got("Your booking: [Keep] [Cancel] [Stop]", stopped["en"])
		checkSuppressed(t, q, "STOP, although it was offered", true)
	})
}
