package knowledge

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

// The synonyms of each language: one group per line, words and phrases separated by commas. In a line that begins with
// "?", the first phrase asks, and only this phrase has the others as synonyms. A line that begins with "=" has forms of
// one word, such as "go, went".
//
//go:embed synonyms/*.txt
var synonymFiles embed.FS

// The words of the subjects of everyday questions: one subject per line, words separated by commas. A passage with another
// word of a subject ranks before those without one, but its confidence hardly rises.
//
//go:embed subjects/*.txt
var subjectFiles embed.FS

// lexicon contains the synonyms of one language.
type lexicon struct {
	shipped *lexicon            // of a company's lexicon: the one shipped with the program
	forms   map[string][]string // stems of the same word, by stem
	words   map[string][]form   // synonyms, by stem
	phrases map[string][]phrase // by their first word, folded

	subjects map[string][]int // of words, by stem
	members  [][]string       // stems of the words of each subject
}

// phrase is a phrase of several words with its synonyms.
type phrase struct {
	words  []string // folded
	forms  []form
	weight float64
}

var lexicons = sync.OnceValue(func() map[string]*lexicon { //nolint:gochecknoglobals // read-only
	all := map[string]*lexicon{}
	for _, language := range languages {
		text, err := synonymFiles.ReadFile("synonyms/" + language + ".txt")
		if err != nil {
			panic(err) // they are part of the program
		}
		l := readLexicon(string(text), language)
		if text, err = subjectFiles.ReadFile("subjects/" + language + ".txt"); err != nil {
			panic(err)
		}
		l.readSubjects(string(text), language)
		all[language] = l
	}
	return all
})

var noLexicon = &lexicon{} //nolint:gochecknoglobals // read-only

func lexiconOf(language string) *lexicon {
	if l := lexicons()[language]; l != nil {
		return l
	}
	return noLexicon
}

// with returns the lexicon with a company's synonyms.
func (l *lexicon) with(synonyms, language string) *lexicon {
	if synonyms == "" {
		return l
	}
	own := readLexicon(synonyms, language)
	own.shipped = l
	return own
}

// both returns the entries of the company's lexicon and of the shipped one.
func both[T any](l *lexicon, of func(*lexicon) []T) []T {
	if l.shipped == nil {
		return of(l)
	}
	return slices.Concat(of(l), of(l.shipped))
}

func readLexicon(text, language string) *lexicon {
	l := &lexicon{forms: map[string][]string{}, words: map[string][]form{}, phrases: map[string][]phrase{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if forms, ok := strings.CutPrefix(line, "="); ok {
			l.addForms(strings.Split(forms, ","), language)
			continue
		}
		line, asks := strings.CutPrefix(line, "?")
		l.add(strings.Split(line, ","), language, asks)
	}
	return l
}

// readSubjects reads the words of subjects. Those of phrases count one by one.
func (l *lexicon) readSubjects(text, language string) {
	l.subjects = map[string][]int{}
	for line := range strings.Lines(text) {
		var all []string
		for _, word := range Words(line) {
			if s := stem(word, language); !stopped(word, language) && !slices.Contains(all, s) {
				all = append(all, s)
				l.subjects[s] = append(l.subjects[s], len(l.members))
			}
		}
		l.members = append(l.members, all)
	}
}

// addForms adds forms of one word. Forms of several words, such as "wi fi", match the others and are matched by
// them.
func (l *lexicon) addForms(members []string, language string) {
	var stems []string
	var phrases [][]string
	for _, m := range members {
		words := Words(m)
		if !slices.ContainsFunc(words, func(w string) bool { return !stopped(w, language) }) {
			continue
		}
		if len(words) > 1 {
			phrases = append(phrases, words)
			continue
		}
		if s := stem(words[0], language); !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	for i, s := range stems {
		l.forms[s] = append(append(l.forms[s], stems[:i]...), stems[i+1:]...)
	}
	for _, words := range phrases {
		apart := stemsOf(words, language)
		p := phrase{words: words, weight: 1, forms: []form{{apart, 1}}}
		for _, s := range stems {
			l.words[s] = append(l.words[s], form{apart, float64(len(apart)) / float64(len(words))})
			p.forms = append(p.forms, form{[]string{s}, 1})
		}
		l.phrases[words[0]] = append(l.phrases[words[0]], p)
	}
}

// add adds a group of synonyms. If it asks, only the first phrase has synonyms.
func (l *lexicon) add(members []string, language string, asks bool) {
	var words [][]string
	var forms []form
	for _, m := range members {
		if w := Words(m); len(w) > 0 {
			// Of "close by", passages contain only "close".
			stems := stemsOf(w, language)
			words, forms = append(words, w), append(forms, form{stems, synonymWorth * float64(len(stems)) / float64(len(w))})
		}
	}
	for i, w := range words {
		if asks && i > 0 {
			break
		}
		others := make([]form, 0, len(forms)-1)
		for j, f := range forms {
			if j != i {
				others = append(others, f)
			}
		}
		if len(w) == 1 {
			s := forms[i].stems[0]
			l.words[s] = append(l.words[s], others...)
			continue
		}
		p := phrase{words: w, weight: 1}
		subject := slices.ContainsFunc(w, func(word string) bool { return !stopped(word, language) })
		switch {
		case asks && subject: // its words have synonyms themselves
			continue
		case asks || !subject:
			p.weight = askedWeight
		default:
			p.forms = []form{{forms[i].stems, 1}}
		}
		p.forms = append(p.forms, others...)
		l.phrases[w[0]] = append(l.phrases[w[0]], p)
	}
}

func stemsOf(words []string, language string) []string {
	all := make([]string, 0, len(words))
	for _, w := range words {
		if !stopped(w, language) {
			all = append(all, stem(w, language))
		}
	}
	if len(all) == 0 {
		return words
	}
	return all
}

// phraseAt returns the longest phrase at the beginning of the words, as one wanted word, or as one for each of its
// words that indicate a subject. n is its number of words, 0 if there is none.
func (l *lexicon) phraseAt(words []string, language string) (all []wanted, n int) {
	var longest phrase
	for _, p := range both(l, func(l *lexicon) []phrase { return l.phrases[words[0]] }) {
		if len(p.words) > n && len(p.words) <= len(words) && equal(p.words, words[:len(p.words)]) {
			longest, n = p, len(p.words)
		}
	}
	if n == 0 {
		return nil, 0
	}
	var subjects []string
	for _, word := range longest.words {
		if !stopped(word, language) {
			subjects = append(subjects, word)
		}
	}
	if longest.weight == 1 && len(subjects) > 1 { // a passage may have only some of its words
		for _, word := range subjects {
			w := l.word(word, language)
			for i := w.own; i < len(w.forms); i++ {
				w.forms[i].worth *= apartWorth
			}
			w.forms = append(w.forms, longest.forms[1:]...)
			all = append(all, w)
		}
		return all, n
	}
	w := wanted{text: strings.Join(longest.words, " "), forms: slices.Clone(longest.forms), weight: longest.weight}
	for _, word := range subjects {
		w.subjects = append(w.subjects, lexiconOf(language).subjects[stem(word, language)]...)
	}
	if w.weight == 1 {
		w.own = 1
	}
	for _, word := range subjects {
		for _, f := range l.word(word, language).forms {
			w.forms = append(w.forms, form{f.stems, f.worth * apartWorth})
		}
	}
	return []wanted{w}, n
}

func equal(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// word returns a word with its synonyms.
func (l *lexicon) word(word, language string) wanted {
	w := wanted{text: word, forms: ownForms(word, language), weight: 1}
	own := w.forms[0].stems[0]
	same := both(l, func(l *lexicon) []string { return l.forms[own] })
	for _, s := range same {
		w.forms = append(w.forms, form{[]string{s}, 1})
	}
	w.own = len(w.forms)
	w.subjects = lexiconOf(language).subjects[own]
	for _, s := range append([]string{own}, same...) {
		w.forms = append(w.forms, both(l, func(l *lexicon) []form { return l.words[s] })...)
	}
	switch {
	case isNumber(word):
		w.weight = numberWeight
	case lights[language][word]:
		w.weight = lightWeight
	}
	return w
}
