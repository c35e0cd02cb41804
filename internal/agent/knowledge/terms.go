package knowledge

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"carillon/internal/base/resource"
)

const (
	maxWord  = 40 // characters per word; the rest is ignored
	maxWords = 32 // distinct words of a question; the rest is ignored
)

// Words returns the words of a text, folded: in lower case and without accents. Punctuation and white space are
// dropped.
func Words(text string) (all []string) {
	var word strings.Builder
	n := 0
	end := func() {
		if n > 0 {
			all = append(all, word.String())
		}
		word.Reset()
		n = 0
	}
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai): // without spaces between words
			end()
			all = append(all, string(r))
		case n < maxWord:
			word.WriteRune(unicode.ToLower(r))
			n++
		}
	}
	end()
	return all
}

// Stems returns the words of a text without their endings in a language. A space stands before and after each of them, so that
// a phrase is found in a text as a part of it.
func Stems(text, language string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, word := range Words(text) {
		b.WriteString(stem(word, base(language)) + " ")
	}
	return b.String()
}

// termsOf returns the distinct terms of a passage in a language.
func termsOf(title, text, language string) []resource.Term {
	var all []resource.Term
	seen := map[string]bool{}
	for i, part := range []string{title, text} {
		for _, word := range Words(part) {
			term := stem(word, language)
			if seen[term] || stopped(word, language) {
				continue
			}
			seen[term] = true
			all = append(all, resource.Term{Text: term, Title: i == 0})
		}
	}
	return all
}
