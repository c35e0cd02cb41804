package knowledge

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/resource"
)

// found is a passage of a search by words and by meaning.
type found struct {
	article  int
	rank     float64 // by words; 0 if it has none of them
	sure     float64 // by words
	near     int     // rank by meaning; -1 if it is not among the nearest
	standout float64
	foreign  bool
}

type judgment struct {
	Article int
	Sure    float64
}

func fused(all []found) (got []judgment) {
	var matches, judged []match
	for i, f := range all {
		m := match{
			ranked: ranked{place: place{"faq", i}, hit: resource.Passage{Article: f.article, Text: "x"}}, rank: f.rank, sure: f.sure,
			foreign: f.foreign,
		}
		if f.rank > 0 {
			m.features[fMatched] = 1
			judged = append(judged, m)
		}
		if f.near >= 0 {
			m.meant = &Near{Knowledge: "faq", Passage: i, Rank: f.near, Standout: f.standout, StandsOut: StandsOut(f.standout, len(all))}
		}
		m.sure = 0
		matches = append(matches, m)
	}
	for _, m := range fuse(matches, judged) {
		got = append(got, judgment{m.hit.Article, math.Round(m.sure*100) / 100})
	}
	return got
}

func TestWordsAndMeaningAreFusedByARule(t *testing.T) {
	for name, x := range map[string]struct {
		all  []found
		want []judgment
	}{
		"an answer by words stays first, and the others can hardly answer": {
			[]found{{1, 9, 0.8, -1, 0, false}, {2, 8, 0.1, 0, 5, false}, {3, 0, 0, 1, 4, false}},
			[]judgment{{1, 0.8}, {2, 0.2}, {3, 0.2}},
		},
		"without an answer the ranks decide": {
			[]found{{1, 9, 0.09, -1, 0, false}, {2, 8, 0.08, 0, 2.2, false}, {3, 7, 0.05, 1, 2, false}},
			[]judgment{{2, 0.11}, {3, 0.1}, {1, 0.09}},
		},
		"but not those of what hardly stands out": {
			[]found{{1, 9, 0.09, -1, 0, false}, {2, 8, 0.08, 0, 1.9, false}, {3, 7, 0.05, 1, 1, false}, {4, 0, 0, 2, 1, false}},
			[]judgment{{1, 0.09}, {2, 0.08}, {3, 0.05}, {4, 0}},
		},
		"a possible article by words stays first": {
			[]found{{1, 9, 0.1, -1, 0, false}, {2, 8, 0.1, 0, 4, false}},
			[]judgment{{1, 0.1}, {2, 0.2}},
		},
		"what stands out in meaning alone is offered": {
			[]found{{1, 0, 0, 0, 3, false}, {2, 0, 0, 1, 2.5, false}, {3, 0, 0, 2, 1.9, false}},
			[]judgment{{1, 0.15}, {2, 0.13}, {3, 0}},
		},
		"never more than three, and never as an answer": {
			[]found{{1, 0, 0, 0, 99, false}, {2, 0, 0, 1, 50, false}, {3, 0, 0, 2, 9, false}, {4, 0, 0, 3, 9, false}},
			[]judgment{{1, 0.4}, {2, 0.4}, {3, 0.4}, {4, 0}},
		},
		"where words and meaning agree, a likely article answers": {
			[]found{{1, 9, 0.42, 0, 3, false}, {2, 8, 0.2, 1, 0, false}},
			[]judgment{{1, 0.52}, {2, 0.2}},
		},
		"but at most with that": {
			[]found{{1, 9, 0.55, 0, 3, false}, {2, 0, 0, 1, 9, false}},
			[]judgment{{1, 0.6}, {2, 0.4}},
		},
		"an unlikely one does not, although they agree": {
			[]found{{1, 9, 0.29, 0, 3, false}},
			[]judgment{{1, 0.29}},
		},
		"one that does not stand out does not": {
			[]found{{1, 9, 0.4, 0, 1, false}},
			[]judgment{{1, 0.4}},
		},
		"where they disagree, words decide the certainty": {
			[]found{{1, 9, 0.45, 1, 2.5, false}, {2, 8, 0.02, 0, 4, false}},
			[]judgment{{1, 0.45}, {2, 0.2}},
		},
		"another language comes later, and is not offered for its meaning": {
			[]found{{1, 0, 0, 0, 4, true}, {2, 0, 0, 1, 3, false}, {3, 9, 0.7, -1, 0, true}, {4, 0, 0, 2, 0, false}},
			[]judgment{{2, 0.15}, {3, 0.7}, {1, 0}, {4, 0}},
		},
		"an article counts once, with its confidence by words": {
			[]found{{1, 9, 0.2, -1, 0, false}, {1, 8, 0.2, 0, 3, false}, {2, 7, 0.1, 1, 0, false}},
			[]judgment{{1, 0.2}, {2, 0.1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(x.want, fused(x.all)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMorePassagesMustStandOutMore(t *testing.T) {
	for _, x := range []struct {
		standout float64
		n        int
		want     bool
	}{{1.9, 4, false}, {2, 4, true}, {2.5, 100, false}, {3.1, 100, true}, {4.2, 10_000, false}, {4.3, 10_000, true}} {
		if got := StandsOut(x.standout, x.n); got != x.want {
			t.Errorf("%+v", x)
		}
	}
}

func TestTheNearestPassagesJoinTheCandidates(t *testing.T) {
	best := []ranked{{place: place{"a", 1}, score: 2}, {place: place{"a", 2}, score: 1}}
	near := []Near{{Knowledge: "a", Passage: 2, Rank: 0}, {Knowledge: "b", Passage: 1, Rank: 1}}
	got := addNear(best, near)
	if len(got) != 3 || got[0].meant != nil || got[1].meant != &near[0] || got[2].place != (place{"b", 1}) || got[2].meant != &near[1] {
		t.Errorf("%+v", got)
	}
}
