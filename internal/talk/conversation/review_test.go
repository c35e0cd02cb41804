package conversation

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent"
	"carillon/internal/agent/review"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
)

// judged is the agent of the tests of reviews.
func judged() *agent.Agent {
	return &agent.Agent{
		Name: "Robin", Language: "en", Engine: "openai", Goal: "The person knows when we open",
		Result: []agent.Result{{Name: "people", Type: "number", Question: "How many of you come?"}, {Name: "sunny", Type: "boolean"}},
		Topics: []agent.Topic{{Name: "Hours", Words: []string{"open"}}, {Name: "Dogs", Words: []string{"dog"}}},
	}
}

func reviewing(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent.set(answers)
		r.agent.agent = judged()
		r.reviews.wait = 0
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { _ = r.replies.run(ctx) })
		t.Cleanup(func() {
			cancel()
			done.Wait()
		})
		test(t, r)
	})
}

// reviewNow makes the reviews that are due.
func (r *rig) reviewNow() {
	r.t.Helper()
	r.reviewUntil(r.t.Context())
}

func (r *rig) reviewUntil(ctx context.Context) {
	r.t.Helper()
	err := r.reviews.crew.Begin(ctx)
	if r.reviews.crew.Wait(); err != nil {
		r.t.Fatal(err)
	}
}

// reviewOf returns the review of a conversation; nil if it has none.
func (r *rig) reviewOf(id string) *chats.Review {
	r.t.Helper()
	all, err := r.db.Reviews.Of(r.t.Context(), r.company, id)
	if err != nil {
		r.t.Fatal(err)
	}
	return all[id]
}

// tallies are the counts of all reviews, by kind, name and value.
func (r *rig) tallies() map[string]int64 {
	r.t.Helper()
	all := map[string]int64{}
	if err := r.db.Reviews.EachCount(r.t.Context(), r.company, "", time.Time{}, r.now().Add(time.Hour), func(c *chats.ReviewCount) {
		if c.Reviews != 0 {
			all[c.Kind+" "+c.Name+" "+c.Value] += c.Reviews
		}
	}); err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (r *rig) leave(id string) {
	r.t.Helper()
	r.pass(time.Second)
	if _, err := r.Leave(r.t.Context(), r.company, id); err != nil {
		r.t.Fatal(err)
	}
}

func TestAConversationIsReviewedAfterItsEnd(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.reviewNow()
		r.leave(id)
		r.reviewNow()
		if got := r.reviewOf(id); got != nil {
			t.Fatalf("reviewed at once: %+v", got)
		}
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		c := r.find(id)
		want := &chats.Review{
			ConversationID: id, CompanyID: r.company, AgentID: "a", Seq: c.LastSeq, EndedAt: c.LastAt, At: r.now(), Maker: review.Rules,
			Goal: "unknown", Topics: []string{"Hours"}, Text: chats.ReviewText{
				Summary: "Began with “When do you open?”. Questions: 1 answered. Last reply: “At nine.”.",
				Goal:    "The person knows when we open", Reason: "The conversation doesn't show it.",
			},
		}
		if diff := cmp.Diff(want, r.reviewOf(id)); diff != "" {
			t.Error(diff)
		}
		if !c.ReviewAt.IsZero() || c.ReviewTries != 0 {
			t.Errorf("still due: %s, %d tries", c.ReviewAt, c.ReviewTries)
		}
		if diff := cmp.Diff(map[string]int64{"maker  rules": 1, "goal  unknown": 1, "topic  Hours": 1}, r.tallies()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASilentConversationIsReviewedAndAgainAfterMore(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.pass(20 * time.Minute)
		r.ask(id, "2", "And dogs?")
		r.pass(chats.ReviewAfterSilence - 20*time.Minute) // since the first question
		r.reviewNow()
		if got := r.reviewOf(id); got != nil {
			t.Fatalf("reviewed while it went on: %+v", got)
		}
		r.pass(20 * time.Minute)
		r.reviewNow()
		first := r.reviewOf(id)
		if first == nil || first.Text.Summary != "Began with “When do you open?”. Questions: 1 answered, 1 unanswered. "+
			"Last reply: “I could not find that.”." || !cmp.Equal(first.Topics, []string{"Hours", "Dogs"}) {
			t.Fatalf("%+v", first)
		}
		r.ask(id, "3", "Opening?")
		r.ask(id, "4", "Opening hours")
		turn := r.find(id).CompanySeq
		if err := r.Score(t.Context(), r.company, id, turn, chats.Like); err != nil {
			t.Fatal(err)
		}
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		second := r.reviewOf(id)
		if second.Goal != "yes" || second.Text.Reason != "The person marked the answer as helpful." ||
			second.Text.Summary != "Began with “When do you open?”. Questions: 2 answered, 1 unanswered. Last reply: “At nine.”." {
			t.Errorf("%+v", second)
		}
		want := map[string]int64{"maker  rules": 1, "goal  yes": 1, "topic  Hours": 1, "topic  Dogs": 1}
		if diff := cmp.Diff(want, r.tallies()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestARatingAfterTheReviewCounts(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		r.pass(time.Hour)
		if err := r.Rate(t.Context(), r.company, id, 1, "no"); err != nil {
			t.Fatal(err)
		}
		r.reviewNow()
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		if got := r.reviewOf(id); got.Goal != "no" || got.Text.Reason != "The person rated the conversation 1 out of 5." {
			t.Errorf("%+v", got)
		}
	})
}

func TestWithoutThePersonOrTheAgentThereIsNoReview(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		silent := r.open()
		r.leave(silent)
		r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
			return emit(agent.Action{Handoff: "asked for it"})
		})
		mute := r.open()
		r.ask(mute, "1", "A person, please")
		r.pass(24 * time.Hour)
		r.reviewNow()
		for _, id := range []string{silent, mute} {
			if got := r.reviewOf(id); got != nil || !r.find(id).ReviewAt.IsZero() {
				t.Errorf("%+v, due %s", got, r.find(id).ReviewAt)
			}
		}
	})
}

func TestResultsAndToolsOfAConversationAreReviewed(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
			used := &agent.Use{Tool: "book", Arguments: `{"sunny":true}`, Status: agent.RanWell, Changes: true}
			if err := emit(agent.Action{Used: used}); err != nil {
				return err
			}
			return emit(agent.Action{Say: "Booked.", Set: []agent.Value{
				{Name: "people", Type: "number", Text: "4"}, {Name: "other", Type: "text", Text: "x"},
			}})
		})
		id := r.open()
		r.ask(id, "1", "Book it for 4")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		got := r.reviewOf(id)
		want := []chats.Value{{Name: "people", Type: "number", Text: "4"}, {Name: "sunny", Type: "boolean", Text: "true"}}
		if diff := cmp.Diff(want, got.Text.Results); diff != "" || got.Goal != "yes" ||
			got.Text.Reason != "The tool book did what the person requested." {
			t.Errorf("%s %+v", diff, got)
		}
		if n := r.tallies()["result sunny true"]; n != 1 {
			t.Errorf("counted %d times: %v", n, r.tallies())
		}
	})
}

// engine is an engine whose reviews a test provides.
type engine func(ctx context.Context, m *review.Material, attempt int) (*review.Review, error)

func (engine) Reviews(*agent.Agent) bool { return true }

func (e engine) Review(ctx context.Context, m *review.Material, attempt int) (*review.Review, error) {
	return e(ctx, m, attempt)
}

func TestTheEngineReviewsOrTheRulesSayWhyNot(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		attempts := 0
		r.o.Reviewer = engine(func(_ context.Context, m *review.Material, attempt int) (*review.Review, error) {
			if attempts++; attempt == 0 {
				return nil, errors.New("the server responded with 500")
			}
			return &review.Review{Summary: "All well.", Goal: review.Reached, Reason: "Said so.", By: "openai"}, nil
		})
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		if got := r.reviewOf(id); attempts != 2 || got.Maker != "openai" || got.Text.Summary != "All well." || got.Text.Failure != "" {
			t.Errorf("%d attempts, %+v", attempts, got)
		}
		attempts = 0
		r.o.Reviewer = engine(func(context.Context, *review.Material, int) (*review.Review, error) {
			attempts++
			return nil, errors.Join(review.ErrFinal, errors.New("used up"))
		})
		id = r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		if got := r.reviewOf(id); attempts != 1 || got.Maker != review.Rules || got.Text.Failure != "the engine was not asked used up" {
			t.Errorf("%d attempts, %+v", attempts, got)
		}
	})
}

func TestANodeThatDiesDuringAReviewLeavesItToAnother(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		for n := range engineTries {
			c := r.find(id)
			if ok, err := r.db.Reviews.Claim(t.Context(), c, r.now().Add(reviewLease)); !ok || err != nil { // and then it dies
				t.Fatal(ok, err)
			}
			if ok, err := r.db.Reviews.Claim(t.Context(), c, r.now().Add(reviewLease)); ok || err != nil {
				t.Fatal("claimed twice", err)
			}
			r.reviewNow()
			if got := r.reviewOf(id); got != nil {
				t.Fatalf("reviewed during the lease of %d: %+v", n, got)
			}
			r.pass(reviewLease)
		}
		r.o.Reviewer = engine(func(context.Context, *review.Material, int) (*review.Review, error) {
			t.Error("asked once more, although each node died that asked")
			return nil, errors.New("no")
		})
		r.reviewNow()
		const want = "the program stopped several times while it asked"
		if got := r.reviewOf(id); got == nil || got.Maker != review.Rules || got.Text.Failure != want {
			t.Errorf("%+v", got)
		}
	})
}

func TestAReviewThatAlwaysFailsIsGivenUp(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		var log strings.Builder
		r.o.Log = slog.New(slog.NewTextHandler(&log, nil))
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		fail := func(times int) {
			t.Helper()
			r.agent.fault = errors.New("no connection")
			for range times {
				r.reviewNow()
				r.pass(reviewLease)
			}
			r.agent.fault = nil
		}
		fail(maxReviewTries - 1)
		r.ask(id, "2", "And dogs?") // it goes on, and the attempts are counted anew
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		if c := r.find(id); c.ReviewTries != 0 {
			t.Fatalf("%d attempts after another question", c.ReviewTries)
		}
		fail(maxReviewTries + 3)
		if c := r.find(id); !c.ReviewAt.IsZero() || r.reviewOf(id) != nil {
			t.Errorf("due at %s", c.ReviewAt)
		}
		if n := strings.Count(log.String(), "give up a review"); n != 1 {
			t.Errorf("%d times: %s", n, log.String())
		}
		r.ask(id, "3", "Hello?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		if r.reviewOf(id) == nil {
			t.Error("not reviewed after it went on")
		}
	})
}

func TestTheEndOfAMissedCallKeepsTheClaimOfItsReview(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		c, _, err := r.Open(t.Context(), Start{
			Contact: chats.Contact{CompanyID: r.company, Number: "34600111222"}, Channel: "phone", AgentID: "a", Language: "en",
		})
		id := r.must(c, err).ID
		r.ask(id, "1", "When do you open?")
		r.pass(time.Minute)
		if _, err := r.Ask(t.Context(), r.company, id, "", true); err != nil { // nobody is there
			t.Fatal(err)
		}
		if c := r.find(id); c.State != chats.Missed || !c.ReviewAt.Equal(r.now().Add(chats.ReviewAfterEnd)) {
			t.Fatalf("%s, due at %s, now %s", c.State, c.ReviewAt, r.now())
		}
		r.pass(chats.ReviewAfterEnd)
		r.o.Reviewer = engine(func(context.Context, *review.Material, int) (*review.Review, error) {
			r.leave(id)
			return &review.Review{Summary: "All well.", Goal: review.Reached, By: "openai"}, nil
		})
		r.reviewNow()
		if got := r.reviewOf(id); got == nil || !r.find(id).ReviewAt.IsZero() {
			t.Errorf("%+v, due at %s", got, r.find(id).ReviewAt)
		}
	})
}

func TestAReviewOfAConversationThatWentOnIsDropped(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.o.Reviewer = engine(func(_ context.Context, m *review.Material, _ int) (*review.Review, error) {
			if len(m.Lines) == 2 {
				r.ask(id, "2", "And dogs?")
			}
			return &review.Review{Summary: "All well.", Goal: review.Reached, By: "openai"}, nil
		})
		r.ask(id, "1", "When do you open?")
		r.pass(chats.ReviewAfterSilence)
		r.reviewNow()
		if got := r.reviewOf(id); got != nil {
			t.Fatalf("%+v", got)
		}
		r.pass(chats.ReviewAfterSilence)
		r.reviewNow()
		if got := r.reviewOf(id); got == nil || got.Seq != r.find(id).LastSeq {
			t.Errorf("%+v", got)
		}
	})
}

func TestAReviewIsInterruptedByTheEndOfTheProgram(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		ctx, stop := context.WithCancel(t.Context())
		r.o.Reviewer = engine(func(ctx context.Context, _ *review.Material, _ int) (*review.Review, error) {
			stop()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		r.reviewUntil(ctx)
		if c := r.find(id); !c.ReviewAt.Equal(r.now()) || r.reviewOf(id) != nil {
			t.Fatalf("due at %s, now %s", c.ReviewAt, r.now())
		}
		r.o.Reviewer = nil
		r.reviewNow()
		if r.reviewOf(id) == nil {
			t.Error("not reviewed after the next start")
		}
	})
}

func TestSuspendedCompaniesAndDeletedAgentsHaveNoReviews(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.suspended.Store(true)
		r.reviewNow()
		if got := r.find(id).ReviewAt; !got.Equal(r.now().Add(suspendedStay)) {
			t.Errorf("due at %s", got)
		}
		r.suspended.Store(false)
		r.pass(suspendedStay)
		r.agent.gone = true
		r.reviewNow()
		if got := r.find(id).ReviewAt; !got.IsZero() || r.reviewOf(id) != nil {
			t.Errorf("due at %s", got)
		}
	})
}

func TestSubscribersReceiveReviews(t *testing.T) {
	reviewing(t, func(t *testing.T, r *rig) {
		if err := r.db.Topics.Follow(t.Context(), r.company, events.Conversations); err != nil {
			t.Fatal(err)
		}
		id := r.open()
		r.ask(id, "1", "When do you open?")
		r.leave(id)
		r.pass(chats.ReviewAfterEnd)
		r.reviewNow()
		all, err := r.db.Events.EventsAfter(t.Context(), r.company, events.Conversations, 0, 100)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		last := all[len(all)-1]
		want := `"review":{"summary":"Began with “When do you open?”. Questions: 1 answered. Last reply: “At nine.”.",` +
			`"goal":{"goal":"The person knows when we open","reached":"unknown","reason":"The conversation doesn't show it."},` +
			`"topics":["Hours"],"by":"rules","turn":3,`
		if last.Kind != "conversation.reviewed" || last.Subject != id || !strings.Contains(string(last.Payload), want) {
			t.Errorf("%s %s", last.Kind, last.Payload)
		}
	})
}
