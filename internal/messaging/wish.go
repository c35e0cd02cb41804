package messaging

import (
	"slices"
	"strings"

	"carillon/internal/flow"
)

// wish is what a message asks for that is always obeyed.
type wish string

const (
	stop  wish = "stop"
	start wish = "start"
)

// wishes are the words of each, by language, without case and accents. A message is one where it is nothing else.
var wishes = map[wish]map[string][]string{ //nolint:gochecknoglobals // read only
	stop: {
		"en": {"stop", "stop all", "stopall", "unsubscribe", "quit", "end", "opt out", "optout", "stop promotions"},
		"es": {"baja", "parar", "alto", "cancelar suscripcion", "darme de baja", "dar de baja", "no mas mensajes", "detener", "detener promociones"},
		"pt": {"sair", "pare", "parar mensagens", "cancelar inscricao", "descadastrar", "remover", "interromper", "interromper promocoes"},
	},
	start: {
		"en": {"start", "unstop", "subscribe", "opt in", "optin", "resume promotions"},
		"es": {"alta", "darme de alta", "iniciar", "suscribirme", "reanudar promociones"},
		"pt": {"voltar", "inscrever", "iniciar mensagens", "retomar promocoes"},
	},
}

// wishOf is what a message asks for; "": nothing of the kind.
func wishOf(text string) wish {
	for _, w := range []wish{stop, start} {
		if languageOf(w, text) != "" {
			return w
		}
	}
	return ""
}

func languageOf(w wish, text string) string {
	plain := flow.Plain(text)
	for _, language := range []string{"en", "es", "pt"} {
		if slices.Contains(wishes[w][language], plain) {
			return language
		}
	}
	return ""
}

// wishLanguage is the language of a wish's words, where they are of one other than English: STOP is said in every language.
func wishLanguage(text string) string {
	language := languageOf(stop, text)
	if language == "" {
		language = languageOf(start, text)
	}
	if language == "en" {
		return ""
	}
	return language
}

type texts struct{ stopped, started string }

var languages = map[string]texts{ //nolint:gochecknoglobals // read only
	"en": {"You will get no more messages from us. Write START to get them again.", "You will get our messages again. Write STOP to end them."},
	"es": {"No recibirá más mensajes nuestros. Escriba ALTA para recibirlos de nuevo.", "Volverá a recibir nuestros mensajes. Escriba BAJA para dejar de recibirlos."},
	"pt": {"Você não receberá mais mensagens nossas. Escreva VOLTAR para recebê-las de novo.", "Você voltará a receber nossas mensagens. Escreva SAIR para deixar de recebê-las."},
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
