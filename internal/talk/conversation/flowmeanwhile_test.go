package conversation

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// Messages that a contact writes during a request are answered by the texts after the request. Neither the agent nor a
// teammate intervenes, and the messages do not answer a later question. If no texts follow, the agent replies.
func TestWhatIsWrittenDuringARequest(t *testing.T) {
	const request = `{"http": {"url": "https://shop.test", "status": "status"}}`
	for name, c := range map[string]struct {
		steps, text string
		state       flow.State
		in          chats.State
		want        []string
	}{
		"a question follows": {
			`[` + request + `, {"say": "Which one?"}, {"ask": "x"}]`, "hurry up", flow.Asking, chats.Automated,
			[]string{"agent Which one?"},
		},
		"words follow": {
			`[` + request + `, {"say": "It comes"}]`, "hurry up", flow.Completed, chats.Automated, []string{"agent It comes"},
		},
		"another request": {
			`[` + request + `, ` + request + `, {"say": "It comes"}]`, "hurry up", flow.Completed, chats.Automated,
			[]string{"agent It comes"},
		},
		"nothing follows": {`[` + request + `]`, "hurry up", flow.Completed, chats.Automated, []string{"agent from Robin"}},
		"a person is wanted": {
			`[` + request + `, {"say": "It comes"}]`, "I want to talk to a person", flow.HandedOff, chats.Missed,
			[]string{"system handoff_requested", "system missed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, store.Options{})
			r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, c.steps)
			r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
				return emit(agent.Action{Say: "from Robin"})
			})
			begun, finish := make(chan struct{}, 2), make(chan struct{})
			r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
				begun <- struct{}{}
				<-finish
				return e.Values("200"), "200", false, nil
			}
			r.run()
			id := r.open()
			r.say(id, "1", "begin")
			<-begun
			r.say(id, "2", c.text)
			if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
				t.Fatal(err)
			}
			early := len(r.turns(id))
			close(finish)
			r.waitState(id, c.state)
			r.within("it is replied to", func() bool { return r.find(id).ReplySeq == 0 })
			got := r.turns(id)
			if len(got) != 2+len(c.want) || c.state != flow.HandedOff && early != 2 {
				t.Fatalf("%q, of them %d during the request", got, early)
			}
			for i, want := range c.want {
				if got[2+i] != want {
					t.Errorf("%q, not %q", got[2:], c.want)
				}
			}
			if s := r.find(id).State; s != c.in {
				t.Error(s)
			}
		})
	}
}

// While a company is suspended, its flows do not continue and its agents do not reply. Both resume when the suspension
// is lifted.
func TestNobodySpeaksForASuspendedCompany(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("word", flow.Trigger{Keywords: []string{"begin"}},
		`[{"say": "Wait"}, {"wait": "1m"}, {"http": {"url": "https://shop.test"}}, {"say": "done"}]`)
	r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
		return emit(agent.Action{Say: "from Robin"})
	})
	r.run()
	waits, asks := r.open(), r.open()
	r.say(waits, "1", "begin")
	r.waitState(waits, flow.Waiting)
	r.suspended.Store(true)
	r.pass(time.Minute)
	r.say(asks, "1", "hello")
	r.within("both are put off", func() bool {
		return r.last(waits).Due.After(r.now()) && r.find(asks).ReplyAt.After(r.now())
	})
	if got := append(r.turns(waits), r.turns(asks)...); len(got) != 3 || len(r.laid.effects()) > 0 {
		t.Errorf("%q", got)
	}
	r.suspended.Store(false)
	r.pass(suspendedWait + overdue + time.Second)
	if err := r.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	r.waitState(waits, flow.Completed)
	r.within("the agent replies", func() bool { return len(r.turns(asks)) == 2 })
}

// A panic in one conversation ends neither the program nor the work on other conversations. A flow is retried.
func TestAFaultInOneConversationEndsNoOther(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, `[{"http": {"url": "https://shop.test"}}, {"say": "done"}]`)
	r.agent.set(func(_ context.Context, q *agent.Request, emit func(agent.Action) error) error {
		if q.Message() == "bad" {
			panic("a fault")
		}
		return emit(agent.Action{Say: "from Robin"})
	})
	var done atomic.Int32
	r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
		if done.Add(1) == 1 {
			panic("a fault")
		}
		return e.Values("200"), "200", false, nil
	}
	r.run()
	bad, good, walks := r.open(), r.open(), r.open()
	r.say(bad, "1", "bad")
	r.say(walks, "1", "begin")
	r.within("the request is begun", func() bool { return done.Load() == 1 })
	r.say(good, "1", "hello")
	r.within("the agent replies", func() bool { return len(r.turns(good)) == 2 })
	r.pass(effectLease)
	r.waitState(walks, flow.Completed)
}
