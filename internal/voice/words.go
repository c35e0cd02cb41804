package voice

import (
	"slices"
	"strings"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/language"
)

// words are our own phrases in one language. %s is a name or a text.
type words struct {
	Filler, Still, Apology, Person          string
	Repeat, CannotHear, Confirm, Yes, No    string
	Idle, IdleAgain, Goodbye                string
	Queued, Waiting, Missed, Noted          string
	Connected, Gone, Returned, Busy, Greets string
	Press, Stopped, NotStopped, KeysOnly    string
	NoAds                                   string // for a caller who wants no calls
	Transfers                               string
	Unrecorded                              string // to a person who refused the recording
	RepeatCall, MissedCall                  string // on the telephone
	backchannels                            []string
	stops                                   []string // phrases of a person who wants no calls
}

var languages = map[string]words{ //nolint:gochecknoglobals // read only
	"en": {
		Filler: "One moment, please.", Still: "I'm still looking.",
		Apology: "Sorry, this is taking a while. You can ask again, or talk to a person.", Person: "Talk to a person",
		Repeat:     "Sorry, I didn't catch that. Could you say it again, or type it?",
		CannotHear: "I can read, but I can't follow speech here. Please type or tap an answer, and I'll reply aloud.",
		Confirm:    "Did you say: %s?", Yes: "Yes", No: "No",
		Idle: "Are you still there?", IdleAgain: "I'm here if you need anything else.",
		Goodbye: "Goodbye, have a good day!",
		Queued:  "I'm connecting you with someone. Please hold.",
		Waiting: "Someone will be with you soon. Please hold.",
		Missed:  "Everyone is busy right now. Leave your e-mail in the text field, and we'll get back to you.",
		Noted:   "Thanks, noted. Someone will reply here.", Connected: "%s is on the line.",
		Gone:     "You're talking with the agent again.",
		Returned: "I'm back. What else can I do for you?",
		Busy:     "Sorry, something went wrong. Please type, or try again in a moment.",
		Greets:   "Hello! What can I do for you?", Press: "Press %d for: %s.",
		KeysOnly:   "I can't understand speech. Please use the keys on your phone.",
		Transfers:  "I'm putting you through. Please hold.",
		Unrecorded: "All right, the recording is stopped and deleted. Let's continue.",
		RepeatCall: "Sorry, I didn't catch that. Could you say it again?",
		MissedCall: "Everyone is busy right now. I've noted that you'd like to talk to someone. Say what it's about, if you like, " +
			"or hang up.",
		NoAds:      "You won't get any more marketing from us. Goodbye.",
		Stopped:    "We won't call you again. Goodbye.",
		NotStopped: "I couldn't save that just now. Please tell us again, or in writing. Goodbye.",
		stops: []string{
			"do not call me", "don t call me", "stop calling", "stop phoning", "never call me", "do not call again",
			"don t call again", "do not call this number",
			"don t call this number", "do not contact me", "don t contact me", "don t want any more calls",
			"do not want any more calls", "take me off your list", "take my number off",
			"remove me from your list", "remove my number", "delete my number", "no more calls", "no further calls",
		},
		backchannels: []string{
			"mm", "mhm", "mm hm", "mmhm", "uh huh", "aha", "hm", "yes", "yeah", "yep", "ok", "okay", "right", "sure", "i see",
			"good", "all right",
		},
	},
	"es": {
		Filler: "Un momento, por favor.", Still: "Sigo buscando.",
		Apology: "Lo siento, esto está tardando. Puede preguntar otra vez o hablar con una persona.", Person: "Hablar con una persona",
		Repeat:     "Perdone, no le he entendido. ¿Puede repetirlo o escribirlo?",
		CannotHear: "Puedo leer, pero aquí no puedo seguir lo que se dice. Escriba o toque una respuesta, y le contestaré en voz alta.",
		Confirm:    "¿Ha dicho: %s?", Yes: "Sí", No: "No",
		Idle: "¿Sigue ahí?", IdleAgain: "Aquí estoy si necesita algo más.", Goodbye: "¡Hasta luego, que tenga un buen día!",
		Queued: "Le paso con alguien del equipo. No se retire, por favor.", Waiting: "Enseguida le atienden. No se retire, por favor.",
		Missed: "Ahora todos están ocupados. Deje su correo en el campo de texto y le responderemos.",
		Noted:  "Gracias, anotado. Le responderán aquí.", Connected: "%s está en línea.", Gone: "Vuelve a hablar con el agente.",
		Returned: "Ya estoy aquí otra vez. ¿En qué más puedo ayudarle?",
		Busy:     "Lo siento, algo ha fallado. Escriba, o inténtelo de nuevo en un momento.",
		Greets:   "¡Hola! ¿En qué puedo ayudarle?", Press: "Pulse %d para: %s.",
		KeysOnly:   "No entiendo la voz. Use, por favor, las teclas de su teléfono.",
		Transfers:  "Le paso. No se retire, por favor.",
		Unrecorded: "De acuerdo, la grabación se ha detenido y eliminado. Continuemos.",
		RepeatCall: "Perdone, no le he entendido. ¿Puede repetirlo?",
		MissedCall: "Ahora todos están ocupados. He anotado que quiere hablar con alguien. Diga de qué se trata, si quiere, o " +
			"cuelgue.",
		NoAds:      "No recibirá más publicidad nuestra. Adiós.",
		Stopped:    "No volveremos a llamarle. Adiós.",
		NotStopped: "Ahora no he podido anotarlo. Díganoslo otra vez, o por escrito. Adiós.",
		stops: []string{
			"no me llame", "no me llamen", "no me llames", "no vuelva a llamar", "no vuelvan a llamar", "no me vuelva a llamar",
			"no me vuelvan a llamar", "no llamen mas", "dejen de llamar", "deje de llamar",
			"dejen de llamarme", "deje de llamarme", "paren de llamarme", "no quiero que me llamen", "no quiero mas llamadas",
			"no quiero recibir llamadas", "no mas llamadas", "borre mi numero", "borren mi numero",
			"elimine mi numero", "eliminen mi numero", "quite mi numero", "quiten mi numero", "quiteme de la lista",
			"quitenme de la lista",
		},
		backchannels: []string{
			"mm", "mhm", "mm hm", "aja", "ya", "si", "vale", "claro", "bueno", "bien", "entiendo", "de acuerdo", "ok", "eso",
		},
	},
	"pt": {
		Filler: "Um momento, por favor.", Still: "Ainda estou procurando.",
		Apology: "Desculpe, está demorando. Você pode perguntar novamente ou falar com uma pessoa.", Person: "Falar com uma pessoa",
		Repeat:     "Desculpe, não entendi. Pode repetir ou escrever?",
		CannotHear: "Consigo ler, mas aqui não consigo acompanhar a fala. Digite ou toque em uma resposta, e eu respondo em voz alta.",
		Confirm:    "Você disse: %s?", Yes: "Sim", No: "Não",
		Idle: "Você ainda está aí?", IdleAgain: "Estou aqui se precisar de mais alguma coisa.",
		Goodbye: "Até logo, tenha um bom dia!",
		Queued:  "Vou transferir você para nossa equipe. Não desligue, por favor.",
		Waiting: "Alguém já vai atender você. Não desligue, por favor.",
		Missed:  "Todos estão ocupados agora. Deixe seu e-mail no campo de texto e responderemos.",
		Noted:   "Obrigado, anotado. Alguém vai responder por aqui.", Connected: "%s está na linha.",
		Gone:     "Você está falando com o agente novamente.",
		Returned: "Estou de volta. Em que mais posso ajudar?",
		Busy:     "Desculpe, algo deu errado. Digite, ou tente novamente daqui a pouco.",
		Greets:   "Olá! Em que posso ajudar?", Press: "Tecle %d para: %s.",
		KeysOnly:   "Não entendo a voz. Por favor, use as teclas do seu telefone.",
		Transfers:  "Vou transferir a ligação. Não desligue, por favor.",
		Unrecorded: "Tudo bem, a gravação foi interrompida e excluída. Vamos continuar.",
		RepeatCall: "Desculpe, não entendi. Pode repetir?",
		MissedCall: "Todos estão ocupados agora. Anotei que você quer falar com alguém. Diga do que se trata, se quiser, ou " +
			"desligue.",
		NoAds:      "Você não vai mais receber publicidade nossa. Até logo.",
		Stopped:    "Não vamos mais ligar para você. Até logo.",
		NotStopped: "Não consegui registrar isso agora. Diga novamente, por favor, ou por escrito. Até logo.",
		stops: []string{
			"nao me ligue", "nao me liguem", "nao me ligues", "nao volte a ligar", "nao voltem a ligar", "nao ligue mais para mim",
			"nao liguem mais para mim", "nao quero mais ligacoes", "nao quero receber ligacoes",
			"nao quero que me liguem", "nao liguem mais", "remova meu numero", "removam meu numero", "tirem meu numero",
			"tirem o meu numero", "me tire da lista", "me tirem da lista",
			"parem de ligar", "pare de ligar", "parem de me ligar", "pare de me ligar", "apague o meu numero", "apague meu numero",
			"tire meu numero", "tire o meu numero", "chega de chamadas", "chega de ligacoes",
		},
		backchannels: []string{
			"mm", "mhm", "mm hm", "aha", "aham", "uhum", "pois", "sim", "ta", "ta bom", "isso", "claro", "certo", "bem", "entendo",
			"entendi", "esta bem", "ok",
		},
	},
}

// wordsOf returns the words of the first of the languages (BCP 47) that is available, or the English ones.
func wordsOf(tags ...string) words { return language.Of(languages, tags...) }

// backchannel reports whether a text only says that the person is listening.
func backchannel(text, language string) bool {
	return slices.Contains(wordsOf(language).backchannels, strings.Join(knowledge.Words(text), " "))
}

// limits are words that restrict a request for no calls to certain times or purposes.
var limits = []string{ //nolint:gochecknoglobals // read only
	"before", "after", "until", "till", "between", "unless", "antes", "despues", "hasta", "entre", "depois", "ate", "salvo", "exceto",
}

// stops reports whether a text asks for no more calls at all, without such a restriction.
func stops(text string) bool {
	said := " " + strings.Join(knowledge.Words(text), " ") + " "
	for _, w := range languages {
		for _, phrase := range w.stops {
			_, rest, found := strings.Cut(said, " "+phrase+" ")
			next := strings.Fields(rest)
			next = next[:min(len(next), 3)]
			if found && !slices.ContainsFunc(next, func(w string) bool { return slices.Contains(limits, w) }) {
				return true
			}
		}
	}
	return false
}
