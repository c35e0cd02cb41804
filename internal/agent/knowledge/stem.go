package knowledge

import "strings"

// minStem is the minimum number of letters of a stem.
const minStem = 3

// stem reduces a folded word to a stem that its forms share. It is a light stemmer, which removes endings and knows no
// exceptions. It only matters that questions and articles yield the same stem.
func stem(word, language string) string {
	switch language {
	case "en":
		return english(word)
	case "es":
		return finish(replace(replace(word, spanishPlurals), spanishEndings), "aeo")
	case "pt":
		return finish(replace(replace(word, portuguesePlurals), portugueseEndings), "aeo")
	}
	return word
}

// ending is a word ending and its replacement.
type ending struct{ from, to string }

// endingsOf parses endings in the order in which they are tried. A replacement follows a slash.
func endingsOf(list string) (all []ending) {
	for text := range strings.FieldsSeq(list) {
		from, to, _ := strings.Cut(text, "/")
		all = append(all, ending{from, to})
	}
	return all
}

//nolint:gochecknoglobals // read only
var (
	englishEndings = endingsOf("ations ation ement ment tions/t tion/t sion/s ings ing ied/y ed ery/er ly")
	spanishPlurals = endingsOf("ces/z iones/ion ores/or ades/ad s")
	spanishEndings = endingsOf(`arlos arlas arles arlo arla arle arme arse arnos erlos erlas erles erlo erla erle erme erse ernos
		irlos irlas irles irlo irla irle irme irse irnos amiento imiento aciones acion ucion/u olver/olu iendo ando amente mente
		amo emo imo adora ador ado ada ido ida aron ieron aran ar er ir an en`)
	portuguesePlurals = endingsOf("coes/cao oes/ao aes/ao ais/al eis/el ns/m res/r s")
	portugueseEndings = endingsOf("amento imento acao ucao/u ando endo indo amente mente amo emo imo ador ado ada ido ida aram eram " +
		"iram ar er ir am em")
)

// replace replaces the first ending that matches, if enough of the word is left.
func replace(word string, endings []ending) string {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(word, e.from); ok && len(rest) >= minStem {
			return rest + e.to
		}
	}
	return word
}

// finish removes a final vowel that is in vowels, and one of two equal final letters.
func finish(word, vowels string) string {
	if n := len(word); n > minStem && strings.IndexByte(vowels, word[n-1]) >= 0 {
		word = word[:n-1]
	}
	if n := len(word); n > minStem && word[n-1] == word[n-2] {
		word = word[:n-1]
	}
	return word
}

func english(word string) string {
	switch rest, plural := strings.CutSuffix(word, "s"); {
	case !plural || len(rest) < minStem:
	case strings.HasSuffix(rest, "ie") && len(rest) >= minStem+2:
		word = strings.TrimSuffix(rest, "ie") + "y"
	case strings.HasSuffix(rest, "sse"):
		word = strings.TrimSuffix(rest, "e")
	case !strings.HasSuffix(rest, "s") && !strings.HasSuffix(rest, "u") && !strings.HasSuffix(rest, "i"):
		word = rest
	}
	return finish(replace(word, englishEndings), "e")
}
