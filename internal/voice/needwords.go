package voice

import "strings"

// turnRules are the words of one language that show whether a turn has ended, folded as in knowledge.Words.
type turnRules struct {
	open    []string       // conjunctions, prepositions, articles, pronouns: the sentence continues
	begins  []string       // single words that begin a sentence
	fillers []string       // hesitations
	short   []string       // first words of short answers
	digits  map[string]int // words for numbers, with their digits
	at, dot string         // in e-mail addresses
}

func numerals(ones, tens string) map[string]int {
	all := map[string]int{}
	for w := range strings.FieldsSeq(ones) {
		all[w] = 1
	}
	for w := range strings.FieldsSeq(tens) {
		all[w] = 2
	}
	return all
}

var turnWords = map[string]turnRules{ //nolint:gochecknoglobals // read only
	"en": {
		open: strings.Fields("and or but because so that if when while although though unless since as than which who whose where what " +
			"to for with of at from by in on into about between under after before without through during against until " +
			"the a an my your our his her their this these those some any every " +
			"i we he she they im ive id ill is are was were am be will would can could should must do does did have has had not " +
			"want need like"),
		begins:  strings.Fields("and or but because so if when i we my the a well to for with"),
		fillers: strings.Fields("er erm um uh uhm hm hmm well like actually basically"),
		short:   strings.Fields("yes yeah yep no nope ok okay sure right correct exactly thanks goodbye bye mm mhm"),
		digits: numerals("zero oh o one two three four five six seven eight nine double", "ten eleven twelve thirteen fourteen fifteen "+
			"sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"),
		at: "at", dot: "dot",
	},
	"es": {
		open: strings.Fields("y e o u pero porque que cuando como donde aunque mientras pues entonces cual quien " +
			"de del a al en con por para sin sobre desde hasta entre contra hacia segun durante antes despues " +
			"el la los las un una unos unas mi mis su sus tu este esta estos estas ese esa algun alguna " +
			"yo me se le lo nos es son era estoy quiero queria quisiera necesito tengo puedo hay muy mas"),
		begins:  strings.Fields("y o pero porque que cuando yo mi el la un una para con de pues bueno"),
		fillers: strings.Fields("eh em este mmm ehm pues bueno osea digamos"),
		short:   strings.Fields("si no vale claro correcto exacto gracias adios ok aja perfecto"),
		digits: numerals("cero un uno una dos tres cuatro cinco seis siete ocho nueve doble", "diez once doce trece catorce quince "+
			"dieciseis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa"),
		at: "arroba", dot: "punto",
	},
	"pt": {
		open: strings.Fields("e ou mas porque que se quando como onde embora enquanto pois entao qual quem " +
			"de do da dos das em no na nos nas num numa com por pelo pela para pra pro sem sobre desde ate " +
			"entre contra durante antes depois " +
			"o a os as um uma uns umas ao aos meu minha meus minhas seu sua este esta esse essa algum alguma " +
			"eu me eh sao era estou quero queria preciso tenho posso muito mais"),
		begins:  strings.Fields("e ou mas porque que se quando eu meu minha o a um uma para com de entao bom"),
		fillers: strings.Fields("eh em hum ahn ah tipo entao bom assim"),
		short:   strings.Fields("sim nao claro certo isso exato correto obrigado obrigada tchau ok aham perfeito"),
		digits: numerals("zero um uma dois duas tres quatro cinco seis meia sete oito nove", "dez onze doze treze catorze quatorze quinze "+
			"dezesseis dezessete dezoito dezenove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"),
		at: "arroba", dot: "ponto",
	},
}
