package store_test

import (
	"fmt"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/chats"
)

func questioning() []sentence {
	return []sentence{
		{"a question without an answer is counted, listed and deleted", questionLife},
		{"questions that were last asked long ago are purged", questionsPurged},
		{"of a company's questions the newest thousand are kept", questionsBounded},
	}
}

// ask records a question a second after the one before.
func (r *rig) ask(t *testing.T, company, agent, words string) {
	t.Helper()
	r.now = r.now.Add(time.Second)
	q := &chats.Question{
		ID: carillon.NewID(r.now), CompanyID: company, AgentID: agent, Words: words, Text: words + "?", Language: "en",
		LastAt: r.now, ConversationID: "c-" + words,
	}
	if err := r.Questions.Record(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

func questionLife(t *testing.T, r *rig) {
	r.putResource(t, ours, kindOf("agent"), thing(kindOf("agent"), "a", "Ann"))
	for _, words := range []string{"where", "when", "where"} {
		r.ask(t, ours, "a", words)
	}
	r.ask(t, ours, "gone", "where")
	r.ask(t, theirs, "a", "why")
	page, next, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Limit: 2})
	if err != nil || len(page) != 2 || next == "" {
		t.Fatal(page, next, err)
	}
	if q := page[0]; q.AgentID != "gone" || q.AgentName != "" || q.Asked != 1 {
		t.Errorf("the first is %+v", q)
	}
	if q := page[1]; q.AgentName != "Ann" || q.Text != "where?" || q.Asked != 2 || q.LastAt.Sub(q.FirstAt) != 2*time.Second ||
		q.ConversationID != "c-where" {
		t.Errorf("the second is %+v", q)
	}
	rest, next, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Limit: 2, Cursor: next})
	if err != nil || len(rest) != 1 || next != "" || rest[0].Text != "when?" {
		t.Error(rest, next, err)
	}
	if of, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, AgentID: "a", Limit: 10}); err != nil ||
		len(of) != 2 {
		t.Error(of, err)
	}
	if _, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Cursor: "x"}); !carillon.IsCode(err,
		carillon.ValidationFailed) {
		t.Error(err)
	}
	if err := r.Questions.Delete(t.Context(), theirs, rest[0].ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company deletes: %v", err)
	}
	if err := r.Questions.Delete(t.Context(), ours, rest[0].ID); err != nil {
		t.Error(err)
	}
	if all, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Limit: 10}); err != nil || len(all) != 2 {
		t.Error(all, err)
	}
}

func questionsBounded(t *testing.T, r *rig) {
	r.ask(t, theirs, "a", "before")
	for i := range 1010 {
		r.ask(t, ours, "a", fmt.Sprint(i))
	}
	all, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: ours, Limit: 2000})
	if err != nil || len(all) != 1000 || all[0].Text != "1009?" || all[999].Text != "10?" {
		t.Error(len(all), err)
	}
	if all, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: theirs, Limit: 10}); err != nil || len(all) != 1 {
		t.Errorf("another company's, from before all of these: %d, %v", len(all), err)
	}
}

func questionsPurged(t *testing.T, r *rig) {
	for _, words := range []string{"old", "older", "again"} {
		r.ask(t, ours, "a", words)
	}
	r.ask(t, theirs, "a", "old")
	limit := r.now.Add(500 * time.Millisecond)
	r.ask(t, ours, "a", "again")
	for _, want := range []bool{true, false} {
		p, err := r.Purges.DropQuestions(t.Context(), ours, limit, 2)
		if err != nil || p.More != want || want != (p.Rows == 2) {
			t.Errorf("%+v, %v", p, err)
		}
	}
	for company, want := range map[string]int{ours: 1, theirs: 1} {
		if left, _, err := r.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: company, Limit: 10}); err != nil ||
			len(left) != want {
			t.Errorf("%s: %v, %v", company, left, err)
		}
	}
}
