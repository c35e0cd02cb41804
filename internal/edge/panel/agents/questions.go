package agents

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/resources"
)

// Questions serves the open questions: those that agents could not answer, for which they offered articles of which none was
// chosen, or to which their answer was marked as wrong.
type Questions struct {
	Gate   *member.Gate
	Store  *store.Store
	Search *knowledge.Search
}

const (
	questionKind     = "question"
	groupKind        = "question-group"
	maxGroupExamples = 10
	maxWording       = 200 // bytes
)

func (x Questions) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/questions", auth.MayReadResources, x.list),
		member.Route(x.Gate, "GET", "/questions/groups", auth.MayReadResources, x.groups),
		member.Write(x.Gate, "POST", "/questions/attach", auth.MayWriteResources, x.attach).Taking(attachRequest{}),
		member.Route(x.Gate, "POST", "/questions/resolve", auth.MayWriteResources, x.resolve).Taking(questionsRequest{}),
		member.Route(x.Gate, "DELETE", "/questions/{id}", auth.MayWriteResources, member.ID("Question", x.remove)),
	}
}

// questionRow is a question in a response.
type questionRow struct {
	ID             string         `json:"id"`
	AgentID        string         `json:"agent_id"`
	AgentName      string         `json:"agent_name"` // empty if the agent no longer exists
	Question       string         `json:"question"`
	Language       string         `json:"language"`
	Count          int64          `json:"count"`
	Offered        int64          `json:"offered,omitempty"` // times of count with articles offered and none chosen
	Wrong          int64          `json:"wrong,omitempty"`   // times of count with an answer marked as wrong
	Answer         *chats.Passage `json:"answer,omitempty"`  // of the last wrong answer
	FirstAt        string         `json:"first_at"`
	LastAt         string         `json:"last_at"`
	ConversationID string         `json:"conversation_id"`
}

func rowOf(q *chats.Question) questionRow {
	row := questionRow{
		q.ID, q.AgentID, q.AgentName, q.Text, q.Language, q.Asked, q.Offered, q.Wrong, nil, carillon.FormatTime(q.FirstAt),
		carillon.FormatTime(q.LastAt), q.ConversationID,
	}
	if q.Wrong > 0 {
		row.Answer = &q.Source
	}
	return row
}

// agentFilter reads the agent to which a list is limited; empty for all.
func agentFilter(q url.Values) (string, error) {
	id := strings.ToLower(q.Get("agent_id"))
	if id != "" && !carillon.ValidUUID(id) {
		return "", carillon.Invalid("agent_id", "Must be the id of an agent")
	}
	return id, nil
}

func (x Questions) list(r *http.Request, by member.Member) (httpio.List[questionRow], error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, questionKind)
	if err != nil {
		return httpio.List[questionRow]{}, err
	}
	f := chats.QuestionFilter{CompanyID: by.CompanyID, Cursor: page.After, Limit: page.Limit}
	if f.AgentID, err = agentFilter(q); err != nil {
		return httpio.List[questionRow]{}, err
	}
	all, next, err := x.Store.Questions.List(r.Context(), f)
	if err != nil {
		return httpio.List[questionRow]{}, err
	}
	rows := make([]questionRow, len(all))
	for i := range all {
		rows[i] = rowOf(&all[i])
	}
	return httpio.Part(questionKind, rows, next), nil
}

// groupRow is a group of questions about one subject, asked of agents with the same knowledge.
type groupRow struct {
	ID        string        `json:"id"`        // of its first question
	Questions []string      `json:"questions"` // ids of all
	Examples  []questionRow `json:"examples"`  // the most frequent ones
	Languages []string      `json:"languages"`
	Agents    []string      `json:"agents"` // names; empty for agents that no longer exist
	Count     int64         `json:"count"`
	Offered   int64         `json:"offered"`
	Wrong     int64         `json:"wrong"`
	LastAt    string        `json:"last_at"`
	Knowledge []string      `json:"knowledge"` // ids of the bases of its agents
	Nearest   *nearest      `json:"nearest,omitempty"`

	first *chats.Question
}

// nearest is the article that fits the questions of a group best.
type nearest struct {
	Knowledge  string  `json:"knowledge"`
	Article    int     `json:"article"` // index in the base
	Title      string  `json:"title"`   // of the article
	Passage    string  `json:"passage"`
	Confidence float64 `json:"confidence"`
	Answers    bool    `json:"answers"` // an agent would answer with it now
}

// groupPage is a page of groups, with the numbers of all groups and questions.
type groupPage struct {
	httpio.List[groupRow]
	Groups    int `json:"groups"`
	Questions int `json:"questions"`
}

// groups responds with the open questions in groups, the most frequent first.
func (x Questions) groups(r *http.Request, by member.Member) (groupPage, error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, groupKind)
	if err != nil {
		return groupPage{}, err
	}
	f := chats.QuestionFilter{CompanyID: by.CompanyID, Limit: chats.MaxQuestions}
	if f.AgentID, err = agentFilter(q); err != nil {
		return groupPage{}, err
	}
	from := 0
	if page.After != "" {
		if from, err = strconv.Atoi(page.After); err != nil || from < 0 {
			return groupPage{}, httpio.BadCursor(q)
		}
	}
	all, _, err := x.Store.Questions.List(r.Context(), f)
	if err != nil {
		return groupPage{}, err
	}
	groups, err := x.group(r.Context(), by.CompanyID, all)
	if err != nil {
		return groupPage{}, err
	}
	next := ""
	rows := groups[min(from, len(groups)):]
	if len(rows) > page.Limit {
		rows, next = rows[:page.Limit], strconv.Itoa(from+page.Limit)
	}
	for i := range rows {
		if err := x.fit(r.Context(), by.CompanyID, &rows[i]); err != nil {
			return groupPage{}, err
		}
	}
	return groupPage{httpio.Part(groupKind, rows, next), len(groups), len(all)}, nil
}

// group returns the groups of questions. Questions of agents with different knowledge are in different groups, because an
// article of one is not an answer of the other.
func (x Questions) group(ctx context.Context, companyID string, all []chats.Question) ([]groupRow, error) {
	slices.SortFunc(all, func(a, b chats.Question) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), a.FirstAt.Compare(b.FirstAt), cmp.Compare(a.ID, b.ID))
	})
	bases, err := x.bases(ctx, companyID, all)
	if err != nil {
		return nil, err
	}
	of := map[string][]*chats.Question{} // by the knowledge of the agent
	for i := range all {
		key := strings.Join(bases[all[i].AgentID], "\n")
		of[key] = append(of[key], &all[i])
	}
	groups := []groupRow{}
	for _, questions := range of {
		texts, languages := make([]string, len(questions)), make([]string, len(questions))
		for i, q := range questions {
			texts[i], languages[i] = q.Text, q.Language
		}
		for _, members := range knowledge.Group(texts, languages) {
			row := groupRow{Knowledge: bases[questions[members[0]].AgentID], first: questions[members[0]]}
			row.ID = row.first.ID
			for _, i := range members {
				row.add(questions[i])
			}
			groups = append(groups, row)
		}
	}
	slices.SortFunc(groups, func(a, b groupRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.LastAt, a.LastAt), cmp.Compare(a.ID, b.ID))
	})
	return groups, nil
}

func (g *groupRow) add(q *chats.Question) {
	g.Questions = append(g.Questions, q.ID)
	if len(g.Examples) < maxGroupExamples {
		g.Examples = append(g.Examples, rowOf(q))
	}
	if q.Language != "" && !slices.Contains(g.Languages, q.Language) {
		g.Languages = append(g.Languages, q.Language)
	}
	if !slices.Contains(g.Agents, q.AgentName) {
		g.Agents = append(g.Agents, q.AgentName)
	}
	g.Count, g.Offered, g.Wrong = g.Count+q.Asked, g.Offered+q.Offered, g.Wrong+q.Wrong
	g.LastAt = max(g.LastAt, carillon.FormatTime(q.LastAt))
}

// bases returns the bases of each agent that was asked, sorted. An agent that no longer exists counts as one with all bases.
func (x Questions) bases(ctx context.Context, companyID string, all []chats.Question) (map[string][]string, error) {
	of := map[string][]string{}
	for i := range all {
		id := all[i].AgentID
		if _, known := of[id]; known {
			continue
		}
		found, err := x.Store.Resources.Resource(ctx, companyID, agent.Kind(), id)
		if carillon.IsCode(err, carillon.NotFound) {
			if of[id], err = x.Store.Resources.KnowledgeIDs(ctx, companyID, maxBases); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		a, _ := found.(*agent.Agent)
		of[id] = slices.Sorted(slices.Values(a.Knowledge))
	}
	return of, nil
}

// fit adds the nearest article to a group, other than those with the wrong answers.
func (x Questions) fit(ctx context.Context, companyID string, g *groupRow) error {
	g.Languages, g.Knowledge = resource.List(g.Languages), resource.List(g.Knowledge)
	if len(g.Knowledge) == 0 {
		return nil
	}
	found, err := x.Search.ByWords().Find(ctx, knowledge.Query{ // a page has many groups
		CompanyID: companyID, Knowledge: g.Knowledge, Text: g.first.Text, Language: g.first.Language, Limit: searchLimit,
	})
	for i := range found {
		h := &found[i]
		if slices.ContainsFunc(g.Examples, func(q questionRow) bool {
			return q.Answer != nil && q.Answer.Knowledge == h.Knowledge && q.Answer.Title == h.Title
		}) {
			continue
		}
		g.Nearest = &nearest{h.Knowledge, h.Article, h.Title, h.Excerpt, h.Score, h.Answers()}
		break
	}
	return err
}

// questionsRequest names open questions.
type questionsRequest struct {
	Questions []string `json:"questions"`
}

// attachRequest attaches questions to the article at an index of a base, if that has the title.
type attachRequest struct {
	Questions []string `json:"questions"`
	Knowledge string   `json:"knowledge"`
	Article   int      `json:"article"`
	Title     string   `json:"title,omitempty"`
}

// questionIDs reads the questions of a request.
func questionIDs[T any](r *http.Request) (ids []string, o *jsonbody.Object, err error) {
	if o, err = form.Body[T](r); err != nil {
		return nil, o, err
	}
	ids, _, err = o.Find("questions").Strings("questions")
	switch {
	case err != nil:
	case len(ids) == 0:
		err = carillon.Missing("questions")
	case len(ids) > chats.MaxQuestions:
		err = carillon.Invalid("questions", "At most "+strconv.Itoa(chats.MaxQuestions)+" ids")
	}
	return ids, o, err
}

// resolved is the response to an action on open questions.
type resolved struct {
	Resolved int `json:"resolved"` // questions taken off the list
	Added    int `json:"added"`    // wordings added to the article
}

// resolve takes questions off the list.
func (x Questions) resolve(r *http.Request, by member.Member) (resolved, error) {
	ids, _, err := questionIDs[questionsRequest](r)
	if err != nil {
		return resolved{}, err
	}
	n, err := x.Store.Questions.Remove(r.Context(), by.CompanyID, ids)
	return resolved{Resolved: n}, err
}

// attach adds the wordings of questions to an article that answers them, and takes them off the list. Errors: not_found for the
// base or if all questions are gone; conflict if the article has changed.
func (x Questions) attach(r *http.Request, by member.Member) (resolved, error) {
	ids, o, err := questionIDs[attachRequest](r)
	if err != nil {
		return resolved{}, err
	}
	base, err := o.Find("knowledge").Required("knowledge")
	if err != nil {
		return resolved{}, err
	}
	if !resource.ValidIdentifier(base) {
		return resolved{}, carillon.Absent(knowledge.Kind().Title())
	}
	index, err := strconv.Atoi(string(o.Find("article").Raw()))
	if err != nil || index < 0 {
		return resolved{}, carillon.Invalid("article", "Must be the index of an article, from 0")
	}
	title, _, err := o.String("title", "title")
	if err != nil {
		return resolved{}, err
	}
	all, err := x.Store.Questions.Some(r.Context(), by.CompanyID, ids)
	if err != nil {
		return resolved{}, err
	}
	if len(all) == 0 {
		return resolved{}, carillon.Absent("Question")
	}
	slices.SortStableFunc(all, func(a, b chats.Question) int { return cmp.Compare(b.Asked, a.Asked) })
	done := resolved{}
	err = resources.Edit(r.Context(), x.Store.Resources, by.CompanyID, knowledge.Kind(), base, func(have resource.Resource) error {
		b, _ := have.(*knowledge.Base)
		if index >= len(b.Articles) || !titled(&b.Articles[index], title) {
			return carillon.InConflict("The article has changed meanwhile")
		}
		if !b.Articles[index].HasRoom() {
			return carillon.Invalid("article", "Has 100 wordings already; remove some first")
		}
		texts := make([]string, len(all))
		for i := range all {
			texts[i] = wording(all[i].Text)
		}
		done.Added = b.Articles[index].AddQuestions(texts)
		return nil
	})
	if err != nil {
		return resolved{}, err
	}
	ids = ids[:0]
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	done.Resolved, err = x.Store.Questions.Remove(r.Context(), by.CompanyID, ids)
	return done, err
}

// titled reports whether an article has a title, as a passage of it shows the title.
func titled(a *knowledge.Article, title string) bool {
	return a.Title == title || a.Title != "" && strings.HasPrefix(title, a.Title+" – ") || a.Title == "" && title != ""
}

// wording returns a question as a wording of an article: one line, cut at a word.
func wording(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxWording {
		return text
	}
	text = strings.ToValidUTF8(text[:maxWording], "")
	if at := strings.LastIndexByte(text, ' '); at > maxWording/2 {
		text = text[:at]
	}
	return text
}

func (x Questions) remove(r *http.Request, by member.Member, id string) (httpio.None, error) {
	return nil, x.Store.Questions.Delete(r.Context(), by.CompanyID, id)
}
