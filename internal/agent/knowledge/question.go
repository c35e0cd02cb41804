package knowledge

import (
	"slices"
	"strings"
)

// question is a parsed question.
type question struct {
	language string
	words    []wanted // distinct words that indicate its subject
	asks     answer
}

// wanted is a word of a question, or a phrase of several, with the forms in which a passage may contain it.
type wanted struct {
	text     string // folded
	forms    []form // its own come first, then those of synonyms
	own      int    // number of forms that are no synonyms
	weight   float64
	subjects []int // of its language's lexicon
}

// form is a form of a word: its stem, or the stems of a phrase.
type form struct {
	stems []string
	worth float64 // 1 for the word itself
}

const (
	synonymWorth = 0.8
	typoWorth    = 0.9
	apartWorth   = 0.75 // of a word of a phrase
	partsWorth   = 0.9  // of a compound word written as two, and the reverse
	relatedWorth = 0.35 // of another word of the same subject

	lightWeight  = 0.35 // of words that say little about the subject
	numberWeight = 0.5
	askedWeight  = 0.5 // of phrases that ask, such as "how much"
)

// parse splits a question into the words that indicate its subject. given is the language of the person who asks.
// synonyms are those of the company, one group per line.
func parse(text, given, synonyms string) *question {
	words := Words(text)
	words = words[:min(len(words), maxWords)]
	q := &question{language: languageOf(text, given)}
	q.asks = answerOf(words, q.language)
	lexicon := lexiconOf(q.language).with(synonyms, q.language)
	seen := map[string]bool{}
	for i := 0; i < len(words); i++ {
		all, n := lexicon.phraseAt(words[i:], q.language)
		if n == 0 {
			n = 1
			if stopped(words[i], q.language) {
				continue
			}
			all = []wanted{lexicon.word(words[i], q.language)}
		}
		for _, w := range all {
			key := strings.Join(w.forms[0].stems, " ")
			if seen[key] {
				continue
			}
			seen[key] = true
			q.words = append(q.words, w)
			if i > 0 && n == 1 { // "wheel chair" is also written in one word
				last := len(q.words) - 2
				if last >= 0 && q.words[last].text == words[i-1] {
					joined := form{[]string{stem(words[i-1]+words[i], q.language)}, partsWorth}
					q.words[last].forms = append(q.words[last].forms, joined)
					q.words[last+1].forms = append(q.words[last+1].forms, joined)
				}
			}
		}
		i += n - 1
	}
	return q
}

// maxRelated bounds the related stems of a question that are looked up, times the number of bases.
const maxRelated = 2000

// stems returns the stems of all forms and related words, to be looked up in a number of bases.
func (q *question) stems(bases int) []string {
	var all []string
	related := maxRelated / max(bases, 1)
	for _, w := range q.words {
		for _, f := range w.forms {
			all = append(all, f.stems...)
		}
		more := q.related(&w)
		more = more[:min(len(more), related)]
		related -= len(more)
		all = append(all, more...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// related returns the stems of the words of a word's subjects.
func (q *question) related(w *wanted) (all []string) {
	for _, subject := range w.subjects {
		all = append(all, lexiconOf(q.language).members[subject]...)
	}
	return all
}

// ownForms returns the stems of a word in every language, because the passages may be in a language other than the
// detected one.
func ownForms(word, language string) (all []form) {
	stems := []string{stem(word, language)}
	for _, l := range append(languages, "") {
		if s := stem(word, l); !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	for _, s := range stems {
		all = append(all, form{[]string{s}, 1})
	}
	return all
}

func isNumber(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

const minTypo = 5 // letters of a word in which a typing error is corrected

// typos returns the stems that differ from a word's by one typing error: an extra, missing or wrong letter, or two
// letters in the wrong order. The first letter is assumed to be right.
func typos(word, language string) (all []string) {
	if len(word) < minTypo || isNumber(word) || strings.IndexFunc(word, func(r rune) bool { return r > 'z' }) >= 0 {
		return nil
	}
	add := func(s string) {
		if s = stem(s, language); len(s) >= minStem {
			all = append(all, s)
		}
	}
	for i := 1; i <= len(word); i++ {
		for c := 'a'; c <= 'z'; c++ {
			add(word[:i] + string(c) + word[i:])
			if i < len(word) {
				add(word[:i] + string(c) + word[i+1:])
			}
		}
		if i < len(word) {
			add(word[:i] + word[i+1:])
		}
		if i+1 < len(word) {
			add(word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const minPart = 3 // letters of a part of a compound word

// partsOf returns the ways to write a word as two.
func partsOf(word, language string) (all []form) {
	for i := minPart; i+minPart <= len(word); i++ {
		if word[i]&0xC0 == 0x80 { // within a letter
			continue
		}
		all = append(all, form{[]string{stem(word[:i], language), stem(word[i:], language)}, partsWorth})
	}
	return all
}
