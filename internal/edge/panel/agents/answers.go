package agents

import (
	"cmp"
	"encoding/csv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

// Answers serves the outcomes of agents' responses to questions, the scores of answers by article, and the counts of reviews.
type Answers struct {
	Gate    *member.Gate
	Store   *store.Store
	Exports *share.Share
}

const (
	answersDefault = 7 * 24 * time.Hour
	exportedAtOnce = 30 * 24 * time.Hour
	maxScored      = 20_000 // articles of a base
)

func (x Answers) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/answers", auth.MayReadResources, x.show),
		x.Gate.Raw("GET", "/answers/export", auth.MayReadResources, x.export),
		member.Route(x.Gate, "GET", "/answers/articles", auth.MayReadResources, x.articles),
		member.Route(x.Gate, "GET", "/answers/reviews", auth.MayReadResources, x.reviews),
	}
}

// answersCounted are the numbers of responses by outcome, and of their scores, in a response.
type answersCounted struct {
	Answered   int64 `json:"answered"`
	Offered    int64 `json:"offered"`
	HandedOver int64 `json:"handed_over"`
	Unanswered int64 `json:"unanswered"`
	Up         int64 `json:"up"`
	Down       int64 `json:"down"`
}

func countedOf(a chats.Answers) answersCounted {
	// A replaced outcome is subtracted where it was counted, which may be outside the range for other agents.
	return answersCounted{
		max(a.Answered, 0), max(a.Offered, 0), max(a.HandedOver, 0), max(a.Unanswered, 0), max(a.Up, 0), max(a.Down, 0),
	}
}

type answersHour struct {
	Hour string `json:"hour"`
	answersCounted
}

type answersOf struct {
	AgentID string `json:"agent_id"`
	Agent   string `json:"agent"` // name; empty if the agent no longer exists
	answersCounted
}

// answersRange reads the range, in whole hours, and the agent.
func answersRange(q url.Values, now time.Time) (agentID string, from, to time.Time, err error) {
	if agentID, err = agentFilter(q); err != nil {
		return "", from, to, err
	}
	from, to, err = form.QueryHours(q, answersDefault, now)
	return agentID, from, to, err
}

type answersShown struct {
	From   string         `json:"from"`
	To     string         `json:"to"`
	Total  answersCounted `json:"total"`
	Hours  []answersHour  `json:"hours"` // without hours in which nothing was asked
	Agents []answersOf    `json:"agents"`
	Rated  []ratedHour    `json:"rated"` // without hours in which nothing was rated
}

// ratedHour are the conversations rated in an hour, by stars.
type ratedHour struct {
	Hour  string `json:"hour"`
	Five  int64  `json:"five"`
	Four  int64  `json:"four"`
	Three int64  `json:"three"`
	Two   int64  `json:"two"`
	One   int64  `json:"one"`
}

func (h *ratedHour) add(rating int) {
	stars := []*int64{&h.One, &h.Two, &h.Three, &h.Four, &h.Five}
	*stars[min(max(rating, 1), len(stars))-1]++
}

// rated returns the ratings of a range, which may be of any agent.
func (x Answers) rated(r *http.Request, by member.Member, agentID string, from, to time.Time) ([]ratedHour, error) {
	hours := []ratedHour{}
	err := x.Store.Quality.EachRating(r.Context(), by.CompanyID, agentID, from, to, func(at time.Time, rating int) {
		hour := carillon.FormatTime(at.Truncate(time.Hour))
		if len(hours) == 0 || hours[len(hours)-1].Hour != hour {
			hours = append(hours, ratedHour{Hour: hour})
		}
		hours[len(hours)-1].add(rating)
	})
	return hours, err
}

// show responds with the counts of a range: in total, by hour and by agent.
func (x Answers) show(r *http.Request, by member.Member) (answersShown, error) {
	agentID, from, to, err := answersRange(r.URL.Query(), time.Now())
	if err != nil {
		return answersShown{}, err
	}
	var total chats.Answers
	hours, agents := map[int64]*chats.Answers{}, map[string]*chats.Answers{}
	if err := x.Store.Questions.EachAnswers(r.Context(), by.CompanyID, agentID, from, to, func(h *chats.AnswerHour) {
		total.Add(h.Answers)
		added(hours, h.At.Unix()).Add(h.Answers)
		added(agents, h.AgentID).Add(h.Answers)
	}); err != nil {
		return answersShown{}, err
	}
	names, err := x.names(r, by)
	if err != nil {
		return answersShown{}, err
	}
	shownHours, shownAgents := []answersHour{}, []answersOf{}
	for _, at := range slices.Sorted(maps.Keys(hours)) {
		shownHours = append(shownHours, answersHour{carillon.FormatTime(time.Unix(at, 0).UTC()), countedOf(*hours[at])})
	}
	for id, a := range agents {
		shownAgents = append(shownAgents, answersOf{id, names[id], countedOf(*a)})
	}
	slices.SortFunc(shownAgents, func(a, b answersOf) int {
		return cmp.Or(cmp.Compare(asked(b.answersCounted), asked(a.answersCounted)), cmp.Compare(a.AgentID, b.AgentID))
	})
	rated, err := x.rated(r, by, agentID, from, to)
	return answersShown{carillon.FormatTime(from), carillon.FormatTime(to), countedOf(total), shownHours, shownAgents, rated}, err
}

func asked(a answersCounted) int64 { return a.Answered + a.Offered + a.HandedOver + a.Unanswered }

// added returns the counts of a key, made if they are missing.
func added[K comparable](all map[K]*chats.Answers, key K) *chats.Answers {
	if all[key] == nil {
		all[key] = &chats.Answers{}
	}
	return all[key]
}

// names returns the names of the company's agents.
func (x Answers) names(r *http.Request, by member.Member) (map[string]string, error) {
	found, err := x.Store.Resources.Listed(r.Context(), by.CompanyID, agent.Kind())
	names := make(map[string]string, len(found))
	for _, a := range found {
		id, name := a.Key()
		names[*id] = *name
	}
	return names, err
}

// export streams the counts of a range as a CSV file, a row for an hour and an agent.
func (x Answers) export(w http.ResponseWriter, r *http.Request, by member.Member) error {
	agentID, from, to, err := answersRange(r.URL.Query(), time.Now())
	if err != nil {
		return err
	}
	place, err := x.Exports.Take(by.Holder())
	if err != nil {
		return err
	}
	defer place.Release()
	names, err := x.names(r, by)
	if err != nil {
		return err
	}
	out := csv.NewWriter(httpio.OpenDownload(w, "answers.csv"))
	// errors of Write are reported by Error
	_ = out.Write([]string{"hour", "agent_id", "agent", "answered", "offered", "handed_over", "unanswered", "up", "down"})
	for ; from.Before(to); from = from.Add(exportedAtOnce) {
		var rows []chats.AnswerHour // in memory, so that a slow client holds no connection to the database
		if err := x.Store.Questions.EachAnswers(
			r.Context(), by.CompanyID, agentID, from, earlier(to, from.Add(exportedAtOnce)),
			func(h *chats.AnswerHour) { rows = append(rows, *h) },
		); err != nil {
			panic(http.ErrAbortHandler) // a truncated file must not look complete
		}
		for i := range rows {
			h, n := &rows[i], countedOf(rows[i].Answers)
			line := []string{carillon.FormatTime(h.At), h.AgentID, httpio.Cell(names[h.AgentID])}
			for _, count := range []int64{n.Answered, n.Offered, n.HandedOver, n.Unanswered, n.Up, n.Down} {
				line = append(line, strconv.FormatInt(count, 10))
			}
			_ = out.Write(line)
		}
		if out.Flush(); out.Error() != nil {
			return nil
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// articleScores are the answers from an article and their scores, in a response.
type articleScores struct {
	Title    string `json:"title"` // of the article or its part, as visitors see it
	Answered int64  `json:"answered"`
	Up       int64  `json:"up"`
	Down     int64  `json:"down"`
}

// articles responds with the counts of the articles of a base.
func (x Answers) articles(r *http.Request, by member.Member) (httpio.Rows[articleScores], error) {
	base := r.URL.Query().Get("knowledge")
	if !resource.ValidIdentifier(base) {
		return httpio.Rows[articleScores]{}, carillon.Invalid("knowledge", "Must be the id of knowledge")
	}
	found, err := x.Store.Questions.ArticleAnswers(r.Context(), by.CompanyID, base, maxScored)
	rows := []articleScores{}
	for _, a := range found {
		rows = append(rows, articleScores{a.Title, a.Answered, max(a.Up, 0), max(a.Down, 0)})
	}
	return httpio.RowsOf(rows), err
}
