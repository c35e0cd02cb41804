package knowledge

import (
	"slices"
	"testing"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		found   []Hit
		answers bool
		offers  []int
	}{
		"nothing found":                       {},
		"one sure answer":                     {[]Hit{{Title: "a", Score: 0.5}, {Title: "b", Score: 0.4}}, true, nil},
		"three of five possible answers":      {hits(0.4, 0.3, 0.2, 0.1, 0.1), false, []int{0, 1, 2}},
		"too uncertain":                       {hits(0.4, OfferThreshold/2), false, []int{0}},
		"others than one hardly more certain": {hits(0.05, 0.01, 0.005), false, []int{0, 1}},
		"all too uncertain":                   {hits(0.01, 0.01), false, nil},
		"the same title twice": {
			[]Hit{{Title: "a", Score: 0.4}, {Title: "a", Score: 0.3}, {Title: "b", Score: 0.2}}, false, []int{0, 2},
		},
		"a sure answer in another language": {[]Hit{{Title: "a", Score: 0.9, Foreign: true}}, true, nil},
		"one before an offer in the same language": {
			[]Hit{{Title: "a", Score: 0.9, Foreign: true}, {Title: "b", Score: 0.2}}, false, []int{1},
		},
		"no offers in another language": {[]Hit{{Title: "a", Score: 0.4, Foreign: true}}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if answers, offers := Decide(c.found); answers != c.answers || !slices.Equal(offers, c.offers) {
				t.Error(answers, offers)
			}
		})
	}
}

func hits(scores ...float64) (all []Hit) {
	for i, score := range scores {
		all = append(all, Hit{Title: string(rune('a' + i)), Score: score})
	}
	return all
}
