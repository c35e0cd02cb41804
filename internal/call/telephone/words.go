package telephone

import "carillon/internal/base/language"

// words are the first words of calls, in one language. %s is the company; of wanted, the person; of about, the purpose.
type words struct {
	automated, answered, trial      string
	recorded, refuseByKey, refuseBy string // how to refuse the recording: by a key; by words too
	caller, wanted, about           string // to a screening assistant
	unreached, returned, holding    string // to a caller, about a transfer
	position                        string // in the queue, %d
	hidden, accept                  string // to the person who answers a second leg: a caller without a number, and the keys
}

var languages = map[string]words{ //nolint:gochecknoglobals // read only
	"en": {
		"This is an automated call from %s.", "This is the automated assistant of %s.",
		"This is a test call from %s. The phone line works. Goodbye.",
		"This call is recorded.", "If you don't agree, press star.", "If you don't agree, say don't record, or press star.",
		"This is %s", "for %s", "about %s",
		"Nobody is free at the moment. How else can I help?", "I'm back. What else can I do for you?",
		"I'm still trying to reach someone. Please hold, or press the pound key to talk to me again.",
		"You are number %d in line. Please hold, or press the pound key to talk to me again.",
		"a hidden number", "Press 1 to take the call, 2 to decline.",
	},
	"es": {
		"Esta es una llamada automática de %s.", "Le atiende el asistente automático de %s.",
		"Esta es una llamada de prueba de %s. Su línea telefónica funciona. Adiós.",
		"La llamada se graba.", "Si no está de acuerdo, pulse asterisco.", "Si no está de acuerdo, diga: no grabe, o pulse asterisco.",
		"Llama %s", "para hablar con %s", "por lo siguiente: %s",
		"En este momento no hay nadie libre. ¿En qué más puedo ayudarle?", "Ya estoy aquí otra vez. ¿En qué más puedo ayudarle?",
		"Sigo intentando localizar a alguien. No se retire, o pulse la tecla almohadilla para volver a hablar conmigo.",
		"Es el número %d de la cola. No se retire, o pulse la tecla almohadilla para volver a hablar conmigo.",
		"un número oculto", "Pulse 1 para atender la llamada, 2 para rechazarla.",
	},
	"pt": {
		"Esta é uma ligação automática de %s.",
		"Você está falando com o assistente automático de %s.",
		"Esta é uma ligação de teste de %s. A linha telefônica funciona. Até logo.",
		"Esta ligação está sendo gravada.", "Se não concordar, tecle asterisco.", "Se não concordar, diga: não grave, ou tecle asterisco.",
		"Aqui é %s", "para falar com %s", "sobre %s",
		"No momento, ninguém está livre. Em que mais posso ajudar?", "Estou de volta. Em que mais posso ajudar?",
		"Ainda estou tentando localizar alguém. Aguarde na linha, ou tecle cerquilha para falar comigo de novo.",
		"Você é o número %d da fila. Aguarde na linha, ou tecle cerquilha para falar comigo de novo.",
		"um número oculto", "Tecle 1 para atender a ligação, 2 para recusar.",
	},
}

func wordsOf(tag string) words { return language.Of(languages, tag) }
