package knowledge

import "strings"

// languages are the languages with stemming. Words of other languages are only folded.
var languages = []string{"en", "es", "pt"} //nolint:gochecknoglobals // read-only

// languageWords is the number of words from which the language of a text is detected.
const languageWords = 200

// base returns the language of a tag without its region, in lower case.
func base(tag string) string {
	tag, _, _ = strings.Cut(tag, "-")
	return strings.ToLower(tag)
}

// languageOf detects the language of a text: the one with most of its function words in the text. If there is a tie,
// it returns the given language.
func languageOf(text, given string) string {
	words := Words(text)
	words = words[:min(len(words), languageWords)]
	most, language := 0, ""
	for _, l := range languages {
		n := 0
		for _, word := range words {
			if stopped(word, l) {
				n++
			}
		}
		if n > most {
			most, language = n, l
		} else if n == most {
			language = ""
		}
	}
	if language == "" {
		return base(given)
	}
	return language
}

// stopped reports whether a word is a stop word, which says nothing about the subject of a text.
func stopped(word, language string) bool {
	return len(word) == 1 && word[0] >= 'a' || stops[language][word]
}

// stops are the folded stop words of each language, which occur in questions about any subject.
var stops = map[string]map[string]bool{ //nolint:gochecknoglobals // read-only
	"en": setOf(`the and or but if then than that this these those there here it its is are was were be been being am do does
		did done doing have has had having can could may might must shall should will would to of in on at by for from with
		without about into over under as so not no yes what when where which who whom whose why how much many any some all every
		you your yours we our ours us me my mine he she his her they them their please want wants need needs know tell say get got
		let like also just only very really too hi hello hey ok okay thanks thank don doesn didn isn aren wasn won wouldn couldn
		ll re ve somebody someone something anything am im ive id let lets question wonder wondering help ask asking give find
		possible going go long take takes happen happens`),
	"es": setOf(
		`el la los las lo un una unos unas al del de que y e o u ni pero si no en con sin por para a ante desde hasta sobre entre como
		cuando cuanto cuanta cuantos cuantas donde cual cuales quien quienes porque es son era fue ser esta estan este esto estos estas
		ese esa eso esos esas estoy estamos hay ha han he hemos haber habia tengo tiene tienen tenemos tienes tener puede pueden puedo
		podemos puedes podria podrian me mi mis te tu tus se su sus nos nuestro nuestra le les yo usted ustedes ellos ellas nosotros
		quiero quiere quisiera quieren necesito necesita saber sabe se dime decir diga digame hola gracias favor buenas buenos muy mas
		menos ya tambien solo algo alguien todo toda todos todas otro otra gustaria hacer hago hace hacen pregunta ayuda ayudar poder
		debo debe hoy pasa pasan somos soy os vosotros vuestro vuestra vuestros vuestras teneis podeis haceis estais sois
		habeis quereis`),
	"pt": setOf(`o a os as um uma uns umas ao aos do da dos das de que e ou mas se nao sim em no na nos nas com sem por para pelo pela pelos
		pelas ate sobre entre como quando quanto quanta quantos quantas onde qual quais quem porque ser sao era foi esta estao este isto
		estes estas esse essa isso esses essas estou estamos ha tem tenho temos tinha ter pode podem posso podemos poderia me meu minha
		meus minhas te teu tua seu sua seus suas nosso nossa lhe eu voce voces ele ela eles elas nos quero quer queria gostaria preciso
		precisa saber sabe diga dizer ola obrigado obrigada favor muito mais menos ja tambem so algo alguem tudo todo toda todos todas
		outro outra fazer faco faz fazem pergunta ajuda ajudar devo deve oi bom boa hoje acontece somos sou pra pro vc vcs num numa`),
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
