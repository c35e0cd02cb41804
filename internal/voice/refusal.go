package voice

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/agent/knowledge"
)

// refuseKey refuses the recording of a call, unless a number is being entered.
const refuseKey = '*'

// refusals are phrases of a person who does not want to be recorded, in words as knowledge.Words returns them.
var refusals = struct {
	anywhere []string // a refusal wherever they stand
	commands []string // a refusal at the beginning of a text or after an opener
	whole    []string // a refusal only if they are the whole text
}{ //nolint:gochecknoglobals // read only
	anywhere: []string{
		"don t want to be recorded", "do not want to be recorded", "don t want this call recorded", "do not want this call recorded",
		"don t want you to record", "do not want you to record", "don t want the call recorded", "rather not be recorded",
		"not agree to be recorded", "don t agree to be recorded", "not agree to the recording", "don t agree to the recording",
		"not agree with the recording", "don t agree with the recording", "not consent to the recording",
		"don t consent to the recording",
		"not consent to being recorded", "don t consent to being recorded", "object to the recording", "object to being recorded",
		"please do not record", "please don t record",
		"no quiero que me grabe", "no quiero que me graben", "no quiero que se grabe", "no quiero que grabe", "no quiero que graben",
		"no quiero que la llamada se grabe", "no quiero que esta llamada se grabe", "no quiero ser grabado", "no quiero ser grabada",
		"no deseo que me graben", "no deseo que se grabe", "no autorizo la grabacion", "no autorizo que me graben",
		"no acepto la grabacion",
		"no acepto que me graben", "no doy permiso para grabar", "no doy permiso para que me graben",
		"no estoy de acuerdo con la grabacion",
		"no estoy de acuerdo con que me graben", "no estoy de acuerdo con que se grabe", "me niego a la grabacion", "por favor no grabe",
		"por favor no graben",
		"nao quero que grave", "nao quero que gravem", "nao quero que me grave", "nao quero que me gravem", "nao quero que seja gravada",
		"nao quero que seja gravado", "nao quero que esta ligacao seja gravada", "nao quero que a ligacao seja gravada",
		"nao quero ser gravado", "nao quero ser gravada", "nao autorizo a gravacao", "nao autorizo que gravem", "nao aceito a gravacao",
		"nao aceito ser gravado", "nao aceito ser gravada", "nao concordo com a gravacao", "nao concordo em ser gravado",
		"nao concordo em ser gravada", "por favor nao grave", "por favor nao gravem",
	},
	commands: []string{
		"do not record", "don t record", "stop recording me", "stop recording this", "stop recording the call", "stop the recording",
		"turn off the recording", "turn the recording off", "delete the recording",
		"no grabe", "no graben", "no grabes", "no me grabe", "no me graben", "no me grabes", "deje de grabar", "dejen de grabar",
		"deje de grabarme", "dejen de grabarme", "pare la grabacion", "paren la grabacion", "detenga la grabacion",
		"detengan la grabacion",
		"borre la grabacion", "borren la grabacion",
		"nao grave", "nao gravem", "nao me grave", "nao me gravem", "nao me grava", "nao grava a ligacao", "nao grava esta ligacao",
		"nao grava essa ligacao", "pare de gravar", "parem de gravar", "para de gravar", "pare a gravacao", "parem a gravacao",
		"apague a gravacao", "apaguem a gravacao",
	},
	whole: []string{
		"stop recording", "no recording", "without recording", "no record", "sin grabar", "sin grabacion", "nao grava", "nao grava nao",
		"sem gravar", "sem gravacao",
	},
}

// openers may stand before a command.
var openers = strings.Fields("please no yes ok okay and but so then well hello hi sorry just favor si vale bueno y pero entonces hola " +
	"perdon disculpe sim bom e mas entao ola oi desculpe nao") //nolint:gochecknoglobals // read only

// asides may stand around a refusal without adding anything to it.
var asides = strings.Fields("i you me it this that the a call conversation now please thanks thank no yes ok okay all at want to s " +
	"la el lo esta este llamada conversacion ahora por favor gracias yo usted senor senorita " +
	"o os as isso essa esse ligacao conversa agora obrigado obrigada eu voce moco moca") //nolint:gochecknoglobals // read only

// refuses reports whether a text refuses to be recorded. alone means that it says nothing else.
func refuses(text string) (refused, alone bool) {
	words := knowledge.Words(text)
	at, n := refusal(words)
	if n == 0 {
		return false, false
	}
	rest := 0
	for i, w := range words {
		if (i < at || i >= at+n) && !slices.Contains(openers, w) && !slices.Contains(asides, w) {
			rest++
		}
	}
	return true, rest <= 1
}

// refusal returns the place and the number of the words of a refusal; no words if there is none.
func refusal(words []string) (at, n int) {
	if slices.Contains(refusals.whole, strings.Join(slices.DeleteFunc(slices.Clone(words), polite), " ")) {
		return 0, len(words)
	}
	for _, list := range []struct {
		phrases []string
		command bool
	}{{refusals.anywhere, false}, {refusals.commands, true}} {
		for _, phrase := range list.phrases {
			p := strings.Fields(phrase)
			for i := range words {
				if i+len(p) <= len(words) && slices.Equal(words[i:i+len(p)], p) &&
					(!list.command || i == 0 || slices.Contains(openers, words[i-1])) {
					return i, len(p)
				}
			}
		}
	}
	return 0, 0
}

func polite(w string) bool {
	return slices.Contains([]string{"please", "thanks", "por", "favor", "gracias", "obrigado", "obrigada"}, w)
}

// refusesRecording reports whether a text refuses the recording of this conversation.
func (l *hearer) refusesRecording(text string) bool {
	refused, _ := refuses(text)
	return refused && l.x.start.Refuse != nil
}

// checkRefusal stops the recording if a text refuses it. alone means that the text says nothing else.
func (l *hearer) checkRefusal(text string) (alone bool) {
	if !l.refusesRecording(text) {
		return false
	}
	_, alone = refuses(text)
	l.unrecord()
	return alone
}

// unrecord has the recording stopped and deleted, and says so.
func (l *hearer) unrecord() {
	l.unrecorded = true
	l.store(func(ctx context.Context) error {
		l.x.start.Refuse(ctx)
		l.later(func(l *loop) { l.sayNow(l.x.words.Unrecorded) })
		return nil
	})
}

// refuse handles words or a key that refuse the recording and say nothing else. The conversation continues where it was.
func (l *hearer) refuse(in Saying) {
	l.dropAnswer()
	l.stopTalking()
	l.repeats, l.confirm, l.owed, l.unanswered = 0, "", time.Time{}, false
	l.before, l.choices = l.choices, nil
	in.Quiet = true
	l.store(func(ctx context.Context) error {
		_, err := l.dialogue().Say(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in)
		l.later(func(l *loop) { l.askOn() })
		return err
	})
}
