package knowledge

import (
	"cmp"
	"math"
	"slices"
)

// rankOffset is the constant of reciprocal rank fusion: the larger it is, the less the first places of a list count.
const rankOffset = 60

// addNear adds the nearest passages in meaning to the candidates.
func addNear(best []ranked, near []Near) []ranked {
	at := map[place]int{}
	for i := range best {
		at[best[i].place] = i
	}
	for i := range near {
		p := place{near[i].Knowledge, near[i].Passage}
		if have, ok := at[p]; ok {
			best[have].meant = &near[i]
		} else {
			best = append(best, ranked{place: p, meant: &near[i]})
		}
	}
	return best
}

func (m *match) similarity() float64 {
	if m.meant == nil {
		return 0
	}
	return m.meant.Similarity
}

// fuse orders matches by the sum of their reciprocal ranks by words and by meaning, and keeps the best of each article. judged
// are the best ones of each article by words, with their confidence.
func fuse(all, judged []match) []match {
	slices.SortStableFunc(all, byRank)
	fused := make(map[place]float64, len(all))
	words := 0
	for i := range all {
		if m := &all[i]; m.features[fMatched] > 0 {
			words++
			fused[m.place] += 1 / float64(rankOffset+words)
		}
		if near := all[i].meant; near != nil {
			fused[all[i].place] += 1 / float64(rankOffset+1+near.Rank)
		}
	}
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(languageFirst(&a, &b), cmp.Compare(fused[b.place], fused[a.place]))
	})
	all = onePerArticle(all)
	sure := map[place]float64{}
	for i := range judged {
		sure[judged[i].article()] = judged[i].sure
	}
	for i := range all {
		all[i].sure = sure[all[i].article()]
	}
	weighMeaning(all)
	return all
}

// weighMeaning corrects the confidence by words of each article's match by its meaning.
func weighMeaning(all []match) {
	for i := range all {
		m := &all[i]
		if m.meant == nil {
			continue
		}
		next := 0.0
		for j := range all {
			if j != i && all[j].meant != nil {
				next = max(next, all[j].meant.Standout)
			}
		}
		m.sure = withMeaning(m.sure, m.meant.Standout, m.meant.Standout-next)
	}
}

const maxStandout, maxAhead = 8, 4

// withMeaning returns the confidence of a passage with a confidence by words, that stands out in meaning, and is ahead of the
// other articles.
func withMeaning(words, standout, ahead float64) float64 {
	logit := math.Log(max(words, 0.01) / (1 - min(words, 0.99)))
	return 1 / (1 + math.Exp(-(logit + 0.5*max(0, min(standout, maxStandout)) + max(0, min(ahead, maxAhead)))))
}
