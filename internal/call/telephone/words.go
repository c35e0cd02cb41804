package telephone

import "carillon/internal/base/language"

// words are the first words of calls, in one language. %s is the company.
type words struct{ automated, recorded, answered, trial, unreached string }

var languages = map[string]words{ //nolint:gochecknoglobals // read only
	"en": {
		"This is an automated call from %s.", "This call is recorded.", "This is the automated assistant of %s.",
		"This is a test call from %s. The phone line works. Goodbye.",
		"Sorry, no one there can take your call right now. What else can I do for you?",
	},
	"es": {
		"Esta es una llamada automática de %s.", "La llamada se graba.", "Le atiende el asistente automático de %s.",
		"Esta es una llamada de prueba de %s. Su línea telefónica funciona. Adiós.",
		"Lo siento, ahora nadie puede atenderle allí. ¿En qué más puedo ayudarle?",
	},
	"pt": {
		"Esta é uma ligação automática de %s.", "Esta ligação está sendo gravada.",
		"Você está falando com o assistente automático de %s.",
		"Esta é uma ligação de teste de %s. A linha telefônica funciona. Até logo.",
		"Sinto muito, ninguém pode atender agora. Em que mais posso ajudar?",
	},
}

func wordsOf(tag string) words { return language.Of(languages, tag) }
