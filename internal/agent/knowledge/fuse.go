package knowledge

import (
	"cmp"
	"math"
	"slices"
)

// rankOffset is the constant of reciprocal rank fusion: the larger it is, the less the first places of a list count.
const rankOffset = 60

const (
	// offeredByMeaning is the number of articles that are offered for their meaning.
	offeredByMeaning = 3
	// leastByMeaning and mostByMeaning bound the confidence of an article for its meaning alone: it is offered, but never
	// used as the answer.
	leastByMeaning = 0.1
	mostByMeaning  = 0.4
	// perDeviation is the confidence of a standard deviation.
	perDeviation = 0.05
	// staysFirst is the confidence from which the first article by words stays first.
	staysFirst = 0.1
	// minAgreed is the confidence by words from which the agreement of words and meaning adds agreement, up to mostAgreed.
	minAgreed  = 0.3
	agreement  = 0.1
	mostAgreed = 0.6
)

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

// fuse orders matches by the sum of their reciprocal ranks by words and, for those that stand out, by meaning. It keeps the best
// of each article. judged are the best ones of each article by words, with their confidence: a possible one stays before the
// others. Passages with none of the words, and not outstanding in meaning, come last.
func fuse(all, judged []match) []match {
	slices.SortStableFunc(all, byRank)
	fused := make(map[place]float64, len(all))
	words := 0
	for i := range all {
		if m := &all[i]; m.hasWords() {
			words++
			fused[m.place] += 1 / float64(rankOffset+words)
		}
		if near := all[i].meant; near != nil && near.StandsOut {
			fused[all[i].place] += 1 / float64(rankOffset+1+near.Rank)
		}
	}
	sure := map[place]float64{} // by article
	for i := range judged {
		m := &judged[i]
		sure[m.article()] = m.sure
		if m.sure >= staysFirst && (i == 0 || m.foreign != judged[i-1].foreign) || m.sure >= Threshold {
			fused[m.place]++
		}
	}
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(compareBools(a.weak(), b.weak()), languageFirst(&a, &b), cmp.Compare(fused[b.place], fused[a.place]),
			cmp.Compare(a.nearness(), b.nearness()))
	})
	all = onePerArticle(all)
	for i := range all {
		all[i].sure = sure[all[i].article()]
	}
	var first place
	if len(judged) > 0 {
		first = judged[0].article()
	}
	trustMeaning(all, first)
	return all
}

// weak reports whether only some similarity speaks for a passage.
func (m *match) weak() bool {
	return !m.hasWords() && (m.meant == nil || !m.meant.StandsOut)
}

// nearness returns the rank of a passage by meaning; the largest number if it has none.
func (m *match) nearness() int {
	if m.meant == nil {
		return math.MaxInt
	}
	return m.meant.Rank
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// trustMeaning raises the confidence that the search by words gave to articles in the language of the question, if they stand
// out in meaning. It is a rule and not a calibration. first is the first article by words.
func trustMeaning(all []match, first place) {
	var near []*match
	for i := range all {
		if all[i].meant != nil && !all[i].foreign {
			near = append(near, &all[i])
		}
	}
	slices.SortStableFunc(near, func(a, b *match) int { return cmp.Compare(a.meant.Rank, b.meant.Rank) })
	for i, m := range near[:min(len(near), offeredByMeaning)] {
		if !m.meant.StandsOut {
			continue
		}
		if i == 0 && m.article() == first && m.sure >= minAgreed {
			m.sure = max(m.sure, min(m.sure+agreement, mostAgreed))
		}
		m.sure = max(m.sure, min(leastByMeaning+perDeviation*(m.meant.Standout-minStandout), mostByMeaning))
	}
	if len(all) > 0 && all[0].sure >= Threshold { // one article answers the question
		for i := range all[1:] {
			m := &all[i+1]
			if m.foreign == all[0].foreign {
				m.sure = min(m.sure, 1-all[0].sure)
			}
		}
	}
}
