package conversation

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent"
	"carillon/internal/base/schedule"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

func TestTimersOfFlowsAreExactAndDurable(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("remind", flow.Trigger{Keywords: []string{"remind me"}}, `[{"wait": "30d"}, {"say": "Now!"}, {"wait": "1s"}, {"end": true}]`)
		id := r.open()
		r.say(id, "1", "remind me")
		if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if x := r.last(id); x.State != string(flow.Waiting) || !x.Due.Equal(r.now().Add(30*24*time.Hour)) {
			t.Fatalf("%+v", x)
		}
		r.pass(30*24*time.Hour - time.Millisecond)
		work := func(s *Conversations) time.Time {
			next, err := s.Runner.work(t.Context())
			if err != nil {
				t.Error(err)
			}
			return next
		}
		if next := work(r.Conversations); len(r.turns(id)) != 1 || next.Sub(r.now()) != time.Millisecond {
			t.Error("too early", next.Sub(r.now()))
		}
		r.pass(time.Millisecond)
		work(r.node()) // another node, or this one after a restart
		if diff := cmp.Diff([]string{"visitor remind me", "agent Now!"}, r.turns(id)); diff != "" {
			t.Error(diff)
		}
		r.pass(time.Second)
		work(r.Conversations)
		if x := r.last(id); x.State != string(flow.Completed) || r.find(id).State != chats.Resolved {
			t.Errorf("%+v", x)
		}
	})
}

// Daily timers over a month with a change to daylight saving time in the node's zone. Each takes exactly 24 hours,
// regardless of the node that fires it. If a node was down when a timer was due, it fires late and once, and the next
// one counts from then.
func TestTimersOfFlowsAreExactOverAMonth(t *testing.T) {
	const days = 31
	onBoth(t, func(t *testing.T, r *rig) {
		madrid, err := schedule.Zone("Europe/Madrid")
		if err != nil {
			t.Fatal(err)
		}
		r.clock = time.Date(2027, 3, 10, 1, 30, 0, 123_000_000, madrid) // clocks go forward on March 28
		r.lay("days", flow.Trigger{Keywords: []string{"begin"}},
			"["+strings.Repeat(`{"wait": "1d"}, `, days)+`{"wait": "31d"}, {"end": true}]`)
		id := r.open()
		r.say(id, "1", "begin")
		if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
			t.Fatal(err)
		}
		due := r.now()
		pass := func(d time.Duration) { // the clock of a machine in that zone
			r.pass(d)
			var all sync.WaitGroup
			for _, s := range []*Conversations{r.Conversations, r.node()} {
				all.Go(func() {
					if _, err := s.Runner.work(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		for day := range days {
			due = due.Add(24 * time.Hour)
			if x := r.last(id); x.Steps != day+1 || !x.Due.Equal(due) {
				t.Fatalf("day %d: step %d, due %s, not %s", day, x.Steps, x.Due, due)
			}
			pass(24*time.Hour - time.Millisecond)
			if x := r.last(id); x.Steps != day+1 {
				t.Fatalf("day %d: it is too early", day)
			}
			pass(time.Millisecond)
		}
		if x := r.last(id); !x.Due.Equal(due.Add(31*24*time.Hour)) || r.now().Hour() != 2 {
			t.Errorf("due %s after %s", x.Due, r.now())
		}
		pass((31 + 5) * 24 * time.Hour)
		if x := r.last(id); x.State != string(flow.Completed) {
			t.Errorf("%+v", x)
		}
		log, err := r.db.Runs.Entries(t.Context(), r.company, r.last(id).ID)
		if err != nil || len(log) != days+2 || !log[days].At.Equal(due) || !log[days+1].At.Equal(r.now()) {
			t.Error(log, err)
		}
	})
}

const orders = `[
	{"http": {"method": "POST", "url": "https://shop.test/{{number}}", "status": "status", "save": {"state": "state"}}},
	{"if": "status == '200'", "then": [{"send_template": {"name": "sent", "language": "en"}}, {"say": "It is {{state}}"}],
		"else": [{"say": "status {{status}}"}]}
]`

func TestEffectsHappenOnceOrAreUnknown(t *testing.T) {
	begin := func(t *testing.T, r *rig) string {
		t.Helper()
		r.lay("order", flow.Trigger{Keywords: []string{"order"}}, orders)
		id := r.open()
		r.say(id, "1", "order")
		if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
			t.Fatal(err)
		}
		return id
	}
	work := func(t *testing.T, s *Conversations) {
		t.Helper()
		if _, err := s.Runner.work(t.Context()); err != nil {
			t.Error(err)
		}
	}
	onBoth(t, func(t *testing.T, r *rig) {
		id := begin(t, r)
		r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
			if e.HTTP != nil {
				return flow.Values{"status": "200", "state": "on its way"}, "200", false, nil
			}
			return nil, "accepted", false, nil
		}
		nodes := []*Conversations{r.Conversations, r.node(), r.node()}
		for range 2 {
			var all sync.WaitGroup
			for _, s := range nodes { // at the same time
				all.Go(func() { work(t, s) })
			}
			all.Wait()
		}
		if x := r.last(id); x.State != string(flow.Completed) || x.Variables["state"] != "on its way" {
			t.Errorf("%+v", x)
		}
		if got := r.laid.effects(); len(got) != 2 || !strings.HasSuffix(got[0], " http") || !strings.HasSuffix(got[1], " send_template") {
			t.Error(got)
		}
	})
	t.Run("a node that dies", func(t *testing.T) {
		r := newRig(t, store.Options{})
		id := begin(t, r)
		x := r.last(id)
		if _, err := r.Runner.postpone(t.Context(), x, effectLease, true); err != nil { // the state at the crash
			t.Fatal(err)
		}
		work(t, r.node())
		if got := r.laid.effects(); len(got) > 0 {
			t.Error("it is done while its node may be doing it:", got)
		}
		r.pass(effectLease)
		work(t, r.node())
		if got := r.laid.effects(); len(got) > 0 {
			t.Error("it is done again:", got)
		}
		if x := r.last(id); x.Variables["status"] != flow.OutcomeUnknown || r.turns(id)[1] != "agent status unknown" {
			t.Errorf("%+v %q", x, r.turns(id))
		}
	})
	t.Run("a template is repeated with its key", func(t *testing.T) {
		r := newRig(t, store.Options{})
		id := begin(t, r)
		fails := true
		r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
			if e.HTTP != nil {
				return flow.Values{"status": "200"}, "200", false, nil
			}
			if fails {
				return nil, "", false, errors.New("the database is away")
			}
			return nil, "accepted", false, nil
		}
		work(t, r.Conversations)
		work(t, r.Conversations)
		fails = false
		r.pass(effectRetry)
		work(t, r.node())
		got := r.laid.effects()
		if len(got) != 3 || got[1] != got[2] || r.last(id).State != string(flow.Completed) {
			t.Error(got, r.last(id).State)
		}
	})
	t.Run("a template whose key is not known any more", func(t *testing.T) {
		for name, fails := range map[string]bool{"its node died": false, "its node got an error": true} {
			r := newRig(t, store.Options{})
			id := begin(t, r)
			r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
				if e.HTTP == nil {
					return nil, "", false, errors.New("the database is away")
				}
				return flow.Values{"status": "200"}, "200", false, nil
			}
			work(t, r.Conversations)
			x := r.last(id)
			if fails {
				work(t, r.Conversations)
			} else if _, err := r.Runner.postpone(t.Context(), x, effectLease, true); err != nil {
				t.Fatal(err)
			}
			done := len(r.laid.effects())
			r.pass(24 * time.Hour)
			work(t, r.node())
			log, err := r.db.Runs.Entries(t.Context(), r.company, x.ID)
			if got := r.laid.effects(); len(got) != done || err != nil || !strings.Contains(log[len(log)-2].Text, "unknown") {
				t.Error(name, got, log, err)
			}
			if x := r.last(id); x.State != string(flow.Completed) {
				t.Errorf("%s: %+v", name, x)
			}
		}
	})
	t.Run("a template that was not begun", func(t *testing.T) {
		r := newRig(t, store.Options{})
		id := begin(t, r)
		work(t, r.Conversations)
		r.pass(48 * time.Hour)
		work(t, r.node())
		if got := r.laid.effects(); len(got) != 2 || r.last(id).State != string(flow.Completed) {
			t.Error(got, r.last(id).State)
		}
	})
	t.Run("what cannot be done", func(t *testing.T) {
		r := newRig(t, store.Options{})
		id := begin(t, r)
		r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
			if e.HTTP != nil {
				return flow.Values{"status": "200"}, "200", false, nil
			}
			return nil, "There is no template sent", true, nil
		}
		work(t, r.Conversations)
		work(t, r.Conversations)
		if x := r.last(id); x.State != string(flow.Failed) || x.Error != "steps.1.then.0: There is no template sent" ||
			r.find(id).State != chats.Missed {
			t.Errorf("%+v", x)
		}
	})
}

// Long effects, even many of them, delay no timers and no other effects.
func TestALongEffectHoldsUpNobody(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("slow", flow.Trigger{Keywords: []string{"slow"}},
		`[{"http": {"method": "POST", "url": "https://slow.test/", "status": "status"}}, {"say": "{{status}}"}]`)
	r.lay("fast", flow.Trigger{Keywords: []string{"fast"}},
		`[{"http": {"method": "POST", "url": "https://fast.test/"}}, {"wait": "1s"}, {"say": "done"}]`)
	slow, released := 0, make(chan struct{})
	r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
		if e.HTTP.URL == "https://slow.test/" {
			r.mu.Lock()
			slow++
			r.mu.Unlock()
			<-released
		}
		return e.Values("200"), "200", false, nil
	}
	r.run()
	var all []string
	for range flowWorkers + 4 {
		id := r.open()
		r.say(id, "1", "slow")
		all = append(all, id)
	}
	r.within("the effects", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slow == len(all)
	})
	id := r.open()
	r.say(id, "1", "fast")
	r.waitState(id, flow.Waiting)
	r.pass(time.Second)
	r.waitState(id, flow.Completed)
	for _, id := range all {
		if x := r.last(id); x.State != string(flow.Calling) {
			t.Errorf("%+v", x)
		}
	}
	close(released)
	for _, id := range all {
		r.waitState(id, flow.Completed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slow != len(all) {
		t.Errorf("%d effects of %d runs", slow, len(all))
	}
}

// After an effect ends, the node looks for others at once: one may have been due while its company was at its limit.
func TestAnEffectThatEndsHasTheNextOneBegin(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("order", flow.Trigger{Keywords: []string{"order"}}, `[{"http": {"method": "POST", "url": "https://shop.test/"}}]`)
	r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
		return e.Values("200"), "200", false, nil
	}
	id := r.open()
	r.say(id, "1", "order")
	if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
		t.Fatal(err)
	}
	rounds := r.Runner.rounds
	if err := rounds.effects.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-rounds.called // the signal that the effect was due
	rounds.effects.Wait()
	if x := r.last(id); x.State != string(flow.Completed) || len(rounds.called) != 1 {
		t.Errorf("%+v, and nobody looks for others", x)
	}
}

// Runs that cannot continue are postponed: they keep no worker busy, and continue once that is possible.
func TestARunThatFailsIsPutOff(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, `[{"wait": "1s"}, {"say": "done"}]`)
	id := r.open()
	r.say(id, "1", "begin")
	if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
		t.Fatal(err)
	}
	r.pass(time.Second)
	broken, good := r.node(), r.node()
	broken.Runner.o.Agents = brokenAgents{r.agent}
	for range 2 {
		if _, err := broken.Runner.work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if x := r.last(id); x.State != string(flow.Waiting) || !x.Due.Equal(r.now().Add(effectRetry)) {
		t.Errorf("%+v", x)
	}
	r.pass(effectRetry)
	if _, err := good.Runner.work(t.Context()); err != nil || r.last(id).State != string(flow.Completed) {
		t.Errorf("%+v %v", r.last(id), err)
	}
}

type brokenAgents struct{ Agents }

// TalkingAgent implements Agents.
func (brokenAgents) TalkingAgent(context.Context, string, string) (*agent.Agent, string, error) {
	return nil, "", errors.New("the database is away")
}

// A flow that an earlier version stored with a too large pattern fails, and its run shows the reason.
func TestARunThatWorksTooMuchEndsAsFailed(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		costly := r.lay("costly", flow.Trigger{Keywords: []string{"begin"}}, `[{"ask": "x", "question": "Which?"}, {"say": "One"}]`)
		matches := flow.Step{If: "x matches '([a-z]{30}){29}'"}
		large := r.lay("large", flow.Trigger{Keywords: []string{"start"}}, `[{"say": "One"}]`)
		r.laid.mu.Lock()
		costly.Steps = append(costly.Steps[:1:1], matches, matches, flow.Step{Say: "Two"})
		large.Steps = []flow.Step{{If: "x matches 'a{600}b{600}'"}, {Say: "Two"}}
		r.laid.mu.Unlock()
		reply := func(id, n, text string) {
			t.Helper()
			r.say(id, n, text)
			if _, _, err := r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		id := r.open()
		reply(id, "1", "begin")
		reply(id, "2", strings.Repeat("a", 4000))
		if x := r.last(id); x.State != string(flow.Failed) || !strings.HasPrefix(x.Error, "steps.2: it takes too much work") ||
			r.find(id).State != chats.Missed {
			t.Errorf("%s %q, %s", x.State, x.Error, r.find(id).State)
		}
		id = r.open()
		reply(id, "1", "start")
		if x := r.last(id); x.State != string(flow.Failed) ||
			!strings.HasPrefix(x.Error, "steps.0: The condition cannot be evaluated: a pattern may have") {
			t.Errorf("%s %q", x.State, x.Error)
		}
	})
}
