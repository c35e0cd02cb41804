package knowledge

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"carillon/internal/base/resource"
	"carillon/internal/store/resources"
)

// Threshold is the minimum score of a passage that answers the question.
const Threshold = 0.5

const (
	inTitle    = 1.3  // factor of a word's weight if the title contains it
	inText     = 0.8  // factor if only the text contains it
	unknown    = 0.9  // weight of a word that no passage contains, relative to the average of the others
	sameTongue = 0.02 // bonus of a passage in the language of the question

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
}

// Hit is a passage that matches a query.
type Hit struct {
	Knowledge string
	Article   int // index in the base
	Title     string
	Text      string // the complete passage
	Excerpt   string // its best matching sentences
	URL       string
	Score     float64 // from 0 to 1
}

// Answers reports whether the passage answers the question.
func (h *Hit) Answers() bool { return h.Score >= Threshold }

// Search searches the knowledge of companies.
type Search struct {
	store *resources.Store
	log   *slog.Logger
}

// NewSearch returns a search in the resources of a database.
func NewSearch(s *resources.Store, log *slog.Logger) *Search { return &Search{s, log} }

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
}

// Find returns the passages that match a query best, one per article, best first.
func (s *Search) Find(ctx context.Context, q Query) ([]Hit, error) {
	limit := min(cmp.Or(q.Limit, 5), maxLimit)
	words := wantedOf(q.Text, q.Language)
	if len(words) == 0 || len(q.Knowledge) == 0 {
		return nil, nil
	}
	found, err := s.store.Occurrences(ctx, q.CompanyID, q.Knowledge, slices.Compact(slices.Sorted(slices.Values(slices.Concat(words...)))))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	count, err := s.store.PassageCount(ctx, q.CompanyID, q.Knowledge)
	if err != nil {
		return nil, err
	}
	best := score(words, found, count, 3*limit) // several may belong to one article
	if err := s.read(ctx, q.CompanyID, best); err != nil {
		return nil, err
	}
	return hits(best, words, languageOf(q.Text, q.Language), limit), nil
}

// score returns the passages with the highest weight of matching words, best first.
func score(words []wanted, found map[string][]resources.Occurrence, count, most int) []ranked {
	all := newTable(found)
	sums, worth := make([]float64, all.size), make([]float64, all.size) // over all words, and for the current one
	known, total := 0, 0.0
	for _, forms := range words {
		var having []int
		for _, form := range forms {
			for _, o := range found[form] {
				at, is := all.row(o), inText
				if o.Title {
					is = inTitle
				}
				if worth[at] == 0 {
					having = append(having, at)
				}
				worth[at] = max(worth[at], is)
			}
		}
		if len(having) == 0 {
			continue
		}
		rare := math.Log(1 + float64(count)/float64(len(having)))
		known++
		total += rare
		for _, at := range having {
			sums[at] += worth[at] * rare
			worth[at] = 0
		}
	}
	total += float64(len(words)-known) * unknown * total / float64(known)
	return all.best(sums, total, most)
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

// best returns the rows with the highest sums, as fractions of the total.
func (t *table) best(sums []float64, total float64, most int) (all []ranked) {
	var rows []int // in descending order of their sums
	for row, sum := range sums {
		if sum == 0 || len(rows) == most && sum <= sums[rows[most-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(rows, sum, func(have int, sum float64) int {
			if sums[have] < sum {
				return 1
			}
			return -1 // among equal rows the earlier one stays first
		})
		rows = slices.Insert(rows, at, row)
		rows = rows[:min(len(rows), most)]
	}
	for _, row := range rows {
		i := len(t.ids) - 1
		for t.first[t.ids[i]] > row {
			i--
		}
		all = append(all, ranked{place: place{t.ids[i], row - t.first[t.ids[i]]}, score: min(sums[row]/total, 1)})
	}
	return all
}

// read loads the passages.
func (s *Search) read(ctx context.Context, companyID string, all []ranked) error {
	numbers := map[string][]int{}
	for _, r := range all {
		numbers[r.knowledge] = append(numbers[r.knowledge], r.passage)
	}
	for id, wanted := range numbers {
		passages, err := s.store.Passages(ctx, companyID, id, wanted)
		if err != nil {
			return err
		}
		for i := range all {
			if all[i].knowledge == id {
				all[i].hit = passages[all[i].passage]
			}
		}
	}
	return nil
}

// hits returns the best passages, one per article. Among equal ones those in the language come first.
func hits(best []ranked, words []wanted, language string, limit int) (all []Hit) {
	rank := func(r *ranked) float64 {
		if base(r.hit.Language) == language {
			return r.score + sameTongue
		}
		return r.score
	}
	slices.SortStableFunc(best, func(a, b ranked) int { return cmp.Compare(rank(&b), rank(&a)) })
	seen := map[place]bool{}
	for _, r := range best {
		article := place{r.knowledge, r.hit.Article}
		if r.hit.Text == "" || seen[article] || len(all) == limit { // an empty text was replaced in the meantime
			continue
		}
		seen[article] = true
		all = append(all, Hit{
			Knowledge: r.knowledge, Article: r.hit.Article, Title: r.hit.Title, Text: r.hit.Text, Excerpt: excerpt(r.hit.Text, words),
			URL: r.hit.URL, Score: math.Round(r.score*1000) / 1000,
		})
	}
	return all
}

// excerpt returns the run of complete sentences of at most maxExcerpt characters that contains most of the words.
func excerpt(text string, words []wanted) string {
	if length(text) <= maxExcerpt {
		return text
	}
	all := sentences(text)
	sizes, has := make([]int, len(all)), make([]uint32, len(all))
	for i, sentence := range all {
		sizes[i], has[i] = length(sentence), having(sentence, words)
	}
	best, most := "", -1
	for from := range all {
		to, size, found := from, 0, uint32(0)
		for ; to < len(all) && size+sizes[to] <= maxExcerpt; to++ {
			size += sizes[to]
			found |= has[to]
		}
		if n := bits.OnesCount32(found); n > most {
			best, most = strings.Join(all[from:to], ""), n
		}
		if to == len(all) {
			break
		}
	}
	if best = strings.TrimSpace(best); best == "" { // a single long sentence
		best = clip(text, maxExcerpt)
	}
	return best
}

// having returns which of the words, at most 32, occur in a text, one bit per word.
func having(text string, words []wanted) (has uint32) {
	for _, word := range Words(text) {
		own := forms(word)
		for i, want := range words {
			if slices.ContainsFunc(want, func(form string) bool { return slices.Contains(own, form) }) {
				has |= 1 << i
			}
		}
	}
	return has
}
