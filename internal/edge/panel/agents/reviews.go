package agents

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"carillon"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/chats"
)

const (
	maxReviewTopics  = 50
	maxReviewResults = 50
	maxReviewValues  = 100
)

// goalCounts are the numbers of reviews by their verdict about the goal, in a response.
type goalCounts struct {
	Yes     int64 `json:"yes"`
	No      int64 `json:"no"`
	Unknown int64 `json:"unknown"`
}

func (g *goalCounts) add(verdict string, n int64) {
	switch verdict {
	case "yes":
		g.Yes += n
	case "no":
		g.No += n
	case "unknown":
		g.Unknown += n
	}
}

// shown returns the counts without negative ones: a replaced review is subtracted where it was counted.
func (g *goalCounts) shown() goalCounts {
	return goalCounts{max(g.Yes, 0), max(g.No, 0), max(g.Unknown, 0)}
}

type goalHour struct {
	Hour string `json:"hour"`
	goalCounts
}

// valueCount is the number of reviews with a topic or a value.
type valueCount struct {
	Value   string `json:"value"`
	Reviews int64  `json:"reviews"`
}

type resultCounts struct {
	Name   string       `json:"name"`
	Values []valueCount `json:"values"`
}

// reviewsShown are the counts of reviews of a range, in a response.
type reviewsShown struct {
	From    string         `json:"from"`
	To      string         `json:"to"`
	Reviews int64          `json:"reviews"`
	By      []valueCount   `json:"by"` // maker
	Goals   goalCounts     `json:"goals"`
	Hours   []goalHour     `json:"hours"` // of the last messages; without hours that have no verdict
	Topics  []valueCount   `json:"topics"`
	Results []resultCounts `json:"results"` // of the types boolean and choice
}

// tallies are counts by value.
type tallies map[string]int64

// list returns at most limit values with their counts, the most frequent first.
func (t tallies) list(limit int) []valueCount {
	all := []valueCount{}
	for value, n := range t {
		if n > 0 {
			all = append(all, valueCount{value, n})
		}
	}
	slices.SortFunc(all, func(a, b valueCount) int {
		return cmp.Or(cmp.Compare(b.Reviews, a.Reviews), cmp.Compare(a.Value, b.Value))
	})
	return all[:min(len(all), limit)]
}

// reviews responds with the counts of reviews of a range.
func (x Answers) reviews(r *http.Request, by member.Member) (reviewsShown, error) {
	agentID, from, to, err := answersRange(r.URL.Query(), time.Now())
	if err != nil {
		return reviewsShown{}, err
	}
	makers, topics, results := tallies{}, tallies{}, map[string]tallies{}
	hours, goals := map[int64]*goalCounts{}, goalCounts{}
	if err := x.Store.Reviews.EachCount(r.Context(), by.CompanyID, agentID, from, to, func(c *chats.ReviewCount) {
		switch c.Kind {
		case chats.CountMaker:
			makers[c.Value] += c.Reviews
		case chats.CountGoal:
			at := c.At.Unix()
			if hours[at] == nil {
				hours[at] = &goalCounts{}
			}
			hours[at].add(c.Value, c.Reviews)
			goals.add(c.Value, c.Reviews)
		case chats.CountTopic:
			topics[c.Value] += c.Reviews
		case chats.CountResult:
			if results[c.Name] == nil {
				results[c.Name] = tallies{}
			}
			results[c.Name][c.Value] += c.Reviews
		}
	}); err != nil {
		return reviewsShown{}, err
	}
	all := reviewsShown{
		From: carillon.FormatTime(from), To: carillon.FormatTime(to), By: makers.list(maxReviewValues), Goals: goals.shown(),
		Hours: []goalHour{}, Topics: topics.list(maxReviewTopics), Results: []resultCounts{},
	}
	for _, n := range all.By {
		all.Reviews += n.Reviews
	}
	for _, at := range slices.Sorted(maps.Keys(hours)) {
		if shown := hours[at].shown(); shown != (goalCounts{}) {
			all.Hours = append(all.Hours, goalHour{carillon.FormatTime(time.Unix(at, 0).UTC()), shown})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if values := results[name].list(maxReviewValues); len(values) > 0 && len(all.Results) < maxReviewResults {
			all.Results = append(all.Results, resultCounts{name, values})
		}
	}
	return all, nil
}
