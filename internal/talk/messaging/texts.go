package messaging

import "carillon/internal/base/language"

// texts are the built-in notices to people in one language.
type texts struct {
	stopped, started string
	unread           string            // for a message that cannot be read
	givenUp          string            // for a message that could not be processed
	noFile           map[string]string // for a missing file, by reason
}

var languages = map[string]texts{ //nolint:gochecknoglobals // read only
	"en": {
		stopped: "You will get no more messages from us. Write START to get them again.",
		started: "You will get our messages again. Write STOP to end them.",
		unread:  "We cannot read this kind of message here. Please write it as a text.",
		givenUp: "We could not take your message in. Please send it again.",
		noFile: map[string]string{
			fileGone:        "Your file did not reach us. Please send it again.",
			fileTooLarge:    "Your file is too large for us. Please send a smaller one.",
			fileNotTaken:    "We cannot take a file of this kind. Please send it as a PDF or a picture.",
			fileLimit:       "We have no room for your file. Please send what it says as a text.",
			fileUnavailable: "Your file did not reach us. Please send it again.",
		},
	},
	"es": {
		stopped: "No recibirá más mensajes nuestros. Escriba ALTA para recibirlos de nuevo.",
		started: "Volverá a recibir nuestros mensajes. Escriba BAJA para dejar de recibirlos.",
		unread:  "Aquí no podemos leer este tipo de mensaje. Por favor, escríbalo como texto.",
		givenUp: "No hemos podido recibir su mensaje. Por favor, envíelo otra vez.",
		noFile: map[string]string{
			fileGone:        "Su archivo no nos ha llegado. Por favor, envíelo otra vez.",
			fileTooLarge:    "Su archivo es demasiado grande. Por favor, envíe uno más pequeño.",
			fileNotTaken:    "No admitimos este tipo de archivo. Por favor, envíelo como PDF o como imagen.",
			fileLimit:       "No tenemos espacio para su archivo. Por favor, escriba su contenido como texto.",
			fileUnavailable: "Su archivo no nos ha llegado. Por favor, envíelo otra vez.",
		},
	},
	"pt": {
		stopped: "Você não receberá mais mensagens nossas. Escreva VOLTAR para recebê-las de novo.",
		started: "Você voltará a receber nossas mensagens. Escreva SAIR para deixar de recebê-las.",
		unread:  "Aqui não conseguimos ler este tipo de mensagem. Por favor, escreva como texto.",
		givenUp: "Não conseguimos receber sua mensagem. Por favor, envie de novo.",
		noFile: map[string]string{
			fileGone:        "Seu arquivo não chegou até nós. Por favor, envie de novo.",
			fileTooLarge:    "Seu arquivo é grande demais. Por favor, envie um menor.",
			fileNotTaken:    "Não aceitamos este tipo de arquivo. Por favor, envie como PDF ou imagem.",
			fileLimit:       "Não temos espaço para seu arquivo. Por favor, escreva o conteúdo como texto.",
			fileUnavailable: "Seu arquivo não chegou até nós. Por favor, envie de novo.",
		},
	},
}

// textsOf returns the texts in the first of the languages that is available, or the English ones.
func textsOf(tags ...string) texts { return language.Of(languages, tags...) }
