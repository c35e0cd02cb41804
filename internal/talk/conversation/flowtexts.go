package conversation

import (
	"carillon/internal/base/language"
	"carillon/internal/talk/flow"
)

// texts are the built-in texts of flows in one language.
type texts struct {
	flow.Words
	moment string // said while an effect is performed, in spoken conversations
}

var languages = map[string]texts{ //nolint:gochecknoglobals // read only
	"en": {flow.Words{Retry: "Sorry, I didn't catch that.", Choose: "Please choose an option."}, "One moment, please."},
	"es": {flow.Words{Retry: "Perdone, no le he entendido.", Choose: "Elija una opción, por favor."}, "Un momento, por favor."},
	"pt": {flow.Words{Retry: "Desculpe, não entendi.", Choose: "Escolha uma opção, por favor."}, "Um momento, por favor."},
}

// FlowWords returns the built-in texts of flows in a language (BCP 47).
func FlowWords(tag string) flow.Words { return textsOf(tag).Words }

// textsOf returns the texts in a language (BCP 47), or the English ones.
func textsOf(tag string) texts { return language.Of(languages, tag) }
