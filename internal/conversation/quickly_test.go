package conversation

import (
	"context"
	"strings"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/flow"
	"carillon/internal/store/chats"
)

// People write several messages quickly over a messaging channel: each counts, the one that starts a flow too.
func TestMessagesThatComeQuicklyAreAllLookedAt(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("echo", flow.Trigger{Keywords: []string{"echo"}}, `[{"say": "What?"}, {"ask": "what"}, {"say": "{{what}}"}]`)
		r.lay("quiet", flow.Trigger{Keywords: []string{"quiet"}}, `[{"set": {"x": "y"}}]`)
		r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
			return emit(agent.Action{Say: "I am the agent"})
		})
		open := func(number string) string {
			return r.must(first(r.Open(t.Context(), Start{
				Channel: "whatsapp", Language: "en", Contact: chats.Contact{CompanyID: r.company, VisitorID: "tel:" + number, Verified: true, Number: number},
			}))).ID
		}
		both, old, quiet := open("34600111001"), open("34600111002"), open("34600111003")
		r.say(old, "1", "echo")
		r.pass(2 * quicklyMost)
		r.say(old, "2", "hello")
		r.say(both, "1", "echo")
		r.pass(time.Second)
		r.say(both, "2", "second")
		r.run()
		for _, id := range []string{both, old, quiet} { // as the sweep does after a stop
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
		if all, err := r.db.Runs().OfConversation(t.Context(), r.company, quiet, 10); err != nil || len(all) != 1 {
			t.Errorf("%d runs, %v", len(all), err)
		}
	})
}

// first drops the second of two values.
func first[A, B any](a A, _ B, err error) (A, error) { return a, err }
