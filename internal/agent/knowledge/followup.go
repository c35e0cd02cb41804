package knowledge

import (
	"context"
	"slices"
)

// followers are the folded beginnings of questions that continue the previous subject.
var followers = map[string][][]string{ //nolint:gochecknoglobals // read-only
	"en": {{"and"}, {"also"}, {"what", "about"}, {"how", "about"}, {"or"}, {"but"}, {"what", "if"}, {"so"}},
	"es": {{"y"}, {"e"}, {"o"}, {"tambien"}, {"pero"}, {"que", "tal"}, {"entonces"}},
	"pt": {{"e"}, {"ou"}, {"tambem"}, {"mas"}, {"entao"}},
}

// pointers are the folded words that refer to the previous subject.
var pointers = map[string]map[string]bool{ //nolint:gochecknoglobals // read-only
	"en": setOf("it that this they them those these one ones its"),
	"es": setOf("eso esto ello ellos ellas esa ese esos esas ahi alli"),
	"pt": setOf("isso isto ele ela eles elas disso nisso dele dela aquilo essa esse la ali"),
}

const (
	fewWords      = 3   // words of a question that may continue the subject without saying so
	minTopic      = 0.3 // share of a continuing question's weight that the topic must contain
	besideOther   = 0.6 // share of another article's coverage that a topic needs if the question refers to it
	besidePlain   = 0.95
	topicAnswered = 0.6 // confidence of an answer from the topic
	topicOffered  = 0.4 // if it does not contain the question's words
)

// continues returns whether a question may continue the previous subject, and whether its words say so. follows is the
// result of the method of that name.
func (q *question) continues(words []string, follows bool) (may, says bool) {
	if follows {
		return true, true
	}
	if slices.ContainsFunc(words, func(w string) bool { return pointers[q.language][w] }) {
		return true, true
	}
	return len(q.words) <= fewWords, false
}

// follows reports whether a question begins like one that continues the previous subject.
func (q *question) follows(words []string) bool {
	return slices.ContainsFunc(followers[q.language], func(beginning []string) bool {
		return len(words) > len(beginning) && equal(beginning, words)
	})
}

// asksAlone reports whether a question has no word that indicates a subject, such as "how much is that?".
func (q *question) asksAlone() bool {
	return q.asks != anyFact && !slices.ContainsFunc(q.words, func(w wanted) bool { return w.weight > askedWeight })
}

// topicReach is the number of passages before and after the topic that may belong to its article.
const topicReach = 6

// addTopic adds the passages of the topic's article to the candidates.
func (s *Search) addTopic(ctx context.Context, query *Query, best []ranked) ([]ranked, error) {
	t := query.Topic
	var numbers []int
	for n := max(0, t.Passage-topicReach); n <= t.Passage+topicReach; n++ {
		numbers = append(numbers, n)
	}
	passages, err := s.store.Passages(ctx, query.CompanyID, map[string][]int{t.Knowledge: numbers})
	if err != nil {
		return nil, err
	}
	near := passages[t.Knowledge]
	topic, ok := near[t.Passage]
	for _, n := range numbers {
		at := place{t.Knowledge, n}
		p, found := near[n]
		if !ok || !found || p.Article != topic.Article || slices.ContainsFunc(best, func(r ranked) bool { return r.place == at }) {
			continue
		}
		best = append(best, ranked{place: at, hit: p})
	}
	return best, nil
}

// follow moves the best passage of the topic's article to the front if the question continues it. all has the passages of
// the topic's article first, unsorted, then the judged ones, one per article.
func follow(q *question, w *weights, words []string, topic, all []match) []match {
	follows := q.follows(words)
	may, says := q.continues(words, follows)
	alone := q.asksAlone()
	if says = says || alone; !may || len(topic) == 0 {
		return all
	}
	slices.SortStableFunc(topic, func(a, b match) int { return compareFloats(b.rank, a.rank) })
	t := topic[0]
	other := 0.0
	for i := range all {
		if !all[i].foreign && all[i].article() != t.article() {
			other = max(other, all[i].features[fCovered])
			if all[i].sure > topicAnswered && !says {
				return all
			}
		}
	}
	share := besidePlain
	if says {
		share = besideOther
	}
	covered := t.features[fCovered]
	unknown := w.total == w.unknown
	at := 0
	switch {
	case alone && t.hasFact(q), // "how much is that?"
		says && len(q.words) == 0,
		says && unknown && q.asks != anyFact && t.hasFact(q),
		covered >= minTopic && covered >= share*other:
		t.sure = max(t.sure, topicAnswered)
	case !says, covered == 0 && unknown && !(follows && len(q.words) <= fewWords): // of nothing that is known
		return all
	default:
		t.sure = max(t.sure, topicOffered)
		if other > 0 {
			at = 1
		}
	}
	all = slices.DeleteFunc(all, func(m match) bool { return m.article() == t.article() })
	return slices.Insert(all, min(at, len(all)), t)
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (m *match) article() place { return place{m.knowledge, m.hit.Article} }
