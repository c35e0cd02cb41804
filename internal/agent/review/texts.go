package review

import (
	"strings"

	"carillon/internal/agent"
	"carillon/internal/base/language"
)

// texts are the texts of reviews by rules, in one language. %s stands for a value.
type texts struct {
	began, questions, results, team, teamFor, joined, alone, tools, last string
	nothing, unsure, failed                                              string
	outcomes                                                             map[agent.Outcome][2]string // for one, and for several
	result, missing, didTool, collected, rated, liked, disliked          string
	unanswered, unclear, yes, no                                         string
}

var languages = map[string]texts{ //nolint:gochecknoglobals // read-only
	"en": {
		began:     "Began with “%s”.",
		questions: "Questions: %s.",
		results:   "Results: %s.",
		outcomes: map[agent.Outcome][2]string{
			agent.Answered: {"answered", "answered"}, agent.Offered: {"with suggestions", "with suggestions"},
			agent.HandedOver: {"passed to the team", "passed to the team"}, agent.Unanswered: {"unanswered", "unanswered"},
		},
		team:       "The person asked for the team.",
		teamFor:    "The team was asked to take over: %s.",
		joined:     "A teammate joined.",
		alone:      "No one from the team joined.",
		tools:      "Tools: %s.",
		last:       "Last reply: “%s”.",
		nothing:    "nothing found",
		unsure:     "outcome unknown",
		failed:     "failed",
		result:     "The result %s is: %s.",
		missing:    "The person didn't answer the question about %s.",
		didTool:    "The tool %s did what the person requested.",
		collected:  "The agent collected all answers.",
		rated:      "The person rated the conversation %s out of 5.",
		liked:      "The person marked the answer as helpful.",
		disliked:   "The person marked the answer as not helpful.",
		unanswered: "The agent couldn't answer.",
		unclear:    "The conversation doesn't show it.",
		yes:        "yes",
		no:         "no",
	},
	"es": {
		began:     "Empezó con «%s».",
		questions: "Preguntas: %s.",
		results:   "Datos: %s.",
		outcomes: map[agent.Outcome][2]string{
			agent.Answered: {"respondida", "respondidas"}, agent.Offered: {"con sugerencias", "con sugerencias"},
			agent.HandedOver: {"pasada al equipo", "pasadas al equipo"}, agent.Unanswered: {"sin respuesta", "sin respuesta"},
		},
		team:       "La persona pidió hablar con el equipo.",
		teamFor:    "Se avisó al equipo: %s.",
		joined:     "Atendió una persona del equipo.",
		alone:      "No atendió nadie del equipo.",
		tools:      "Herramientas: %s.",
		last:       "Última respuesta: «%s».",
		nothing:    "sin resultados",
		unsure:     "resultado desconocido",
		failed:     "falló",
		result:     "El dato %s es: %s.",
		missing:    "La persona no respondió a la pregunta sobre %s.",
		didTool:    "La herramienta %s hizo lo que pidió la persona.",
		collected:  "El agente recogió todas las respuestas.",
		rated:      "La persona valoró la conversación con un %s de 5.",
		liked:      "La persona marcó la respuesta como útil.",
		disliked:   "La persona marcó la respuesta como poco útil.",
		unanswered: "El agente no supo responder.",
		unclear:    "La conversación no permite saberlo.",
		yes:        "sí",
		no:         "no",
	},
	"pt": {
		began:     "Começou com “%s”.",
		questions: "Perguntas: %s.",
		results:   "Dados: %s.",
		outcomes: map[agent.Outcome][2]string{
			agent.Answered: {"respondida", "respondidas"}, agent.Offered: {"com sugestões", "com sugestões"},
			agent.HandedOver: {"passada para a equipe", "passadas para a equipe"}, agent.Unanswered: {"sem resposta", "sem resposta"},
		},
		team:       "A pessoa pediu para falar com a equipe.",
		teamFor:    "A equipe foi chamada: %s.",
		joined:     "Uma pessoa da equipe atendeu.",
		alone:      "Ninguém da equipe atendeu.",
		tools:      "Ferramentas: %s.",
		last:       "Última resposta: “%s”.",
		nothing:    "nada encontrado",
		unsure:     "resultado desconhecido",
		failed:     "falhou",
		result:     "O dado %s é: %s.",
		missing:    "A pessoa não respondeu à pergunta sobre %s.",
		didTool:    "A ferramenta %s fez o que a pessoa pediu.",
		collected:  "O agente coletou todas as respostas.",
		rated:      "A pessoa deu nota %s de 5 à conversa.",
		liked:      "A pessoa marcou a resposta como útil.",
		disliked:   "A pessoa marcou a resposta como pouco útil.",
		unanswered: "O agente não soube responder.",
		unclear:    "A conversa não mostra isso.",
		yes:        "sim",
		no:         "não",
	},
}

func textsOf(tags ...string) texts { return language.Of(languages, tags...) }

// shown returns a value as people read it.
func (t texts) shown(v agent.Value) string {
	switch {
	case v.Type == "boolean" && v.Text == "true":
		return t.yes
	case v.Type == "boolean":
		return t.no
	}
	return v.Text
}

// with puts values in the places of a text. A value cannot add places.
func (texts) with(text string, values ...string) string {
	parts := strings.Split(text, "%s")
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i < len(values) {
			b.WriteString(values[i])
		}
	}
	return b.String()
}
