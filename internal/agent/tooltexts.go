package agent

import "carillon/internal/base/language"

// toolTexts are the texts of the program about tools at servers, in one language.
type toolTexts struct{ give, shall, canceled, failed, nothing, unsure, unread, date, done, dropped string }

var toolLanguages = map[string]toolTexts{ //nolint:gochecknoglobals // read-only
	"en": {
		give:     "What is the %s?",
		shall:    "Shall I go ahead with this: %s?",
		canceled: "All right, I have not done that. What else can I do for you?",
		failed:   "That did not work, I am sorry. Would you like to talk to a person?",
		nothing:  "I found nothing for that. Please check what you gave me, or talk to a person.",
		unsure:   "I am not sure whether that worked, so I am not trying it again. Would you like to talk to a person?",
		unread:   "I did not understand that.",
		date:     "Please write the date like this: 2026-06-05.",
		done:     "Done.",
		dropped:  "Let us leave that. Would you like to talk to a person?",
	},
	"es": {
		give:     "¿Cuál es el dato «%s»?",
		shall:    "¿Quiere que lo haga? %s",
		canceled: "De acuerdo, no lo he hecho. ¿En qué más puedo ayudarle?",
		failed:   "Lo siento, no ha funcionado. ¿Quiere hablar con una persona?",
		nothing:  "No he encontrado nada. Compruebe los datos, por favor, o hable con una persona.",
		unsure:   "No sé si ha funcionado, así que no lo vuelvo a intentar. ¿Quiere hablar con una persona?",
		unread:   "No lo he entendido.",
		date:     "Escriba la fecha así, por favor: 2026-06-05.",
		done:     "Hecho.",
		dropped:  "Dejémoslo así. ¿Quiere hablar con una persona?",
	},
	"pt": {
		give:     "Qual é o dado “%s”?",
		shall:    "Posso fazer isto? %s",
		canceled: "Tudo bem, não fiz nada. Em que mais posso ajudar?",
		failed:   "Desculpe, não deu certo. Quer falar com uma pessoa?",
		nothing:  "Não encontrei nada. Confira os dados, por favor, ou fale com uma pessoa.",
		unsure:   "Não sei se deu certo, por isso não vou tentar de novo. Quer falar com uma pessoa?",
		unread:   "Não entendi.",
		date:     "Escreva a data assim, por favor: 2026-06-05.",
		done:     "Feito.",
		dropped:  "Vamos deixar isso de lado. Quer falar com uma pessoa?",
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
