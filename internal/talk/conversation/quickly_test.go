package conversation

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// People send several messages in quick succession on a messaging channel. Each counts, including one that starts a
// flow.
func TestMessagesThatComeQuicklyAreAllLookedAt(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("echo", flow.Trigger{Keywords: []string{"echo"}}, `[{"say": "What?"}, {"ask": "what"}, {"say": "{{what}}"}]`)
		r.lay("quiet", flow.Trigger{Keywords: []string{"quiet"}}, `[{"set": {"x": "y"}}]`)
		r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
			return emit(agent.Action{Say: "I am the agent"})
		})
		open := func(number string) string {
			return r.must(first(r.Open(t.Context(), Start{
				Channel: "whatsapp", Language: "en", Contact: chats.Contact{
					CompanyID: r.company, VisitorID: "tel:" + number, Verified: true, Number: number,
				},
			}))).ID
		}
		both, old, quiet := open("34600111001"), open("34600111002"), open("34600111003")
		r.say(old, "1", "echo")
		r.pass(2 * maxRecentAge)
		r.say(old, "2", "hello")
		r.say(both, "1", "echo")
		r.pass(time.Second)
		r.say(both, "2", "second")
		r.run()
		for _, id := range []string{both, old, quiet} { // like the sweep after a stop
			r.replies.reply(r.company, id)
		}
		r.waitState(both, flow.Completed)
		if got := strings.Join(r.turns(both), ", "); got != "visitor echo, visitor second, agent What?, agent second" {
			t.Error(got)
		}
		r.within("what is old starts nothing", func() bool { return len(r.turns(old)) == 3 && r.last(old).ID == "" })
		r.say(quiet, "1", "quiet")
		r.waitState(quiet, flow.Completed)
		r.pass(time.Second)
		r.say(quiet, "2", "hello")
		r.within("the agent replies", func() bool { return len(r.turns(quiet)) >= 3 })
		if all, err := r.db.Runs.OfConversation(t.Context(), r.company, quiet, 10); err != nil || len(all) != 1 {
			t.Errorf("%d runs, %v", len(all), err)
		}
	})
}

// A company with more conversations than its agent can handle does not delay the agents of other companies.
func TestAFullQueueOfACompanyHoldsUpNoOther(t *testing.T) {
	r := newRig(t, store.Options{})
	r.agent.set(says(agent.Action{Say: "I am the agent"}))
	for range share.AgentReplies.Company { // long replies
		if _, err := r.replies.places.Take(share.Holder{Company: "busy"}); err != nil {
			t.Fatal(err)
		}
	}
	r.run()
	for i := range maxJobs + 100 {
		r.replies.jobs <- job{"busy", fmt.Sprintf("conversation %d", i)}
	}
	r.within("the queue is full", func() bool {
		return len(r.replies.jobs) == 0 && int64(r.replies.places.Counts().Waiting) >= share.ReplyQueue.Company
	})
	id := r.open()
	r.say(id, "1", "Hello")
	r.within("the other company's agent replies", func() bool { return len(r.turns(id)) == 2 })
	if n := r.replies.queue.Counts().Used; n != share.ReplyQueue.Company {
		t.Errorf("%d conversations of the company wait, want %d", n, share.ReplyQueue.Company)
	}
}

// Further messages of a contact whose conversation is already queued take no other place in the queue.
func TestAConversationWaitsOnceForItsReply(t *testing.T) {
	r := newRig(t, store.Options{})
	var asked atomic.Int32
	r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
		asked.Add(1)
		return emit(agent.Action{Say: "I am the agent"})
	})
	var held []*share.Place
	for range share.AgentReplies.Company {
		place, err := r.replies.places.Take(share.Holder{Company: r.company})
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, place)
	}
	r.run()
	id := r.open()
	for i := range 5 {
		r.say(id, fmt.Sprint(i), "Hello")
	}
	r.within("it waits", func() bool { return len(r.replies.jobs) == 0 && r.replies.places.Counts().Waiting > 0 })
	if n := r.replies.places.Counts().Waiting; n != 1 {
		t.Errorf("it waits %d times", n)
	}
	for _, place := range held {
		place.Release()
	}
	r.within("the agent replies", func() bool { return len(r.turns(id)) == 6 && r.replies.places.Counts().Used == 0 })
	if n := asked.Load(); n != 1 || r.replies.queue.Counts().Used != 0 {
		t.Errorf("the agent was asked %d times, and %d conversations wait", n, r.replies.queue.Counts().Used)
	}
}

// first drops the second of two values.
func first[A, B any](a A, _ B, err error) (A, error) { return a, err }
