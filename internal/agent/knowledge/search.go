package knowledge

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"carillon/internal/base/resource"
	"carillon/internal/store/resources"
)

const (
	inTitle = 1.3 // factor of a word's weight if the title contains it
	inText  = 0.8 // factor if only the text contains it

	minCandidates = 20   // passages that are compared with the question word by word
	maxTypos      = 6000 // stems that are looked up, times bases

	maxLimit   = 20
	maxExcerpt = 600 // characters
)

// Query is a search query.
type Query struct {
	CompanyID string
	Knowledge []string // ids of the bases
	Text      string
	Language  string // BCP 47; of the person who asks
	Limit     int    // number of results; 0 means 5; maximum 20
	Topic     *Hit   // answer to the previous question, which this one may continue; may be nil
}

// Hit is a passage that matches a query.
type Hit struct {
	Knowledge string
	Article   int // index in the base
	Title     string
	Text      string // the complete passage
	Excerpt   string // its best matching sentences
	URL       string
	Language  string  // without region; empty if unknown
	Foreign   bool    // in another language than the question
	Passage   int     // number in its base
	Score     float64 // probability that the passage answers the question
	// Similarity is the cosine of the angle between the vectors of the passage and the question; 0 if it is not known.
	Similarity float64

	sentences []string
	best      int // index of the sentence that matches best
}

// minTopicScore is the minimum score of a passage that a next question may continue.
const minTopicScore = 0.2

// Certain reports whether the passage can be the topic of the next question.
func (h *Hit) Certain() bool { return h.Score >= minTopicScore }

// Answer returns the sentences that answer the question, beginning with the best one, in about maxChars characters. A short
// passage is returned whole.
func (h *Hit) Answer(maxChars int) string {
	if length(h.Text) <= maxChars/2 {
		return h.Text
	}
	from := h.best
	if from > 0 && continued(h.sentences[from]) {
		from--
	}
	var b strings.Builder
	size := 0
	for i, s := range h.sentences[from:] {
		if size += length(s); i > 0 && size > maxChars {
			break
		}
		b.WriteString(s)
	}
	return strings.TrimSpace(b.String())
}

// index is the stored index of knowledge. *resources.Store implements it.
type index interface {
	Occurrences(ctx context.Context, companyID string, knowledge, terms []string) (map[string][]resources.Occurrence, error)
	PassageCount(ctx context.Context, companyID string, knowledge []string) (n int, synonyms string, err error)
	Passages(ctx context.Context, companyID string, wanted map[string][]int) (map[string]map[int]resource.Passage, error)
	RefreshPassages(ctx context.Context, k resource.Kind) error
}

// Search searches the knowledge of companies.
type Search struct {
	store   index
	meaning Meaning // nil: by words alone
	log     *slog.Logger
}

// NewSearch returns a search in the resources of a database, by words alone.
func NewSearch(s *resources.Store, log *slog.Logger) *Search { return &Search{store: s, log: log} }

// With returns the search by words and by meaning.
func (s *Search) With(m Meaning) *Search { return &Search{s.store, m, s.log} }

// ByWords returns the search by words alone.
func (s *Search) ByWords() *Search { return &Search{store: s.store, log: s.log} }

const refreshEvery = time.Hour

// Run updates passages that another version of the program stored, now and every hour, until ctx ends.
func (s *Search) Run(ctx context.Context) error {
	for {
		if err := s.store.RefreshPassages(ctx, Kind()); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "refresh what is searched of knowledge", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(refreshEvery):
		}
	}
}

// place identifies a passage.
type place struct {
	knowledge string
	passage   int
}

// ranked is a passage with its score.
type ranked struct {
	place
	score float64
	hit   resource.Passage
	meant *Near // nil if it is not among the nearest in meaning
}

// Find returns the passages that match a query best, one per article, best first. Passages in the language of the
// question come first.
func (s *Search) Find(ctx context.Context, query Query) ([]Hit, error) {
	hits, _, err := s.Look(ctx, query)
	return hits, err
}

// Look is Find, and returns the result of the search by meaning too.
func (s *Search) Look(ctx context.Context, query Query) ([]Hit, Nearest, error) {
	near := s.nearest(ctx, &query)
	found, err := s.find(ctx, query, near)
	hits := make([]Hit, 0, len(found))
	for i := range found {
		m := &found[i]
		hits = append(hits, Hit{
			Knowledge: m.knowledge, Article: m.hit.Article, Title: m.hit.Title, Text: m.hit.Text, Excerpt: m.excerpt(),
			URL: m.hit.URL, Language: m.hit.Language,
			Foreign: m.foreign, Passage: m.passage, Score: math.Round(m.sure*1000) / 1000, sentences: m.sentences(), best: m.best,
			Similarity: math.Round(m.similarity()*1000) / 1000,
		})
	}
	return hits, near(), err
}

// nearest begins a search by meaning, and returns a function that waits for its result.
func (s *Search) nearest(ctx context.Context, query *Query) func() Nearest {
	if s.meaning == nil || len(query.Knowledge) == 0 || strings.TrimSpace(query.Text) == "" {
		return func() Nearest { return Nearest{} }
	}
	var result Nearest
	done := make(chan struct{})
	go func() {
		defer close(done)
		result = s.meaning.Nearest(ctx, query.CompanyID, query.Knowledge, query.Text)
	}()
	return func() Nearest {
		<-done
		return result
	}
}

func (s *Search) find(ctx context.Context, query Query, near func() Nearest) ([]match, error) {
	limit := min(cmp.Or(query.Limit, 5), maxLimit)
	if len(query.Knowledge) == 0 {
		return nil, nil
	}
	count, synonyms, err := s.store.PassageCount(ctx, query.CompanyID, query.Knowledge)
	if err != nil || count == 0 {
		return nil, err
	}
	q := parse(query.Text, query.Language, synonyms)
	var found map[string][]resources.Occurrence
	if len(q.words) > 0 {
		if found, err = s.occurrences(ctx, &query, q); err != nil {
			return nil, err
		}
	}
	best, w := score(q, found, count, max(minCandidates, 3*limit)) // several may belong to one article
	best = addNear(best, near().Passages)
	if len(best) == 0 && query.Topic == nil {
		return nil, nil
	}
	if err := s.read(ctx, query.CompanyID, best); err != nil {
		return nil, err
	}
	if query.Topic != nil {
		if best, err = s.addTopic(ctx, &query, best); err != nil {
			return nil, err
		}
	}
	matches := compareAll(q, w, best)
	all := judge(slices.Clone(matches))
	if t := query.Topic; t != nil {
		topic := slices.DeleteFunc(matches, func(m match) bool { return m.knowledge != t.Knowledge || m.hit.Title == "" })
		at := slices.IndexFunc(topic, func(m match) bool { return m.passage == t.Passage })
		if at >= 0 {
			article := topic[at].article()
			topic = slices.DeleteFunc(topic, func(m match) bool { return m.article() != article })
			all = follow(q, w, Words(query.Text), topic, all)
		}
	}
	return all[:min(limit, len(all))], nil
}

// occurrences returns where the stems of a question occur. For a word that occurs nowhere it tries spellings with
// one typing error, and the word written as two.
func (s *Search) occurrences(ctx context.Context, query *Query, q *question) (map[string][]resources.Occurrence, error) {
	found, err := s.store.Occurrences(ctx, query.CompanyID, query.Knowledge, q.stems(len(query.Knowledge)))
	if err != nil {
		return nil, err
	}
	var more []string
	for i := range q.words {
		w := &q.words[i]
		if w.own == 0 || slices.ContainsFunc(w.forms, func(f form) bool { return len(f.occurrences(found)) > 0 }) {
			continue
		}
		stems := typos(w.text, q.language)
		if (len(more)+len(stems))*len(query.Knowledge) > maxTypos {
			break
		}
		for _, stem := range stems {
			w.forms = append(w.forms, form{[]string{stem}, typoWorth})
			more = append(more, stem)
		}
		for _, f := range partsOf(w.text, q.language) {
			w.forms = append(w.forms, f)
			more = append(more, f.stems...)
		}
	}
	if len(more) == 0 {
		return found, nil
	}
	others, err := s.store.Occurrences(ctx, query.CompanyID, query.Knowledge, more)
	maps.Copy(found, others)
	for i := range q.words { // hundreds of forms would slow down the comparison
		w := &q.words[i]
		w.forms = slices.DeleteFunc(w.forms, func(f form) bool { return f.worth < 1 && len(f.occurrences(found)) == 0 })
	}
	return found, err
}

// occurrences returns the passages that contain all stems of a form.
func (f form) occurrences(found map[string][]resources.Occurrence) []resources.Occurrence {
	all := found[f.stems[0]]
	for _, stem := range f.stems[1:] {
		other := found[stem]
		all = slices.DeleteFunc(slices.Clone(all), func(o resources.Occurrence) bool {
			return !slices.ContainsFunc(other, func(p resources.Occurrence) bool {
				return p.KnowledgeID == o.KnowledgeID && p.Passage == o.Passage
			})
		})
	}
	return all
}

// score returns the passages with the highest weight of matching words, best first, and the weights of the words.
func score(q *question, found map[string][]resources.Occurrence, count, maxHits int) ([]ranked, *weights) {
	all := newTable(found)
	df := make([]int, len(q.words))
	sums, worth := make([]float64, all.size), make([]float64, all.size) // over all words, and for the current one
	having := make([][]int, len(q.words))
	worths := make([][]float64, len(q.words))
	for i := range q.words {
		own := 0
		for n, f := range q.words[i].forms {
			for _, o := range f.occurrences(found) {
				at, is := all.row(o), f.worth*inText
				if o.Title {
					is = f.worth * inTitle
				}
				if worth[at] == 0 {
					having[i] = append(having[i], at)
				}
				worth[at] = max(worth[at], is)
			}
			if n < q.words[i].own {
				own = len(having[i])
			}
		}
		df[i] = cmp.Or(own, len(having[i]))
		for _, stem := range q.related(&q.words[i]) { // they add candidates, but do not make the word frequent
			for _, o := range found[stem] {
				if at := all.row(o); worth[at] == 0 {
					having[i], worth[at] = append(having[i], at), relatedWorth*inText
				}
			}
		}
		for _, at := range having[i] {
			worths[i] = append(worths[i], worth[at])
			worth[at] = 0
		}
	}
	w := weigh(q, df, count)
	for i, rows := range having {
		for n, at := range rows {
			sums[at] += worths[i][n] * w.each[i]
		}
	}
	return all.best(sums, maxHits), w
}

// table maps the passages of several bases to rows.
type table struct {
	ids   []string       // of the bases, sorted
	first map[string]int // row of a base's first passage
	size  int
}

func newTable(found map[string][]resources.Occurrence) *table {
	t := &table{first: map[string]int{}}
	last := map[string]int{}
	for _, in := range found {
		for _, o := range in {
			last[o.KnowledgeID] = max(last[o.KnowledgeID], o.Passage)
		}
	}
	t.ids = slices.Sorted(maps.Keys(last))
	for _, id := range t.ids {
		t.first[id] = t.size
		t.size += last[id] + 1
	}
	return t
}

func (t *table) row(o resources.Occurrence) int { return t.first[o.KnowledgeID] + o.Passage }

// best returns the rows with the highest sums.
func (t *table) best(sums []float64, maxHits int) (all []ranked) {
	var rows []int // in descending order of their sums
	for row, sum := range sums {
		if sum == 0 || len(rows) == maxHits && sum <= sums[rows[maxHits-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(rows, sum, func(have int, sum float64) int {
			if sums[have] < sum {
				return 1
			}
			return -1 // among equal rows the earlier one stays first
		})
		rows = slices.Insert(rows, at, row)
		rows = rows[:min(len(rows), maxHits)]
	}
	for _, row := range rows {
		i := len(t.ids) - 1
		for t.first[t.ids[i]] > row {
			i--
		}
		all = append(all, ranked{place: place{t.ids[i], row - t.first[t.ids[i]]}, score: sums[row]})
	}
	return all
}

// read loads the passages.
func (s *Search) read(ctx context.Context, companyID string, all []ranked) error {
	numbers := map[string][]int{}
	for _, r := range all {
		numbers[r.knowledge] = append(numbers[r.knowledge], r.passage)
	}
	passages, err := s.store.Passages(ctx, companyID, numbers)
	for i := range all {
		all[i].hit = passages[all[i].knowledge][all[i].passage]
	}
	return err
}

// compareAll compares passages with a question.
func compareAll(q *question, w *weights, best []ranked) (all []match) {
	for _, r := range best {
		if r.hit.Text == "" { // replaced in the meantime
			continue
		}
		if r.meant != nil && r.meant.Hash != r.hit.Hash {
			r.meant = nil // of another state of the base
		}
		m := compare(q, w, r)
		m.foreign = base(r.hit.Language) != q.language
		m.rank = dot(rankWeights, m.features)
		all = append(all, m)
	}
	return all
}

// judge sorts passages, keeps the best of each article, and calculates the confidence of each. Those of the topic alone
// that contain no word of the question, and are not near it in meaning, are dropped.
func judge(all []match) []match {
	all = slices.DeleteFunc(all, func(m match) bool { return !m.hasWords() && m.meant == nil })
	if slices.ContainsFunc(all, func(m match) bool { return m.meant != nil }) {
		byWords := slices.DeleteFunc(slices.Clone(all), func(m match) bool { return !m.hasWords() })
		return fuse(all, judgeWords(byWords))
	}
	return judgeWords(all)
}

// hasWords reports whether a passage contains words of the question, or related ones.
func (m *match) hasWords() bool { return m.features[fMatched] > 0 || m.features[fRelated] > 0 }

// languageFirst orders matches in the language of the question before others.
func languageFirst(a, b *match) int {
	switch {
	case a.foreign == b.foreign:
		return 0
	case a.foreign:
		return 1
	}
	return -1
}

func byRank(a, b match) int { return cmp.Or(languageFirst(&a, &b), cmp.Compare(b.rank, a.rank)) }

// onePerArticle keeps the first match of each article.
func onePerArticle(all []match) []match {
	seen := map[place]bool{}
	return slices.DeleteFunc(all, func(m match) bool {
		again := seen[m.article()]
		seen[m.article()] = true
		return again
	})
}

// judgeWords is judge by words alone.
func judgeWords(all []match) []match {
	slices.SortStableFunc(all, byRank)
	all = onePerArticle(all)
	first := 0.0 // confidence of the best one in the same language, or in others
	for i := range all {
		m := &all[i]
		if i == 0 || all[i-1].foreign != m.foreign { // only the best one stands out
			m.features[fMargin] = 1
			if i+1 < len(all) && all[i+1].foreign == m.foreign {
				m.features[fMargin] = min(1, (m.rank-all[i+1].rank)/maxMargin)
			}
		}
		m.sure = 1 / (1 + math.Exp(-dot(sureWeights, m.features)))
		chance := m.foreign && m.hit.Language != "" && m.features[fMatched] < foreignMatched
		if m.features[fCovered] < minCovered || chance {
			m.sure = min(m.sure, thinlyCovered)
		}
		if i > 0 && all[i-1].foreign == m.foreign { // one article answers the question
			m.sure = min(m.sure, 1-first)
		} else {
			first = m.sure
		}
	}
	return all
}

func dot(weights, values [features]float64) (sum float64) {
	for i, w := range weights {
		sum += w * values[i]
	}
	return sum
}

// excerpt returns the best sentence with as many of the following and preceding ones as fit into maxExcerpt characters.
func (m *match) excerpt() string {
	if length(m.hit.Text) <= maxExcerpt {
		return m.hit.Text
	}
	from, to := m.best, m.best+1
	size := length(m.spans[m.best].text)
	for grown := true; grown; {
		grown = false
		if to < len(m.spans) && size+length(m.spans[to].text) <= maxExcerpt {
			size += length(m.spans[to].text)
			to++
			grown = true
		}
		if from > 0 && size+length(m.spans[from-1].text) <= maxExcerpt {
			from--
			size += length(m.spans[from].text)
			grown = true
		}
	}
	var b strings.Builder
	for _, s := range m.spans[from:to] {
		b.WriteString(s.text)
	}
	return clipText(strings.TrimSpace(b.String()), maxExcerpt)
}

func clipText(text string, maxChars int) string {
	if length(text) <= maxChars {
		return text
	}
	return Clip(text, maxChars)
}
