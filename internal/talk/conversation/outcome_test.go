package conversation

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/store/chats"
)

// answers are the agent's responses in these tests.
func answers(_ context.Context, r *agent.Request, emit func(agent.Action) error) error {
	switch r.Message() {
	case "When do you open?", "Opening hours", "¿Cuándo abren?":
		return emit(agent.Action{Say: "At nine.", Outcome: agent.Answered, Sources: []agent.Source{
			{Title: "Opening hours", URL: "https://acme.test/", Knowledge: "help", Passage: "We open at nine.", Confidence: 0.8},
		}})
	case "Opening?":
		return emit(agent.Action{Say: "Is it one of these?", Choices: []string{"Opening hours", "A person"}, Outcome: agent.Offered})
	case "A person":
		return emit(agent.Action{Handoff: "asked for it", Outcome: agent.HandedOver})
	case "Thanks":
		return emit(agent.Action{Say: "With pleasure."})
	}
	return emit(agent.Action{Say: "I could not find that.", Choices: []string{"A person"}, Outcome: agent.Unanswered})
}

func (r *rig) counted() (sum chats.Answers) {
	r.t.Helper()
	if err := r.db.Questions.EachAnswers(r.t.Context(), r.company, "a", time.Time{}, r.now().Add(time.Hour), func(h *chats.AnswerHour) {
		sum.Add(h.Answers)
	}); err != nil {
		r.t.Fatal(err)
	}
	return sum
}

// questions are the open questions, the last asked first.
func (r *rig) questions() []chats.Question {
	r.t.Helper()
	all, _, err := r.db.Questions.List(r.t.Context(), chats.QuestionFilter{CompanyID: r.company, Limit: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// ask says something and waits for the response.
func (r *rig) ask(id, clientID, text string) {
	r.t.Helper()
	r.pass(time.Second)
	r.say(id, clientID, text)
	r.within("the response to "+text, func() bool { return r.find(id).ReplySeq == 0 })
}

func answering(t *testing.T, test func(t *testing.T, r *rig)) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.core.o.Questions = r.db.Questions
		r.agent.set(answers)
		r.run()
		test(t, r)
	})
}

func TestAQuestionCountsOnceByItsOutcome(t *testing.T) {
	answering(t, func(t *testing.T, r *rig) {
		id := r.open()
		want := func(want chats.Answers) {
			t.Helper()
			if diff := cmp.Diff(want, r.counted()); diff != "" {
				t.Error(diff)
			}
		}
		r.ask(id, "1", "When do you open?")
		want(chats.Answers{Answered: 1})
		r.ask(id, "2", "Thanks")
		r.ask(id, "3", "Opening?")
		want(chats.Answers{Answered: 1, Offered: 1})
		if all := r.questions(); len(all) != 1 || all[0].Text != "Opening?" || all[0].Offered != 1 {
			t.Errorf("after an offer: %+v", all)
		}
		r.ask(id, "4", "Opening hours")
		want(chats.Answers{Answered: 2})
		if all := r.questions(); len(all) != 0 {
			t.Errorf("after the choice: %+v", all)
		}
		r.ask(id, "5", "Opening?")
		r.ask(id, "6", "When do you open?") // no choice
		want(chats.Answers{Answered: 3, Offered: 1})
		r.ask(id, "7", "May I bring a dog?")
		want(chats.Answers{Answered: 3, Offered: 1, Unanswered: 1})
		r.ask(id, "8", "A person")
		want(chats.Answers{Answered: 3, Offered: 1, HandedOver: 1})
		if all := r.questions(); len(all) != 2 || all[0].Text != "May I bring a dog?" || all[0].Offered != 0 || all[1].Offered != 1 {
			t.Errorf("in the end: %+v", all)
		}

		button := r.open()
		r.ask(button, "1", "Opening?")
		r.must(r.Ask(t.Context(), r.company, button, "", true))
		r.must(r.Ask(t.Context(), r.company, button, "", true))
		want(chats.Answers{Answered: 3, Offered: 1, HandedOver: 2})
		r.must(r.Ask(t.Context(), r.company, r.open(), "", true))
		want(chats.Answers{Answered: 3, Offered: 1, HandedOver: 2})
	})
}

func TestAnAnswerKeepsItsPassage(t *testing.T) {
	answering(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.ask(id, "1", "When do you open?")
		turns, err := r.store.Chats.Turns(t.Context(), r.company, id, 0, 10)
		if err != nil || len(turns) != 2 {
			t.Fatal(turns, err)
		}
		x := turns[1].Extra
		if diff := cmp.Diff([]chats.Passage{{Knowledge: "help", Title: "Opening hours", Text: "We open at nine.", Confidence: 0.8}},
			x.Passages); diff != "" || x.Outcome != chats.Answered {
			t.Error(x.Outcome, diff)
		}
		if diff := cmp.Diff([]chats.Source{{Title: "Opening hours", URL: "https://acme.test/"}}, x.Sources); diff != "" {
			t.Error("for the visitor:", diff)
		}
	})
}

func TestADislikedAnswerOpensItsQuestion(t *testing.T) {
	answering(t, func(t *testing.T, r *rig) {
		id := r.open()
		score := func(seq int64, value string) {
			t.Helper()
			r.pass(time.Second)
			if err := r.Score(t.Context(), r.company, id, seq, value); err != nil {
				t.Fatal(err)
			}
		}
		r.ask(id, "1", "When do you open?")
		r.ask(id, "2", "Opening?")
		r.ask(id, "3", "Opening hours")
		for seq, want := range map[int64]bool{1: false, 2: true, 3: false, 4: false, 6: true, 9: false} {
			err := r.Scoreable(t.Context(), r.company, id, seq)
			if (err == nil) != want || err != nil && !carillon.IsCode(err, carillon.NotFound) {
				t.Errorf("turn %d: %v", seq, err)
			}
		}
		score(2, chats.Dislike)
		score(2, chats.Dislike)
		all := r.questions()
		if len(all) != 1 || all[0].Text != "When do you open?" || all[0].Wrong != 1 || all[0].Asked != 1 ||
			all[0].Source.Title != "Opening hours" || all[0].Source.Text != "We open at nine." {
			t.Fatalf("%+v", all)
		}
		score(6, chats.Dislike) // the answer to a choice: the question is the one before
		if all := r.questions(); len(all) != 2 || all[0].Text != "Opening?" {
			t.Errorf("%+v", all)
		}
		if diff := cmp.Diff(chats.Answers{Answered: 2, Down: 2}, r.counted()); diff != "" {
			t.Error(diff)
		}
		score(2, chats.Like)
		score(6, "")
		if all := r.questions(); len(all) != 0 {
			t.Errorf("after the changes: %+v", all)
		}
		if diff := cmp.Diff(chats.Answers{Answered: 2, Up: 1}, r.counted()); diff != "" {
			t.Error(diff)
		}
		if got := r.turns(id); len(got) != 10 {
			t.Errorf("a score that changes nothing has an event: %q", got)
		}
	})
}
