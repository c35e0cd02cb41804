package flow

import (
	"slices"
	"strconv"
	"strings"

	"carillon/internal/agent"
)

// repeatRequests are requests to repeat the question, in the form of Plain.
var repeatRequests = []string{ //nolint:gochecknoglobals // read only
	"say that again", "say it again", "repeat", "repeat that", "repeat it", "repeat the question", "what did you say", "come again",
	"one more time", "pardon",
	"repetir", "repetirlo", "repetir eso", "repetir la pregunta", "repita", "repitalo", "repita la pregunta", "me lo repite",
	"como dice", "que ha dicho", "otra vez por favor",
	"repetir isso", "repetir a pergunta", "repete", "repita isso", "como disse", "o que disse", "outra vez por favor",
}

// courtesies may precede or follow a request without changing it.
var courtesies = []string{ //nolint:gochecknoglobals // read only
	"please", "sorry", "can you", "could you", "would you", "por favor", "perdon", "perdone", "puede", "puedes", "podria",
	"desculpe", "desculpa", "pode", "podes", "poderia",
}

// asksAgain reports whether a message only asks to repeat the question.
func asksAgain(text string) bool {
	p := Plain(text)
	for range 3 { // "sorry, could you … please"
		if slices.Contains(repeatRequests, p) {
			return true
		}
		for _, c := range courtesies {
			p = strings.TrimSuffix(strings.TrimPrefix(p, c+" "), " "+c)
		}
	}
	return false
}

// numerals are spoken small numbers, in the form of Plain.
var numerals = map[string]int{ //nolint:gochecknoglobals // read only
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12,
	"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
	"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"cero": 0, "uno": 1, "una": 1, "un": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8,
	"nueve": 9, "diez": 10, "once": 11, "doce": 12,
	"trece": 13, "catorce": 14, "quince": 15, "dieciseis": 16, "diecisiete": 17, "dieciocho": 18, "diecinueve": 19, "veinte": 20,
	"veintiuno": 21, "veintidos": 22,
	"veintitres": 23, "veinticuatro": 24, "veinticinco": 25, "veintiseis": 26, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29,
	"treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90,
	"um": 1, "uma": 1, "dois": 2, "duas": 2, "quatro": 4, "sete": 7, "oito": 8, "nove": 9, "dez": 10, "onze": 11, "doze": 12,
	"treze": 13, "quinze": 15,
	"dezasseis": 16, "dezesseis": 16, "dezassete": 17, "dezessete": 17, "dezoito": 18, "dezanove": 19, "dezenove": 19, "vinte": 20,
	"trinta": 30, "quarenta": 40,
	"cinquenta": 50, "sessenta": 60, "oitenta": 80,
}

// spokenNumber reads a spoken number from 0 to 99, such as "twenty five" or "treinta y dos". ok is false if the text
// is no such number.
func spokenNumber(text string) (n int, ok bool) {
	words := slices.DeleteFunc(strings.Fields(Plain(text)), func(w string) bool { return w == "y" || w == "e" || w == "and" })
	switch len(words) {
	case 1:
		n, ok = numerals[words[0]]
	case 2:
		tens, first := numerals[words[0]]
		units, second := numerals[words[1]]
		n, ok = tens+units, first && second && tens >= 20 && tens%10 == 0 && units >= 1 && units <= 9
	}
	return n, ok
}

// yesOrNo reads a message that says yes or no and little else.
func yesOrNo(text string) (value string, ok bool) {
	switch p := Plain(text); {
	case slices.Contains(yesWords, p), agent.Agrees(text):
		return "yes", true
	case slices.Contains(noWords, p), agent.Declines(text):
		return "no", true
	}
	return "", false
}

// position returns the index of the choice whose number a message gives in digits or words, or -1.
func position(plain string, choices int) int {
	n, err := strconv.Atoi(plain)
	if err != nil {
		said, ok := spokenNumber(plain)
		if !ok {
			return -1
		}
		n = said
	}
	if n < 1 || n > choices {
		return -1
	}
	return n - 1
}
