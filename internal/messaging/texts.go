package messaging

import "strings"

// texts are what the program itself says to people, in one language.
type texts struct {
	stopped, started string
}

var languages = map[string]texts{ //nolint:gochecknoglobals // read only
	"en": {
		stopped: "You will get no more messages from us. Write START to get them again.",
		started: "You will get our messages again. Write STOP to end them.",
	},
	"es": {
		stopped: "No recibirá más mensajes nuestros. Escriba ALTA para recibirlos de nuevo.",
		started: "Volverá a recibir nuestros mensajes. Escriba BAJA para dejar de recibirlos.",
	},
	"pt": {
		stopped: "Você não receberá mais mensagens nossas. Escreva VOLTAR para recebê-las de novo.",
		started: "Você voltará a receber nossas mensagens. Escreva SAIR para deixar de recebê-las.",
	},
}

// textsOf are the texts in the first of the languages that has any, else the English ones.
func textsOf(tags ...string) texts {
	for _, tag := range tags {
		base, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if t, ok := languages[base]; ok {
			return t
		}
	}
	return languages["en"]
}
