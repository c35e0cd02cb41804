package agent

import (
	"context"
	"strings"
)

// Builtin is the thinker that needs no other service.
type Builtin struct{}

// Reply implements Thinker.
func (Builtin) Reply(_ context.Context, r *Request, emit func(Action) error) error {
	texts := textsOf(r.Language)
	if strings.EqualFold(strings.TrimSpace(r.Message()), texts.person) {
		return emit(Action{Handoff: "asked for a person"})
	}
	return emit(Action{Say: texts.unknown, Choices: []string{texts.person}, Unanswered: true})
}

// texts are what the built-in thinker says in one language.
type texts struct{ unknown, person string }

func textsOf(language string) texts {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch base {
	case "es":
		return texts{"No lo sé. ¿Quiere hablar con una persona?", "Hablar con una persona"}
	case "pt":
		return texts{"Não sei. Quer falar com uma pessoa?", "Falar com uma pessoa"}
	}
	return texts{"I do not know that. Shall I get a person for you?", "Talk to a person"}
}
