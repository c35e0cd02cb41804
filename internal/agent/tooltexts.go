package agent

import "carillon/internal/base/language"

// toolTexts are the texts of the program about tools at servers, in one language.
type toolTexts struct{ give, shall, canceled, failed, nothing, unsure, unread, date, done, dropped string }

var toolLanguages = map[string]toolTexts{ //nolint:gochecknoglobals // read-only
	"en": {
		give:     "What is the %s?",
		shall:    "Shall I go ahead with this: %s?",
		canceled: "All right, I won't do that. What else can I do for you?",
		failed:   "Sorry, that didn't work. Would you like to talk to our team?",
		nothing:  "I couldn't find anything. Please check your details, or talk to our team.",
		unsure:   "I'm not sure if that worked, so I won't try again. Would you like to talk to our team?",
		unread:   "Sorry, I didn't catch that.",
		date:     "Please write the date like this: 2026-06-05.",
		done:     "Done.",
		dropped:  "Let's leave that. Would you like to talk to our team?",
	},
	"es": {
		give:     "¿Cuál es el dato «%s»?",
		shall:    "¿Quiere que lo haga? %s",
		canceled: "De acuerdo, no lo he hecho. ¿En qué más puedo ayudarle?",
		failed:   "Lo siento, no ha funcionado. ¿Quiere hablar con nuestro equipo?",
		nothing:  "No he encontrado nada. Compruebe los datos, por favor, o hable con nuestro equipo.",
		unsure:   "No sé si ha funcionado, así que no volveré a intentarlo. ¿Quiere hablar con nuestro equipo?",
		unread:   "Perdone, no le he entendido.",
		date:     "Escriba la fecha así, por favor: 2026-06-05.",
		done:     "Hecho.",
		dropped:  "Dejémoslo así. ¿Quiere hablar con nuestro equipo?",
	},
	"pt": {
		give:     "Qual é o dado “%s”?",
		shall:    "Posso fazer isto? %s",
		canceled: "Tudo bem, não fiz nada. Em que mais posso ajudar?",
		failed:   "Desculpe, não deu certo. Quer falar com nossa equipe?",
		nothing:  "Não encontrei nada. Confira os dados, por favor, ou fale com nossa equipe.",
		unsure:   "Não sei se deu certo, por isso não vou tentar novamente. Quer falar com nossa equipe?",
		unread:   "Não entendi.",
		date:     "Escreva a data assim, por favor: 2026-06-05.",
		done:     "Feito.",
		dropped:  "Vamos deixar isso de lado. Quer falar com nossa equipe?",
	},
}

func toolTextsOf(tags ...string) toolTexts { return language.Of(toolLanguages, tags...) }

// cancels are the messages that give up a call, folded like the result of knowledge.Words.
var cancels = []string{ //nolint:gochecknoglobals // read-only
	"cancel", "cancel that", "cancel it", "never mind", "nevermind", "forget it", "forget that", "stop", "leave it", "do not", "don t",
	"cancelar", "cancela", "cancelalo", "olvidalo", "dejalo", "dejelo", "no importa", "para", "nada",
	"cancele", "esquece", "esqueca", "deixa", "deixa pra la", "deixe", "nao importa", "pare",
}

// confirmations are messages that agree to a call, besides those that agree to anything.
var confirmations = []string{ //nolint:gochecknoglobals // read-only
	"ok", "okay", "go ahead", "do it", "please do it", "confirm", "i confirm", "confirmed", "correct", "that is correct", "that s right",
	"adelante", "hazlo", "hagalo", "de acuerdo", "confirmo", "correcto", "eso es",
	"pode", "pode fazer", "isso", "isso mesmo", "certo", "correto", "confirmado",
}
