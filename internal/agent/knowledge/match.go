package knowledge

import (
	"math"
	"slices"
	"strings"

	"carillon/internal/base/resource"
)

// weights are the weights of a question's words in the searched knowledge.
type weights struct {
	each    []float64 // by word; the rarer, the heavier
	missing []bool    // no passage contains the word
	total   float64
	unknown float64 // part of the total
}

// weigh returns the weights of a question's words. df is the number of passages that contain each, count the number of
// all passages. Missing words weigh as much as the rarest.
func weigh(q *question, df []int, count int) *weights {
	w := &weights{each: make([]float64, len(q.words)), missing: make([]bool, len(q.words))}
	for i := range q.words {
		if df[i] == 0 {
			w.missing[i] = true
			if !isNumber(q.words[i].text) && q.words[i].own > 0 {
				w.each[i] = q.words[i].weight * math.Log(1+float64(count))
			}
			w.unknown += w.each[i]
		} else {
			w.each[i] = q.words[i].weight * math.Log(1+float64(count)/float64(df[i]))
		}
		w.total += w.each[i]
	}
	return w
}

// span is a sentence of a passage.
type span struct {
	text    string
	words   []string
	worth   []float64 // by word of the question
	related []bool    // by word of the question: whether another word of its subjects occurs
	at      []int     // positions of the question's words in the passage; -1 if missing
}

// match is a passage compared with a question.
type match struct {
	ranked
	features [features]float64
	rank     float64
	sure     float64 // probability that the passage answers the question
	best     int     // index of its best sentence
	spans    []span
	foreign  bool // in another language than the question
}

// Features of a match, each from 0 to about 1.
const (
	fBias         = iota
	fCovered      // weight of the question's words in the passage
	fKnown        // the same without unknown words
	fSentence     // weight in the best sentence
	fPair         // in the best two consecutive sentences
	fTitle        // in the title
	fTitleNamed   // share of the title's words that the question contains
	fUnknown      // weight of unknown words
	fMissing      // weight of the heaviest missing word
	fMatched      // number of matched words
	fNear         // share of neighboring words that are also neighbors in the passage
	fFact         // the best sentences lack the kind of fact that is asked for
	fMargin       // distance to the next article
	fExact        // matched words that are no synonyms
	fWords        // number of the question's words
	fUntitled     // the passage has no title
	fRelated      // weight of missing words with another one of their subjects in the passage
	fRelatedTitle // the same in the title
	features
)

// compare compares a passage with a question.
func compare(q *question, w *weights, r ranked) match {
	m := match{ranked: r}
	p := &r.hit
	title := newSpan(titleOf(p), q, p.Language)
	named := title.named(q)
	for wording := range strings.SplitSeq(p.Questions, "\n") { // as good as the title
		s := newSpan(wording, q, p.Language)
		title.worth = most(title.worth, s.worth)
		named = max(named, s.named(q))
	}
	whole := slices.Clone(title.worth)
	related := slices.Clone(title.related)
	best, pair := 0.0, 0.0
	var before span
	for i, text := range sentences(p.Text) {
		s := newSpan(text, q, p.Language)
		for j, worth := range s.worth {
			whole[j] = max(whole[j], worth)
			related[j] = related[j] || s.related[j]
		}
		here := w.sum(s.worth, title.worth)
		if here > best {
			best, m.best = here, i
		}
		if i > 0 {
			pair = max(pair, w.sum(most(s.worth, before.worth), title.worth))
		}
		m.spans = append(m.spans, s)
		before = s
	}
	pair = max(pair, best)
	m.fill(q, w, &title, whole, best, pair)
	m.features[fRelated], m.features[fRelatedTitle] = w.related(whole, related), w.related(title.worth, title.related)
	m.features[fTitleNamed] = named
	if len(title.words) == 0 {
		m.features[fUntitled] = 1
	}
	return m
}

// inTitleOnly is the worth of a word in a sentence if only the title contains it.
const inTitleOnly = 0.6

// sum returns the weight of the words in a text below a title.
func (w *weights) sum(text, title []float64) (sum float64) {
	for i, weight := range w.each {
		sum += weight * max(text[i], inTitleOnly*title[i])
	}
	return sum
}

// related returns the share of missing words for which another word of the same subject occurs.
func (w *weights) related(worth []float64, related []bool) (sum float64) {
	for i, weight := range w.each {
		if related[i] && worth[i] == 0 {
			sum += weight
		}
	}
	return sum / max(w.total, 1e-9)
}

func most(a, b []float64) []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = max(a[i], b[i])
	}
	return all
}

func (m *match) fill(q *question, w *weights, title *span, whole []float64, best, pair float64) {
	total := max(w.total, 1e-9)
	f := &m.features
	matched, missing, exact := 0, 0.0, 0.0
	covered, inTitle := 0.0, 0.0
	for i, weight := range w.each {
		covered += weight * whole[i]
		inTitle += weight * title.worth[i]
		if whole[i] > 0 && weight > 0 {
			matched++
		} else {
			missing = max(missing, weight)
		}
		if whole[i] == 1 {
			exact += weight
		}
	}
	f[fBias] = 1
	f[fCovered] = covered / total
	f[fKnown] = covered / max(w.total-w.unknown, 1e-9)
	f[fSentence] = best / total
	f[fPair] = pair / total
	f[fTitle] = inTitle / total
	f[fUnknown] = w.unknown / total
	f[fMissing] = missing / total
	f[fMatched] = math.Log(1+float64(matched)) / 2
	f[fNear] = m.near(q)
	f[fExact] = exact / total
	f[fWords] = math.Log(1+float64(len(q.words))) / 2
	if !m.hasFact(q) {
		f[fFact] = 1
	}
}

// named returns the share of a title's words that the question contains.
func (s *span) named(q *question) float64 {
	sum, all := 0.0, 0
	for _, word := range s.words {
		if stopped(word, q.language) {
			continue
		}
		all++
		have, worth := stem(word, q.language), 0.0
		for i := range q.words {
			worth = max(worth, q.words[i].weight*q.words[i].worthOf(have))
		}
		sum += worth
	}
	if all == 0 {
		return 0
	}
	return sum / float64(all)
}

// near returns the share of the question's neighboring words that are at most two words apart in a sentence.
func (m *match) near(q *question) float64 {
	if len(q.words) < 2 {
		return 0
	}
	n := 0
	for i := 1; i < len(q.words); i++ {
		if slices.ContainsFunc(m.spans, func(s span) bool {
			return s.at[i] >= 0 && s.at[i-1] >= 0 && max(s.at[i]-s.at[i-1], s.at[i-1]-s.at[i]) <= 2
		}) {
			n++
		}
	}
	return float64(n) / float64(len(q.words)-1)
}

// hasFact reports whether the best sentence, or the one before or after it, has the kind of fact that is asked for.
func (m *match) hasFact(q *question) bool {
	for i := max(m.best-1, 0); i < min(m.best+2, len(m.spans)); i++ {
		if q.asks.in(m.spans[i].text, m.spans[i].words) {
			return true
		}
	}
	return false
}

// titleOf returns the title of a passage, unless it is the beginning of its text.
func titleOf(p *resource.Passage) string {
	if p.Title == Clip(p.Text, maxTitle) {
		return ""
	}
	return p.Title
}

func newSpan(text string, q *question, language string) span {
	n := len(q.words)
	s := span{text: text, words: Words(text), worth: make([]float64, n), related: make([]bool, n), at: make([]int, n)}
	for i := range s.at {
		s.at[i] = -1
	}
	stems := make([]string, len(s.words))
	for i, word := range s.words {
		stems[i] = stem(word, base(language))
	}
	s.relate(stems, q)
	for i := range q.words {
		w := &q.words[i]
		for at, have := range stems {
			if worth := w.worthOf(have); worth > s.worth[i] {
				s.worth[i], s.at[i] = worth, at
			}
		}
		for _, f := range w.forms {
			if len(f.stems) > 1 && f.worth > s.worth[i] && all(f.stems, stems) {
				s.worth[i], s.at[i] = f.worth, slices.Index(stems, f.stems[0])
			}
		}
	}
	return s
}

// relate finds the words of the question for which the span has another word of the same subject.
func (s *span) relate(stems []string, q *question) {
	known := lexiconOf(q.language).subjects
	for _, stem := range stems {
		subjects := known[stem]
		if len(subjects) == 0 {
			continue
		}
		for i := range q.words {
			same := func(subject int) bool { return slices.Contains(q.words[i].subjects, subject) }
			s.related[i] = s.related[i] || slices.ContainsFunc(subjects, same)
		}
	}
}

func all(wanted, have []string) bool {
	for _, w := range wanted {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}

// worthOf returns the worth of a stem as a form of the word; 0 if it is not a form.
func (w *wanted) worthOf(stem string) (worth float64) {
	for _, f := range w.forms {
		if len(f.stems) == 1 && f.stems[0] == stem {
			worth = max(worth, f.worth)
		}
	}
	return worth
}

// sentences returns the sentences of the passage.
func (m *match) sentences() (all []string) {
	for i := range m.spans {
		all = append(all, m.spans[i].text)
	}
	return all
}

// continuing are the folded words with which a sentence refers to the previous one.
//
//nolint:gochecknoglobals // read-only
var continuing = setOf(`it they this that these those then there you he she later otherwise so but also both
	ello ellos ellas esto eso estos esos despues luego entonces tambien si ademas pero
	isso isto eles elas depois entao tambem alem mas neste nesse`)

// continued reports whether a sentence refers to the previous one.
func continued(sentence string) bool {
	words := Words(sentence)
	return len(words) > 0 && continuing[words[0]]
}
