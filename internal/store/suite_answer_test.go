package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/chats"
)

func answering() []sentence {
	return []sentence{
		{"responses are counted by hour, agent and outcome with their turns, once a question", answersCounted},
		{"the score of an answer counts once, can change a bounded number of times, and is the company's alone", answersScored},
		{"old counts of answers are deleted", answersDropped},
		{"a question keeps how it was left open, and the last wrong answer", questionKinds},
	}
}

// responds appends a response of the agent with an outcome.
func (r *rig) responds(t *testing.T, company, id string, result *chats.Result) *chats.Change {
	t.Helper()
	r.now = r.now.Add(time.Millisecond)
	c := &chats.Change{
		CompanyID: company, ConversationID: id, Result: result,
		Edit: func(*chats.Conversation) ([]chats.Turn, error) {
			return []chats.Turn{{
				Author: chats.Agent, Kind: chats.KindText, Text: "At nine.", At: r.now,
				Extra: chats.Extra{Outcome: result.Outcome, Passages: result.Passages},
			}}, nil
		},
	}
	if err := r.Chats.Do(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// answers are the counts of a company, added up.
func (r *rig) answers(t *testing.T, company, agent string) (sum chats.Answers, hours int) {
	t.Helper()
	last := time.Time{}
	if err := r.Questions.EachAnswers(t.Context(), company, agent, time.Time{}, r.now.Add(time.Hour), func(h *chats.AnswerHour) {
		if h.At.Before(last) || !h.At.Equal(h.At.Truncate(time.Hour)) {
			t.Errorf("the hour %v follows %v", h.At, last)
		}
		last = h.At
		sum.Add(h.Answers)
		hours++
	}); err != nil {
		t.Fatal(err)
	}
	return sum, hours
}

func (r *rig) scores(t *testing.T, company, id string, seq int64, value string) (*chats.Score, error) {
	r.now = r.now.Add(time.Millisecond)
	x := &chats.Score{Seq: seq, Value: value}
	return x, r.Chats.Do(t.Context(), &chats.Change{
		CompanyID: company, ConversationID: id, Score: x,
		Edit: func(*chats.Conversation) ([]chats.Turn, error) {
			extra := chats.Extra{Event: "scored", Of: seq}
			return []chats.Turn{{Author: chats.Visitor, Kind: chats.KindEvent, Text: value, At: r.now, Extra: extra}}, nil
		},
	})
}

func answersCounted(t *testing.T, r *rig) {
	one, other := r.opened(t, ours, "ana").Conversation.ID, r.opened(t, theirs, "eva").Conversation.ID
	hours := []chats.Passage{{Knowledge: "help", Title: "Hours", Text: "At nine.", Confidence: 0.8}, {Knowledge: "help", Title: "Hours"}}
	r.responds(t, ours, one, &chats.Result{Outcome: chats.Answered, Passages: hours})
	first := r.responds(t, ours, one, &chats.Result{Outcome: chats.Offered}).Turns[0]
	r.now = r.now.Add(2 * time.Hour)
	r.responds(t, ours, one, &chats.Result{Outcome: chats.Answered, Passages: hours, Replaces: chats.Offered, Replaced: first.At})
	r.responds(t, ours, one, &chats.Result{Outcome: chats.Unanswered})
	r.responds(t, ours, one, &chats.Result{Outcome: chats.HandedOver})
	r.responds(t, theirs, other, &chats.Result{Outcome: chats.Offered})
	sum, n := r.answers(t, ours, "")
	if diff := cmp.Diff(chats.Answers{Answered: 2, Unanswered: 1, HandedOver: 1}, sum); diff != "" || n != 2 {
		t.Errorf("%d hours, %s", n, diff)
	}
	if sum, _ := r.answers(t, theirs, "a"); sum != (chats.Answers{Offered: 1}) {
		t.Errorf("the other company's: %+v", sum)
	}
	if sum, n := r.answers(t, ours, "b"); n != 0 {
		t.Errorf("of another agent: %+v", sum)
	}
	all, err := r.Questions.ArticleAnswers(t.Context(), ours, "help", 10)
	if diff := cmp.Diff([]chats.ArticleAnswers{{Knowledge: "help", Title: "Hours", Answered: 2}}, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	turns, err := r.Chats.TurnsBefore(t.Context(), ours, one, 2, 1)
	if err != nil || len(turns) != 1 || turns[0].Extra.Outcome != chats.Answered || turns[0].Extra.Passages[0].Confidence != 0.8 {
		t.Errorf("%+v, %v", turns, err)
	}
}

func answersScored(t *testing.T, r *rig) {
	id := r.opened(t, ours, "ana").Conversation.ID
	r.responds(t, ours, id, &chats.Result{Outcome: chats.Answered, Passages: []chats.Passage{{Knowledge: "help", Title: "Hours"}}})
	r.responds(t, ours, id, &chats.Result{Outcome: chats.Unanswered})
	want := func(up, down int64) {
		t.Helper()
		sum, _ := r.answers(t, ours, "")
		all, err := r.Questions.ArticleAnswers(t.Context(), ours, "help", 10)
		if err != nil || sum.Up != up || sum.Down != down || len(all) != 1 || all[0].Up != up || all[0].Down != down {
			t.Errorf("%+v, %+v, %v; want %d up and %d down", sum, all, err, up, down)
		}
	}
	for _, step := range []struct {
		value    string
		up, down int64
	}{{chats.Dislike, 0, 1}, {chats.Dislike, 0, 1}, {chats.Like, 1, 0}, {"", 0, 0}, {chats.Dislike, 0, 1}} {
		if x, err := r.scores(t, ours, id, 1, step.value); err != nil || x.Turn == nil {
			t.Fatalf("%+v, %v", x, err)
		}
		want(step.up, step.down)
	}
	if x, err := r.scores(t, ours, id, 2, chats.Dislike); err != nil || x.Turn != nil {
		t.Errorf("a response that is no answer: %+v, %v", x, err)
	}
	if _, err := r.scores(t, theirs, id, 1, chats.Like); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company: %v", err)
	}
	want(0, 1)
	var err error
	for i := 0; i < 30 && err == nil; i++ {
		_, err = r.scores(t, ours, id, 1, []string{chats.Like, chats.Dislike}[i%2])
	}
	if !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Errorf("without a bound: %v", err)
	}
	turns, err := r.Chats.TurnsBefore(t.Context(), ours, id, 2, 1)
	if err != nil || turns[0].Extra.Scores != 20 || turns[0].Extra.Score == "" {
		t.Errorf("%+v, %v", turns, err)
	}
}

func answersDropped(t *testing.T, r *rig) {
	id := r.opened(t, ours, "ana").Conversation.ID
	passage := []chats.Passage{{Knowledge: "help", Title: "Hours"}}
	r.responds(t, ours, id, &chats.Result{Outcome: chats.Answered, Passages: passage})
	r.now = r.now.Add(48 * time.Hour)
	passage = []chats.Passage{{Knowledge: "help", Title: "Prices"}}
	r.responds(t, ours, id, &chats.Result{Outcome: chats.Answered, Passages: passage})
	if p, err := r.Purges.DropStats(t.Context(), r.now.Add(-24*time.Hour), 100); p.Rows != 2 || err != nil {
		t.Error(p, err)
	}
	if sum, n := r.answers(t, ours, ""); n != 1 || sum.Answered != 1 {
		t.Errorf("%d hours, %+v", n, sum)
	}
	if all, err := r.Questions.ArticleAnswers(t.Context(), ours, "help", 10); err != nil || len(all) != 1 || all[0].Title != "Prices" {
		t.Errorf("%+v, %v", all, err)
	}
}

func questionKinds(t *testing.T, r *rig) {
	record := func(q chats.Question) {
		t.Helper()
		r.now = r.now.Add(time.Second)
		q.ID, q.CompanyID, q.AgentID, q.Words, q.Text, q.LastAt = carillon.NewID(r.now), ours, "a", "when", "When?", r.now
		if err := r.Questions.Record(t.Context(), &q); err != nil {
			t.Fatal(err)
		}
	}
	withdraw := func(q chats.Question) {
		t.Helper()
		q.CompanyID, q.AgentID, q.Words = ours, "a", "when"
		if err := r.Questions.Withdraw(t.Context(), &q); err != nil {
			t.Fatal(err)
		}
	}
	want := func(asked, offered, wrong int64, passage string) {
		t.Helper()
		all, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Limit: 10})
		if err != nil || len(all) != 1 || all[0].Asked != asked || all[0].Offered != offered || all[0].Wrong != wrong ||
			all[0].Source.Text != passage {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	record(chats.Question{Wrong: 1, Source: chats.Passage{Knowledge: "help", Title: "Hours", Text: "At nine."}})
	record(chats.Question{Offered: 1})
	record(chats.Question{})
	want(3, 1, 1, "At nine.")
	withdraw(chats.Question{Offered: 1})
	want(2, 0, 1, "At nine.")
	withdraw(chats.Question{Offered: 1})
	want(2, 0, 1, "At nine.")
	withdraw(chats.Question{Wrong: 1})
	want(1, 0, 0, "At nine.")
	record(chats.Question{Offered: 1})
	all, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{all[0].ID, "unknown"}
	if n, err := r.Questions.Remove(t.Context(), theirs, ids); n != 0 || err != nil {
		t.Errorf("another company removes %d, %v", n, err)
	}
	if n, err := r.Questions.Remove(t.Context(), ours, ids); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	record(chats.Question{Offered: 1})
	withdraw(chats.Question{Offered: 1})
	if all, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Limit: 10}); err != nil || len(all) != 0 {
		t.Errorf("left: %+v, %v", all, err)
	}
}
