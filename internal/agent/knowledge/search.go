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

// Threshold is the score from which on a passage answers the question.
const Threshold = 0.5

const (
	inTitle    = 1.3  // of what a word is worth, where the title has it
	inText     = 0.8  // where only the text has it
	unknown    = 0.9  // of what the known words are worth on average, for a word that no passage has
	sameTongue = 0.02 // rank of a passage in the language of the question above an equal one

	maxLimit   = 20
	maxExcerpt = 600 // characters of an excerpt
)

// Query is what is searched for.
type Query struct {
	CompanyID string
	Knowledge []string // the bases
	Text      string
	Language  string // BCP 47; of who asks
	Limit     int    // results; 0: 5, at most 20
}

// Hit is a passage that fits a query.
type Hit struct {
	Knowledge string
	Title     string
	Text      string // the passage
	Excerpt   string // the sentences of it that fit best
	URL       string
	Score     float64 // from 0 to 1
}

// Answers reports whether it answers the question.
func (h *Hit) Answers() bool { return h.Score >= Threshold }

// Search searches the knowledge of companies.
type Search struct {
	store *resources.Store
	log   *slog.Logger
}

// NewSearch returns a search in the resources of a database.
func NewSearch(s *resources.Store, log *slog.Logger) *Search { return &Search{s, log} }

const refreshEvery = time.Hour

// Run has searched what programs of other versions wrote, now and every hour, until ctx ends.
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

// place is where a passage stands.
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

// Find returns the passages that fit a query best, one of each article, the best first.
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
	best := score(words, found, count, 3*limit) // several may be of one article
	if err := s.read(ctx, q.CompanyID, best); err != nil {
		return nil, err
	}
	return hits(best, words, languageOf(q.Text, q.Language), limit), nil
}

// score returns the passages that have most of the words by their worth, the best first.
func score(words []wanted, found map[string][]resources.Occurrence, count, most int) []ranked {
	all := newTable(found)
	sums, worth := make([]float64, all.size), make([]float64, all.size) // of all words, and of the present one
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

// table numbers the passages of some knowledge.
type table struct {
	ids   []string       // of the knowledge, sorted
	first map[string]int // the row of a base's first passage
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

// best returns the rows with the greatest sums, as shares of the total.
func (t *table) best(sums []float64, total float64, most int) (all []ranked) {
	var rows []int // sorted
	for row, sum := range sums {
		if sum == 0 || len(rows) == most && sum <= sums[rows[most-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(rows, sum, func(have int, sum float64) int {
			if sums[have] < sum {
				return 1
			}
			return -1 // an equal one that comes first stays first
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

// read reads the passages.
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

// hits are the best passages, one of each article; of equal ones those in the language first.
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
		if r.hit.Text == "" || seen[article] || len(all) == limit { // without a text: replaced meanwhile
			continue
		}
		seen[article] = true
		all = append(all, Hit{
			Knowledge: r.knowledge, Title: r.hit.Title, Text: r.hit.Text, Excerpt: excerpt(r.hit.Text, words), URL: r.hit.URL,
			Score: math.Round(r.score*1000) / 1000,
		})
	}
	return all
}

// excerpt is the run of whole sentences, short enough to be an answer, that has the most of the words.
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
	if best = strings.TrimSpace(best); best == "" { // one long sentence
		best = clip(text, maxExcerpt)
	}
	return best
}

// having says which of the words, at most 32, a text has: a bit for each.
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
