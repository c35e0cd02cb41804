package telephone

import "carillon/internal/base/language"

// words are the first words of calls, in one language. %s is the company; of wanted, the person; of about, the purpose.
type words struct {
	automated, answered, trial, unreached string
	recorded, recordedBySpeech            string // how to refuse the recording: by a key; by words too
	caller, wanted, about                 string // to a screening assistant
}

var languages = map[string]words{ //nolint:gochecknoglobals // read only
	"en": {
		"This is an automated call from %s.", "This is the automated assistant of %s.",
		"This is a test call from %s. The phone line works. Goodbye.",
		"Sorry, no one there can take your call right now. What else can I do for you?",
		"This call is recorded. If you don't agree, press star.",
		"This call is recorded. If you don't agree, say don't record, or press star.",
		"This is %s", "for %s", "about %s",
	},
	"es": {
		"Esta es una llamada automática de %s.", "Le atiende el asistente automático de %s.",
		"Esta es una llamada de prueba de %s. Su línea telefónica funciona. Adiós.",
		"Lo siento, ahora nadie puede atenderle allí. ¿En qué más puedo ayudarle?",
		"La llamada se graba. Si no está de acuerdo, pulse asterisco.",
		"La llamada se graba. Si no está de acuerdo, diga: no grabe, o pulse asterisco.",
		"Llama %s", "para hablar con %s", "por lo siguiente: %s",
	},
	"pt": {
		"Esta é uma ligação automática de %s.",
		"Você está falando com o assistente automático de %s.",
		"Esta é uma ligação de teste de %s. A linha telefônica funciona. Até logo.",
		"Sinto muito, ninguém pode atender agora. Em que mais posso ajudar?",
		"Esta ligação está sendo gravada. Se não concordar, tecle asterisco.",
		"Esta ligação está sendo gravada. Se não concordar, diga: não grave, ou tecle asterisco.",
		"Aqui é %s", "para falar com %s", "sobre %s",
	},
}

func wordsOf(tag string) words { return language.Of(languages, tag) }
