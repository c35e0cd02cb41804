package knowledge

import (
	"slices"
	"strings"
	"unicode"
)

// answer is the kind of fact that a question asks for.
type answer int

const (
	anyFact  answer = iota
	money           // how much
	duration        // how long
	moment          // when, what time
	count           // how many
	person          // who
)

// askers are the beginnings of questions, folded, that ask for a kind of fact.
//
//nolint:gochecknoglobals // read-only
var askers = map[string]map[answer][]string{
	"en": {
		money: {
			"how much is", "how much are", "how much does", "how much do", "how much for", "how much would", "price", "prices", "cost",
			"costs", "fee", "fees", "rate", "rates",
		},
		duration: {"how long", "how fast", "how quickly"},
		moment:   {"when", "what time", "which day", "which days", "what day", "what days", "what year", "which year"},
		count:    {"how many", "how much", "how old", "how far", "how tall", "how big"},
		person:   {"who", "whom", "whose"},
	},
	"es": {
		money: {
			"cuanto cuesta", "cuanto cuestan", "cuanto vale", "cuanto valen", "cuanto es", "cuanto sale", "cuanto cobran", "cuanto cobrais",
			"precio", "precios", "tarifa", "tarifas", "a cuanto",
		},
		duration: {"cuanto dura", "cuanto duran", "cuanto tarda", "cuanto tardan", "cuanto tiempo", "en cuanto tiempo"},
		moment: {
			"cuando", "a que hora", "que dia", "que dias", "que horario", "en que ano", "hasta que hora", "desde que hora", "que ano",
		},
		count:  {"cuantos", "cuantas", "cuanto", "cuanta", "que edad"},
		person: {"quien", "quienes"},
	},
	"pt": {
		money: {
			"quanto custa", "quanto custam", "quanto e", "quanto fica", "quanto sai", "quanto cobram", "preco", "precos", "valor", "tarifa",
			"tarifas",
		},
		duration: {"quanto tempo", "quanto demora", "quanto dura", "quanto duram"},
		moment:   {"quando", "que horas", "a que horas", "que hora", "qual horario", "que dia", "que dias", "em que ano", "qual o horario"},
		count:    {"quantos", "quantas", "quanto", "quanta", "qual a idade"},
		person:   {"quem"},
	},
}

// answerOf returns the kind of fact that a question, as folded words, asks for.
func answerOf(words []string, language string) answer {
	text := " " + strings.Join(words, " ") + " "
	for kind := money; kind <= person; kind++ {
		for _, a := range askers[language][kind] {
			if strings.Contains(text, " "+a+" ") {
				return kind
			}
		}
	}
	return anyFact
}

// units of time and words for moments, free things and numbers, folded; of all languages, since they hardly collide.
//
//nolint:gochecknoglobals // read-only
var (
	timeUnits = setOf(`second seconds minute minutes min hour hours h day days week weeks month months year years night nights overnight
		segundo segundos minuto minutos hora horas dia dias semana semanas mes meses ano anos noche noches noite noites`)
	moments = setOf(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
		sundays weekday weekdays weekend daily today tomorrow noon midnight morning afternoon evening before after until
		january february march april may june july august september october november december once immediately
		lunes martes miercoles jueves viernes sabado sabados domingo domingos diario diariamente manana tarde antes despues hasta
		enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
		segunda terca quarta quinta sexta feira feiras diariamente manha depois ate janeiro fevereiro marco maio junho julho setembro
		outubro novembro dezembro`)
	freeWords = setOf(`free gratis gratuito gratuita gratuitos gratuitas gratuitamente euro euros dollar dollars pound pounds real reais
		centimos cents cent eur usd brl percent charge included incluido incluida incluidos pago paga`)
	numberWords = setOf(`one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million
		billion half third quarter dozen once twice both several none no
		uno una dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cuarenta cincuenta cien ciento mil millon
		millones medio mitad ambos
		um uma dois duas tres quatro sete oito dez onze doze vinte trinta quarenta cinquenta cem cento milhao milhoes metade meio`)
)

// contains reports whether a sentence, also given as folded words, contains a fact of that kind.
func (a answer) in(sentence string, words []string) bool {
	digits := strings.ContainsFunc(sentence, unicode.IsDigit)
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return set[w] })
	}
	switch a {
	case money:
		return strings.ContainsAny(sentence, "€$£%") || has(freeWords) || digits && !has(timeUnits)
	case duration:
		return has(timeUnits)
	case moment:
		return digits || has(moments) || has(timeUnits)
	case count:
		return digits || has(numberWords)
	case person:
		return hasName(sentence)
	case anyFact:
	}
	return true
}

// hasName reports whether a sentence has a capitalized word after the first one.
func hasName(sentence string) bool {
	inside := false
	for word := range strings.FieldsSeq(sentence) {
		if inside && unicode.IsUpper([]rune(word)[0]) {
			return true
		}
		inside = true
	}
	return false
}
