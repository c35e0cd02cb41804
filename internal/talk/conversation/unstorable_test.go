package conversation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// refuse makes the database reject turns with a text.
func (r *rig) refuse(text string) {
	r.t.Helper()
	rule := "ALTER TABLE turn ADD CONSTRAINT refused CHECK (text <> '" + text + "')"
	if r.db.DB.SQLite() {
		rule = "CREATE TRIGGER refused BEFORE INSERT ON turn WHEN NEW.text = '" + text + "' BEGIN SELECT RAISE(ABORT, 'refused'); END"
	}
	if _, err := r.db.DB.Exec(r.t.Context(), rule); err != nil {
		r.t.Fatal(err)
	}
}

// asks makes the agent reply with a text, and returns the number of requests to it.
func (r *rig) asks(text string) *atomic.Int32 {
	asked := &atomic.Int32{}
	r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
		asked.Add(1)
		return emit(agent.Action{Say: text})
	})
	return asked
}

func TestAReplyOfAnyTextIsStoredAndAskedForOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		asked := r.asks("nul \x00, half a letter \xc3, a surrogate \xed\xa0\x80.")
		r.run()
		id := r.open()
		r.say(id, "1", "Hello")
		r.within("the reply", func() bool { return len(r.turns(id)) == 2 })
		if got, want := r.turns(id)[1], "agent nul \uFFFD, half a letter \uFFFD, a surrogate \uFFFD\uFFFD\uFFFD."; got != want ||
			asked.Load() != 1 {
			t.Errorf("%q after %d requests, want %q", got, asked.Load(), want)
		}
	})
}

func TestAReplyThatCannotBeStoredIsHandedOver(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.refuse("unstorable")
		asked := r.asks("unstorable")
		r.run()
		id := r.open()
		r.say(id, "1", "Hello")
		r.within("a teammate is asked for", func() bool { return r.find(id).State != chats.Automated })
		r.pass(time.Hour)
		if err := r.replies.takeOver(t.Context(), r.now()); err != nil {
			t.Error(err)
		}
		if c := r.find(id); c.ReplySeq != 0 || asked.Load() != 1 {
			t.Errorf("the agent was asked %d times, and is to reply to %d", asked.Load(), c.ReplySeq)
		}
	})
}

func TestAnEffectWhoseOutcomeCannotBeStoredHappensOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.refuse("unstorable")
		r.lay("order", flow.Trigger{Keywords: []string{"order"}},
			`[{"http": {"method": "GET", "url": "https://shop.test/", "save": {"what": "what"}}}, {"say": "{{what}}"}]`)
		r.laid.do = func(context.Context, string, *flow.Effect) (flow.Values, string, bool, error) {
			return flow.Values{"what": "unstorable"}, "200", false, nil
		}
		id := r.begun("order")
		for range 20 {
			r.work()
			r.pass(effectLease)
		}
		x := r.last(id)
		if x.State != string(flow.Failed) || x.Error != "steps.0: "+stuck || len(r.laid.effects()) != 1 ||
			r.find(id).State == chats.Automated {
			t.Errorf("%+v after %v, the conversation is %s", x, r.laid.effects(), r.find(id).State)
		}
		log, err := r.db.Runs.Entries(t.Context(), r.company, x.ID)
		if err != nil || log[len(log)-1].Text != stuck {
			t.Errorf("the run shows %+v, %v", log, err)
		}
	})
}

// begun starts the flow of a keyword in a new conversation.
func (r *rig) begun(keyword string) string {
	r.t.Helper()
	id := r.open()
	r.say(id, "1", keyword)
	if _, _, err := r.replies.replyTo(r.t.Context(), job{r.company, id}, nil, nil); err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) work() {
	r.t.Helper()
	if _, err := r.Runner.work(r.t.Context()); err != nil {
		r.t.Error(err)
	}
}

func TestAStepThatCannotBeStoredIsTriedLessAndLessAndFails(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.refuse("unstorable")
		r.lay("later", flow.Trigger{Keywords: []string{"later"}}, `[{"wait": "1s"}, {"say": "unstorable"}]`)
		id := r.begun("later")
		var waits []time.Duration
		for range maxStepTries {
			r.pass(r.last(id).Due.Sub(r.now()))
			r.work()
			if x := r.last(id); x.State == string(flow.Waiting) {
				waits = append(waits, x.Due.Sub(r.now()))
			}
		}
		want := []time.Duration{effectRetry, 2 * effectRetry, 4 * effectRetry, 8 * effectRetry, 16 * effectRetry}
		if x := r.last(id); !slices.Equal(waits, want) || x.State != string(flow.Failed) || !strings.HasSuffix(x.Error, stuck) {
			t.Errorf("waits %v, then %+v", waits, x)
		}
	})
}

func TestAnEffectThatAlwaysFailsEndsItsRunButADatabaseThatIsAwayDoesNot(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want flow.State
	}{"a fault of ours": {errors.New("a fault"), flow.Failed}, "the database is away": {context.DeadlineExceeded, flow.Calling}} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, r *rig) {
				r.lay("send", flow.Trigger{Keywords: []string{"send"}},
					`[{"send_template": {"name": "sent", "language": "en"}}, {"say": "done"}]`)
				r.laid.do = func(context.Context, string, *flow.Effect) (flow.Values, string, bool, error) {
					return nil, "", false, c.err
				}
				id := r.begun("send")
				for range 2 * maxStepTries {
					r.work()
					if x := r.last(id); !x.Due.IsZero() {
						r.pass(x.Due.Sub(r.now()))
					}
				}
				if x := r.last(id); x.State != string(c.want) {
					t.Errorf("after %d tries %+v", len(r.laid.effects()), x)
				}
				if n := len(r.laid.effects()); c.want == flow.Failed && n != maxStepTries {
					t.Errorf("it was tried %d times", n)
				}
			})
		})
	}
}

func TestAFlowsAnswerThatCannotBeStoredEndsItsRun(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.refuse("unstorable")
		r.lay("ask", flow.Trigger{Keywords: []string{"ask"}}, `[{"say": "What?"}, {"ask": "what"}, {"say": "{{what}}"}]`)
		r.run()
		id := r.open()
		r.say(id, "1", "ask")
		r.within("the question", func() bool { return len(r.turns(id)) == 2 })
		r.say(id, "2", "unstorable ") // the stored text is trimmed
		r.within("the run has ended", func() bool { return flow.State(r.last(id).State).Over() })
		if x := r.last(id); x.State != string(flow.Failed) || !strings.HasSuffix(x.Error, stuck) || r.find(id).State == chats.Automated {
			t.Errorf("%+v, the conversation is %s", x, r.find(id).State)
		}
	})
}
