package agent

import (
	"slices"
	"strings"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/language"
)

// texts are the texts of the built-in thinker in one language.
type texts struct {
	greeting, thanks, goodbye, declined, unknown, person, done, failed, yes, no, filled, misunderstood string
	offer, offerOne                                                                                    string
	foreign                                                                                            string // with {{language}}
}

var languages = map[string]texts{ //nolint:gochecknoglobals // read-only
	"en": {
		greeting:      "Hello! How can I help?",
		thanks:        "You're welcome! Is there anything else I can help with?",
		goodbye:       "Goodbye, and have a great day!",
		declined:      "No problem. What else can I help with?",
		unknown:       "I couldn't find that. Would you like to talk to our team?",
		person:        "Talk to a person",
		done:          "Done.",
		failed:        "Sorry, that didn't work.",
		yes:           "Yes",
		no:            "No",
		filled:        "Thanks, I've made a note of that. Is there anything else?",
		misunderstood: "Sorry, I didn't catch that.",
		offer:         "I'm not sure I understood. Is it one of these?",
		offerOne:      "I'm not sure I understood. Is it about this?",
		foreign:       "I could only find this in {{language}}:",
	},
	"es": {
		greeting:      "¡Hola! ¿En qué puedo ayudarle?",
		thanks:        "¡De nada! ¿Puedo ayudarle en algo más?",
		goodbye:       "¡Hasta luego! Que tenga un buen día.",
		declined:      "De acuerdo. ¿En qué más puedo ayudarle?",
		unknown:       "No he encontrado esa información. ¿Quiere hablar con nuestro equipo?",
		person:        "Hablar con una persona",
		done:          "Hecho.",
		failed:        "Lo siento, no ha funcionado.",
		yes:           "Sí",
		no:            "No",
		filled:        "Gracias, tomo nota. ¿Puedo ayudarle en algo más?",
		misunderstood: "Perdone, no le he entendido.",
		offer:         "No estoy seguro de haberle entendido. ¿Es alguna de estas opciones?",
		offerOne:      "No estoy seguro de haberle entendido. ¿Se refiere a esto?",
		foreign:       "Solo lo he encontrado en {{language}}:",
	},
	"pt": {
		greeting:      "Olá! Como posso ajudar?",
		thanks:        "De nada! Posso ajudar em mais alguma coisa?",
		goodbye:       "Até logo! Tenha um ótimo dia.",
		declined:      "Tudo bem. Em que mais posso ajudar?",
		unknown:       "Não encontrei essa informação. Quer falar com a nossa equipe?",
		person:        "Falar com uma pessoa",
		done:          "Feito.",
		failed:        "Desculpe, não deu certo.",
		yes:           "Sim",
		no:            "Não",
		filled:        "Anotado, obrigado! Posso ajudar em mais alguma coisa?",
		misunderstood: "Desculpe, não entendi.",
		offer:         "Não tenho certeza se entendi. É uma destas opções?",
		offerOne:      "Não tenho certeza se entendi. É sobre isto?",
		foreign:       "Só encontrei isto em {{language}}:",
	},
}

// textsOf returns the texts in the first of the languages (BCP 47) that has any, else the English texts.
func textsOf(tags ...string) texts { return language.Of(languages, tags...) }

// talk is the kind of a message with regard to small talk.
type talk int

// The kinds of talk. If a message has several, the last one in this list counts: "thanks, bye" is a goodbye.
const (
	asks talk = iota // a question, or anything else
	greets
	thanks
	leaves
	agrees
	declines
	wantsPerson
)

// phrases are folded like the result of knowledge.Words. A message that consists only of phrases of a kind and of
// fillers is of that kind.
var phrases = map[talk][]string{ //nolint:gochecknoglobals // read-only
	greets: {
		"hi", "hello", "hey", "good morning", "good afternoon", "good evening", "greetings", "how are you",
		"hola", "buenas", "buenos dias", "buenas tardes", "buenas noches", "que tal", "como esta", "saludos",
		"ola", "oi", "bom dia", "boa tarde", "boa noite", "tudo bem", "como vai",
	},
	thanks: {
		"thanks", "thank you", "thx", "cheers", "much appreciated", "great", "perfect",
		"gracias", "muchas gracias", "muy amable", "perfecto", "genial",
		"obrigado", "obrigada", "muito obrigado", "muito obrigada", "perfeito", "otimo", "valeu",
	},
	leaves: {
		"bye", "goodbye", "good bye", "see you", "see you later", "have a nice day", "have a good day",
		"adios", "hasta luego", "hasta pronto", "hasta manana", "chao", "nos vemos",
		"tchau", "adeus", "ate logo", "ate mais", "ate amanha",
	},
	agrees: {
		"yes", "yeah", "yep", "sure", "yes please", "please do", "of course", "si", "claro", "por supuesto", "vale", "sim",
		"com certeza", "pode ser",
	},
	declines: {
		"no", "nope", "no thanks", "no thank you", "not now", "no gracias", "ahora no", "nao", "nao obrigado", "nao obrigada", "agora nao",
	},
	wantsPerson: {
		"human", "person", "agent", "operator", "representative", "humano", "persona", "agente", "operador", "pessoa", "atendente",
	},
}

// fillers are words that are ignored in small talk.
var fillers = []string{ //nolint:gochecknoglobals // read-only
	"a", "all", "again", "an", "and", "everybody", "everyone", "for", "help", "lot", "much", "my", "ok", "okay", "so", "that",
	"the", "there", "very", "you", "your",
	"please", "a", "todos", "todo", "por", "su", "tu", "la", "ayuda", "muy", "y", "favor", "un", "una", "e", "pela", "sua", "muito",
	"um", "uma", "ajuda",
}

// wishes are phrases in messages of contacts who want a teammate.
var wishes = []string{ //nolint:gochecknoglobals // read-only
	"talk to a person", "talk to a human", "talk to someone", "talk to somebody", "talk to an agent", "talk with a person",
	"talk with someone",
	"speak to a person", "speak to a human", "speak to someone", "speak to somebody", "speak to an agent", "speak with a person",
	"speak with a human",
	"speak with someone", "chat with a person", "chat with someone", "real person", "real human", "human being", "human agent",
	"live agent", "get me a person", "talk to our team", "talk to your team", "talk to the team", "speak to your team", "customer service",
	"hablar con una persona", "hablar con un humano", "hablar con alguien", "hablar con un agente", "hablar con un operador",
	"persona real", "agente humano", "hablar con el equipo", "hablar con su equipo", "hablar con nuestro equipo", "atencion al cliente",
	"falar com uma pessoa", "falar com um humano", "falar com alguem", "falar com um atendente", "falar com um agente",
	"pessoa real", "pessoa de verdade", "atendente humano", "falar com a equipe", "falar com a sua equipe", "falar com a nossa equipe",
}

const (
	maxWish   = 15 // maximum words of a message with a wish
	maxPhrase = 4  // maximum words of a phrase
)

// talkOf returns the kind of a message, given as folded words.
func talkOf(words []string) talk {
	if text := " " + strings.Join(words, " ") + " "; len(words) <= maxWish {
		for _, wish := range wishes {
			if strings.Contains(text, " "+wish+" ") {
				return wantsPerson
			}
		}
	}
	kind := asks
	for len(words) > 0 {
		found, n := phraseOf(words)
		if n == 0 {
			return asks
		}
		kind = max(kind, found)
		words = words[n:]
	}
	return kind
}

// SmallTalk reports whether a message is small talk, not a question.
func SmallTalk(message string) bool { return talkOf(knowledge.Words(message)) != asks }

// phraseOf returns the kind of the longest phrase, or of a filler, with which the words begin. n is its number of
// words, 0 if there is none.
func phraseOf(words []string) (kind talk, n int) {
	for n := min(maxPhrase, len(words)); n > 0; n-- {
		text := strings.Join(words[:n], " ")
		for kind, all := range phrases {
			if slices.Contains(all, text) {
				return kind, n
			}
		}
	}
	if slices.Contains(fillers, words[0]) {
		return asks, 1
	}
	return asks, 0
}

// Agrees reports whether a message only says yes.
func Agrees(message string) bool { return talkOf(knowledge.Words(message)) == agrees }

// Declines reports whether a message only says no.
func Declines(message string) bool { return talkOf(knowledge.Words(message)) == declines }

// WantsPerson reports whether a message asks for a person instead of the agent.
func WantsPerson(message string) bool { return talkOf(knowledge.Words(message)) == wantsPerson }
