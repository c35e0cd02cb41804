package messaging_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// crash lets a node die while it sends a reply with a certain text: the channel receives the reply, but the node never
// gets the response. The clock then stands still.
type crash struct {
	*rig
	text  string
	taken chan struct{} // closed when the channel has the reply
	dead  chan struct{} // closed to let the response through after all
	once  sync.Once
}

func (r *rig) crashing(text string) *crash {
	x := &crash{rig: r, text: text, taken: make(chan struct{}), dead: make(chan struct{})}
	r.channel.by(func(p post) *provider.Outcome {
		if p.Text == text {
			x.once.Do(func() {
				close(x.taken)
				select {
				case <-x.dead:
				case <-r.over:
				}
			})
		}
		return nil
	})
	return x
}

// die waits until the channel has the reply, kills the node, and starts another one. declared means that the first
// node is declared dead.
func (x *crash) die(declared bool) {
	x.t.Helper()
	<-x.taken
	x.stand()
	x.kill()
	dead := x.node
	x.channel.hangUp()
	if declared {
		x.depose(dead)
	}
	x.build()
	x.run()
}

// depose declares a node dead.
func (r *rig) depose(node string) {
	r.t.Helper()
	if ok, err := r.db.Nodes.Depose(r.t.Context(), node, 1); !ok || err != nil {
		r.t.Fatal("depose a node: ", ok, err)
	}
}

// posted returns the texts posted to the person, in order.
func (p *person) posted() (all []string) {
	for _, x := range p.channel.of(p.number) {
		all = append(all, x.Text)
	}
	return all
}

// gotAll waits for posted texts and checks that they are exactly these.
func (p *person) gotAll(want ...string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%s gets %q, not %q", p.number, p.posted(), want), func() bool { return len(p.posted()) >= len(want) })
	p.comeToRest()
	if got := p.posted(); !slices.Equal(got, want) {
		p.t.Fatalf("%s gets %q, not %q", p.number, got, want)
	}
}

// state returns the state of the reply with a text.
func (p *person) state(text string) string {
	p.t.Helper()
	turns := p.turns()
	states, err := p.Deliveries(p.t.Context(), p.company.ID, p.conversation().ID, turns)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, t := range turns {
		if t.Text == text && t.Author == chats.Agent {
			return states[t.Seq].State
		}
	}
	return ""
}

// A node dies after the channel has received a question and before that is stored. The answer continues the flow long
// before the lease of the attempt expires, and the question is not sent again.
func TestTheAnswerCarriesAFlowOnWhoseQuestionANodeDiedWith(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		x := r.crashing("What?")
		r.run()
		p := r.person("34600700001")
		p.text("echo")
		x.die(true)
		p.text("hello")
		p.gotAll("What?", "hello")
		if got := p.state("What?"); got != "unknown" {
			t.Errorf("the question is %s", got)
		}
		close(x.dead) // its response changes nothing
		p.comeToRest()
		p.shows("> echo", "* flow_began echo", "< What? ! outcome_unknown", "> hello", "< hello")
		if run := p.newestRun(); run.State != string(flow.Completed) || run.Variables["what"] != "hello" {
			t.Errorf("the run is %s with %v", run.State, run.Variables)
		}
	})
}

// A tap on a choice refers to its question by the channel's ID, which is unknown here. It proves that the question
// arrived, even while the node is alive and waits for the response. The choice is identified by our ID.
func TestATapProvesThatItsQuestionArrived(t *testing.T) {
	for name, lives := range map[string]bool{"its node lives": true, "its node is dead": false} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, r *rig) {
				const long = "The tour of the old harbour in the evening"
				r.flows.lay("tour", flow.Trigger{Keywords: []string{"tour"}},
					`[{"say": "Which?"}, {"ask": "which", "choices": ["`+long+`", "None"]}, {"say": "{{which}}"}]`)
				x := r.crashing("Which?")
				r.run()
				p := r.person("34600700002")
				p.text("tour")
				x.die(!lives)
				p.write("wamid.tap",
					`{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.1",
						"title":"The tour of the old har…"}},
					"context":{"id":"wamid.out.1"}}`)
				p.gotAll("Which?", long)
				if got := p.state("Which?"); got != "delivered" {
					t.Errorf("the question is %s", got)
				}
				close(x.dead)
				p.shows("> tour", "* flow_began tour", "< Which? ["+long+" None]", "> "+long+" {Which?}", "< "+long)
			})
		})
	}
}

// While another node waits for the channel's response, a message of the person is no proof, and nothing overtakes the
// reply.
func TestNothingOvertakesAReplyThatANodeIsSending(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		x := r.crashing("What?")
		r.run()
		p := r.person("34600700003")
		p.text("echo")
		x.die(false)
		p.text("hello")
		p.until("the flow has gone on", func() bool { return len(p.lines()) == 5 })
		p.gotAll("What?")
		close(x.dead) // the response
		p.gotAll("What?", "hello")
		if got := p.state("What?"); got != "sent" {
			t.Errorf("the question is %s", got)
		}
	})
}

// The channel did not respond in time. The person's next message releases the next reply.
func TestWhatAPersonWritesPassesAnUnknownOutcome(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.channel.by(func(x post) *provider.Outcome {
			if x.Text == "What?" {
				return &provider.Outcome{Verdict: provider.Unknown}
			}
			return nil
		})
		r.run()
		p := r.person("34600700004")
		p.text("echo")
		p.gotAll("What?")
		p.untilStored()
		r.stand()
		p.text("hello")
		p.gotAll("What?", "hello")
	})
}

// An agent's reply works like a question: the person's next message is answered at once.
func TestAnAgentGoesOnAfterItsNodeDied(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		x := r.crashing("es: Hola\nhttps://acme.test/faq")
		r.run()
		p := r.person("34600700005")
		p.text("Hola")
		x.die(true)
		p.text("¿Y mañana?")
		p.gotAll("es: Hola\nhttps://acme.test/faq", "es: ¿Y mañana?\nhttps://acme.test/faq")
		close(x.dead)
	})
}

// When the only node restarts, it knows that nobody waits for a response, and sends the replies behind the unknown one
// without a message of the person.
func TestARestartSendsWhatWaitsBehindAnUnknownOutcome(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.flows.lay("three", flow.Trigger{Keywords: []string{"three"}}, three)
		x := r.crashing("one")
		r.run()
		p := r.person("34600700006")
		p.text("three")
		r.alone = true
		x.die(false)
		p.gotAll("one", "two", "three")
		close(x.dead)
	})
}

// Messages that a dead node had begun to process are processed as soon as it is declared dead, and so are the later
// ones.
func TestWhatADeadNodeWasTakingInIsTakenIn(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.stand()
		p := r.person("34600700007")
		p.text("echo")
		dead := r.node
		due, err := r.db.Replies.Waiting(t.Context(), r.now(), 10, nil)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		if ok, err := r.db.Replies.Claim(t.Context(), due[0], dead, r.now(), r.now().Add(time.Hour)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		r.build()
		r.run()
		p.comeToRest()
		if got := p.posted(); len(got) > 0 {
			t.Errorf("while the node lives %q are posted", got)
		}
		r.depose(dead)
		r.Deposed()
		p.gotAll("What?")
	})
}

// A message releases only the reply before it: not another conversation's reply, not another company's, and not a
// later one.
func TestOnlyTheReplyBeforeAMessageIsPassed(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("three", flow.Trigger{Keywords: []string{"three"}}, three)
		r.channel.by(func(x post) *provider.Outcome { return &provider.Outcome{Verdict: provider.Unknown} })
		r.run()
		p := r.person("34600700008")
		p.text("three")
		p.until("it is posted", func() bool { return len(p.posted()) == 1 })
		id, s := p.conversation().ID, r.db.Replies
		p.untilStored()
		now := r.now()
		for what, x := range map[string]struct {
			company, conversation string
			written               time.Time
		}{
			"another company's":      {carillon.NewID(now), id, now.Add(time.Hour)},
			"another conversation's": {r.company.ID, carillon.NewID(now), now.Add(time.Hour)},
			"one that began later":   {r.company.ID, id, now.Add(-time.Hour)},
		} {
			if passed, err := s.Passed(t.Context(), x.company, x.conversation, x.written, now); passed || err != nil {
				t.Errorf("%s is passed: %v, %v", what, passed, err)
			}
		}
		var none []*chats.Reply
		if none, _ = s.Unproven(t.Context(), carillon.NewID(now), id, 10); len(none) > 0 {
			t.Errorf("another company sees %+v", none)
		}
	})
}
