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
		stopped: "You're unsubscribed. Reply START to resubscribe.",
		started: "You're subscribed again. Reply STOP to unsubscribe.",
		unread:  "We can't read this type of message here. Please send it as text.",
		givenUp: "We couldn't process your message. Please send it again.",
		noFile: map[string]string{
			fileGone:        "We didn't get your file. Please send it again.",
			fileTooLarge:    "Your file is too large. Please send a smaller one.",
			fileNotTaken:    "We can't accept this type of file. Please send it as a PDF or an image.",
			fileLimit:       "We can't store more files. Please send the content as text.",
			FileUnavailable: "We didn't get your file. Please send it again.",
		},
	},
	"es": {
		stopped: "Se ha dado de baja. Responda ALTA para volver a recibir nuestros mensajes.",
		started: "Se ha dado de alta de nuevo. Responda BAJA para dejar de recibir nuestros mensajes.",
		unread:  "Aquí no podemos leer este tipo de mensaje. Por favor, escríbalo como texto.",
		givenUp: "No hemos podido procesar su mensaje. Por favor, envíelo de nuevo.",
		noFile: map[string]string{
			fileGone:        "No hemos recibido su archivo. Por favor, envíelo de nuevo.",
			fileTooLarge:    "Su archivo es demasiado grande. Por favor, envíe uno más pequeño.",
			fileNotTaken:    "No admitimos este tipo de archivo. Por favor, envíelo como PDF o como imagen.",
			fileLimit:       "No tenemos espacio para su archivo. Por favor, escriba su contenido como texto.",
			FileUnavailable: "No hemos recibido su archivo. Por favor, envíelo de nuevo.",
		},
	},
	"pt": {
		stopped: "Você se descadastrou. Responda VOLTAR para voltar a receber nossas mensagens.",
		started: "Você se cadastrou novamente. Responda SAIR para não receber mais nossas mensagens.",
		unread:  "Aqui não conseguimos ler este tipo de mensagem. Por favor, escreva como texto.",
		givenUp: "Não conseguimos processar sua mensagem. Por favor, envie novamente.",
		noFile: map[string]string{
			fileGone:        "Não recebemos seu arquivo. Por favor, envie novamente.",
			fileTooLarge:    "Seu arquivo é grande demais. Por favor, envie um menor.",
			fileNotTaken:    "Não aceitamos este tipo de arquivo. Por favor, envie como PDF ou imagem.",
			fileLimit:       "Não temos espaço para seu arquivo. Por favor, escreva o conteúdo como texto.",
			FileUnavailable: "Não recebemos seu arquivo. Por favor, envie novamente.",
		},
	},
}

// textsOf returns the texts in the first of the languages that is available, or the English ones.
func textsOf(tags ...string) texts { return language.Of(languages, tags...) }
