package conversation

import (
	"carillon/internal/base/language"
	"carillon/internal/talk/flow"
)

// texts are what a flow says that its steps do not give, in one language.
type texts struct {
	flow.Words
	moment string // while an effect is done, aloud
}

var languages = map[string]texts{ //nolint:gochecknoglobals // read only
	"en": {flow.Words{Retry: "I did not understand that.", Choose: "Please choose."}, "One moment, please."},
	"es": {flow.Words{Retry: "No lo he entendido.", Choose: "Elija una opción, por favor."}, "Un momento, por favor."},
	"pt": {flow.Words{Retry: "Não entendi.", Choose: "Escolha uma opção, por favor."}, "Um momento, por favor."},
}

// FlowWords are what flows say in a language (BCP 47) that their steps do not give.
func FlowWords(tag string) flow.Words { return textsOf(tag).Words }

// textsOf are the texts in a language (BCP 47), else the English ones.
func textsOf(tag string) texts { return language.Of(languages, tag) }
