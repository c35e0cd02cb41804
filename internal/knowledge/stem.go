package knowledge

import "strings"

// minStem is how many letters a stem keeps at least.
const minStem = 3

// stem reduces a folded word to what its forms have in common. It is light: it takes off endings, and knows no exceptions. What
// counts is that a question and an article come to the same.
func stem(word, language string) string {
	switch language {
	case "en":
		return english(word)
	case "es":
		return spanish(word)
	case "pt":
		return portuguese(word)
	}
	return word
}

// ending is what a word ends in, and what stands there instead.
type ending struct{ from, to string }

// replace replaces the first ending that the word has, where enough of it is left.
func replace(word string, endings []ending) string {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(word, e.from); ok && len(rest) >= minStem {
			return rest + e.to
		}
	}
	return word
}

// finish takes off a last vowel of those given, and one of two equal last letters.
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
	switch {
	case strings.HasSuffix(word, "ies"):
		word = replace(word, []ending{{"ies", "y"}})
	case strings.HasSuffix(word, "sses"):
		word = strings.TrimSuffix(word, "es")
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us") && !strings.HasSuffix(word, "is"):
		word = replace(word, []ending{{"s", ""}})
	}
	word = replace(word, []ending{
		{"ations", ""}, {"ation", ""}, {"ement", ""}, {"ment", ""}, {"tions", "t"}, {"tion", "t"}, {"sion", "s"}, {"ings", ""}, {"ing", ""},
		{"ied", "y"}, {"ed", ""}, {"ery", "er"}, {"ly", ""},
	})
	return finish(word, "e")
}

func spanish(word string) string {
	word = replace(word, []ending{{"ces", "z"}, {"iones", "ion"}, {"ores", "or"}, {"ades", "ad"}, {"s", ""}})
	word = replace(word, []ending{
		{"aciones", ""}, {"acion", ""}, {"ucion", "u"}, {"olver", "olu"}, {"iendo", ""}, {"ando", ""}, {"amente", ""}, {"mente", ""}, {"amo", ""}, {"emo", ""},
		{"imo", ""}, {"adora", ""}, {"ador", ""}, {"ado", ""}, {"ada", ""}, {"ido", ""}, {"ida", ""}, {"aron", ""}, {"ieron", ""}, {"aran", ""},
		{"ar", ""}, {"er", ""}, {"ir", ""}, {"an", ""}, {"en", ""},
	})
	return finish(word, "aeo")
}

func portuguese(word string) string {
	word = replace(word, []ending{{"coes", "cao"}, {"oes", "ao"}, {"aes", "ao"}, {"ais", "al"}, {"eis", "el"}, {"ns", "m"}, {"res", "r"}, {"s", ""}})
	word = replace(word, []ending{
		{"acao", ""}, {"ucao", "u"}, {"ando", ""}, {"endo", ""}, {"indo", ""}, {"amente", ""}, {"mente", ""}, {"amo", ""}, {"emo", ""}, {"imo", ""},
		{"ador", ""}, {"ado", ""}, {"ada", ""}, {"ido", ""}, {"ida", ""}, {"aram", ""}, {"eram", ""}, {"iram", ""},
		{"ar", ""}, {"er", ""}, {"ir", ""}, {"am", ""}, {"em", ""},
	})
	return finish(word, "aeo")
}
