package conversation

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// laid holds the flows of a company and records their effects.
type laid struct {
	mu    sync.Mutex
	flows []*flow.Flow
	done  []string // effects, each as "key kind"
	do    func(ctx context.Context, key string, e *flow.Effect) (flow.Values, string, bool, error)
}

// Flows implements Flows.
func (l *laid) Flows(context.Context, string) (all []flow.Listed, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flows {
		all = append(all, f.Listed())
	}
	return all, nil
}

// Flow implements Flows.
func (l *laid) Flow(_ context.Context, _, id string) (*flow.Flow, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flows {
		if f.ID == id {
			return f, nil
		}
	}
	return nil, carillon.Absent("Flow")
}

// Do implements Effects.
func (l *laid) Do(ctx context.Context, who EffectFor, e *flow.Effect) (flow.Values, string, bool, error) {
	l.mu.Lock()
	l.done = append(l.done, who.Key+" "+e.Kind())
	do := l.do
	l.mu.Unlock()
	if do == nil {
		return e.Values("200"), "200", false, nil
	}
	return do(ctx, who.Key, e)
}

func (l *laid) effects() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.done)
}

// lay adds a flow to the company.
func (r *rig) lay(name string, t flow.Trigger, steps string) *flow.Flow {
	r.t.Helper()
	f := &flow.Flow{ID: carillon.NewID(r.now()), Name: name, Trigger: t}
	if err := json.Unmarshal([]byte(steps), &f.Steps); err != nil {
		r.t.Fatal(err)
	}
	if err := f.Validate(); err != nil {
		r.t.Fatal(err)
	}
	r.laid.mu.Lock()
	defer r.laid.mu.Unlock()
	r.laid.flows = append(r.laid.flows, f)
	return f
}

func (r *rig) last(id string) *chats.Run {
	r.t.Helper()
	all, err := r.db.Runs.OfConversation(r.t.Context(), r.company, id, 1)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(all) == 0 {
		return &chats.Run{}
	}
	return all[0]
}

func (r *rig) waitState(id string, state flow.State) {
	r.t.Helper()
	r.within("the run is "+string(state), func() bool { return r.last(id).State == string(state) })
}

const received = `[
	{"say": "Hello {{first_name}}, did you get order {{order}}?"}, {"ask": "received", "choices": ["yes", "no"]},
	{"if": "received == 'no'", "then": [{"handoff": "support"}], "else": [{"say": "Thank you!"}]}
]`

var shipped = &chats.Bound{
	Event: "order-shipped", NotificationID: "n1", Values: map[string]string{"first_name": "Eva", "order": "17", "not a name": "x"},
}

func TestTheReplyToANotificationStartsItsFlow(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("follow-up", flow.Trigger{Event: "order-shipped"}, received)
		r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
			return emit(agent.Action{Say: "I am the agent"})
		})
		r.run()
		id := r.open()
		if _, _, err := r.Say(t.Context(), r.company, id,
			Said{ClientID: "1", Kind: chats.KindText, Text: "Hi", Bound: shipped}); err != nil {
			t.Fatal(err)
		}
		r.waitState(id, flow.Asking)
		if diff := cmp.Diff([]string{"visitor Hi", "agent Hello Eva, did you get order 17?"}, r.turns(id)); diff != "" {
			t.Error(diff)
		}
		r.say(id, "2", "what do you mean")
		r.within("it asks again", func() bool { return len(r.turns(id)) == 4 })
		r.say(id, "3", "Yes!")
		r.waitState(id, flow.Completed)
		r.say(id, "4", "And now?")
		r.within("the agent answers", func() bool { return len(r.turns(id)) == 8 })
		want := []string{
			"visitor Hi", "agent Hello Eva, did you get order 17?", "visitor what do you mean",
			"agent Sorry, I didn't catch that.\nHello Eva, did you get order 17?", "visitor Yes!", "agent Thank you!",
			"visitor And now?", "agent I am the agent",
		}
		if diff := cmp.Diff(want, r.turns(id)); diff != "" {
			t.Error(diff)
		}
		x := r.last(id)
		if x.Event != "order-shipped" || x.NotificationID != "n1" || x.Cause != "event" || x.Variables["received"] != "yes" ||
			x.Version != 1 {
			t.Errorf("%+v", x)
		}
		log, err := r.db.Runs.Entries(t.Context(), r.company, x.ID)
		var kinds []string
		for _, e := range log {
			kinds = append(kinds, e.Path+" "+e.Kind)
		}
		steps := []string{"steps.0 say", "steps.1 ask", "steps.1 retry", "steps.1 response", "steps.2 if", "steps.2.else.0 say"}
		if diff := cmp.Diff(steps, kinds); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

func TestWhatStartsAFlow(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("word", flow.Trigger{Keywords: []string{"Menú"}}, `[{"say": "The menu"}]`)
	r.lay("widget", flow.Trigger{Widget: "shop"}, `[{"say": "Welcome"}, {"ask": "name"}]`)
	r.lay("inbound", flow.Trigger{Inbound: true}, `[{"say": "We got it"}]`)
	r.agent.set(func(_ context.Context, _ *agent.Request, emit func(agent.Action) error) error {
		return emit(agent.Action{Say: "agent"})
	})
	r.run()
	id := r.open()
	r.say(id, "1", "  menu! ")
	r.within("the keyword", func() bool { return len(r.turns(id)) == 2 })
	r.say(id, "2", "the menu please")
	r.within("the agent", func() bool { return len(r.turns(id)) == 4 })
	if _, _, err := r.Say(t.Context(), r.company, id, Said{
		ClientID: "3", Kind: chats.KindText, Text: "Hi", Bound: &chats.Bound{Event: "unknown"},
	}); err != nil {
		t.Fatal(err)
	}
	r.within("the agent, for an event of no flow", func() bool { return len(r.turns(id)) == 6 })
	if diff := cmp.Diff([]string{"agent The menu", "agent agent", "agent agent"},
		[]string{r.turns(id)[1], r.turns(id)[3], r.turns(id)[5]}); diff != "" {
		t.Error(diff)
	}
	shop, _, err := r.Open(t.Context(), Start{
		Contact: chats.Contact{CompanyID: r.company, WidgetID: "shop", VisitorID: "x"}, Channel: "web_chat", AgentID: "a", Language: "en",
	})
	if err != nil {
		t.Fatal(err)
	}
	r.waitState(shop.ID, flow.Asking)
	if diff := cmp.Diff([]string{"agent Welcome"}, r.turns(shop.ID)); diff != "" {
		t.Error(diff)
	}
	r.agent.mu.Lock()
	r.agent.gone = true
	r.agent.mu.Unlock()
	in, _, err := r.Open(t.Context(), Start{
		Contact: chats.Contact{CompanyID: r.company, VisitorID: "tel:1"}, Channel: "whatsapp", Language: "en",
	})
	if err != nil {
		t.Fatal(err)
	}
	r.say(in.ID, "1", "Hello")
	r.waitState(in.ID, flow.Completed)
	r.say(in.ID, "2", "Hello again")
	r.within("it begins again", func() bool { return len(r.turns(in.ID)) == 4 })
}

// A node dies after creating a conversation and before starting its widget's flow. The flow starts once when the page
// asks again.
func TestTheFlowOfAWidgetBeginsAfterACrash(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("widget", flow.Trigger{Widget: "w"}, `[{"say": "Welcome"}, {"ask": "name"}]`)
		in := chats.Open{
			Contact: chats.Contact{ID: carillon.NewID(r.now()), CompanyID: r.company, WidgetID: "w", VisitorID: "visitor"}, Now: r.now(),
			Conversation: chats.Conversation{
				ID: carillon.NewID(r.now()), Channel: "web_chat", WidgetID: "w", AgentID: "a", State: chats.Automated, Language: "en",
			},
		}
		if err := r.db.Chats.Open(t.Context(), &in); err != nil {
			t.Fatal(err)
		}
		r.run()
		var all sync.WaitGroup
		for _, s := range []*Conversations{r.Conversations, r.node(), r.node()} { // several pages of one visitor
			all.Go(func() {
				c, _, err := s.Open(t.Context(), Start{
					Contact: chats.Contact{CompanyID: r.company, WidgetID: "w", VisitorID: "visitor"}, Channel: "web_chat",
					AgentID: "a", Language: "en",
				})
				if err != nil || c.ID != in.Conversation.ID {
					t.Error(c, err)
				}
			})
		}
		all.Wait()
		id := in.Conversation.ID
		if !r.last(id).Open {
			t.Fatal("the flow did not begin")
		}
		// The reply may belong to another node.
		if err := r.replies.takeOver(t.Context(), r.now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		r.waitState(id, flow.Asking)
		r.openAs("visitor", false)
		if diff := cmp.Diff([]string{"agent Welcome"}, r.turns(id)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAFlowEndsWhereAPersonTakesOver(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(r *rig, id string)
		state flow.State
	}{
		"a teammate takes it":       {func(r *rig, id string) { r.must(r.Desk.Take(t.Context(), r.ana, id, "")) }, flow.Stopped},
		"the contact leaves":        {func(r *rig, id string) { r.must(r.Leave(t.Context(), r.company, id)) }, flow.Stopped},
		"the contact asks":          {func(r *rig, id string) { r.must(r.Ask(t.Context(), r.company, id, "", true)) }, flow.Stopped},
		"the contact asks in words": {func(r *rig, id string) { r.say(id, "2", "I want to talk to a person") }, flow.HandedOff},
		"the contact says stop": {func(r *rig, id string) {
			if err := r.Runner.Stop(t.Context(), r.company, id, "STOP"); err != nil {
				t.Error(err)
			}
		}, flow.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, store.Options{})
			r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, received)
			r.run()
			id := r.open()
			r.say(id, "1", "begin")
			r.waitState(id, flow.Asking)
			c.do(r, id)
			r.waitState(id, c.state)
			if x := r.last(id); x.Open || !x.Due.IsZero() {
				t.Errorf("%+v", x)
			}
			log, err := r.db.Runs.Entries(t.Context(), r.company, r.last(id).ID)
			if last := log[len(log)-1].Kind; err != nil || last != "stopped" && last != "handoff" {
				t.Error(log, err)
			}
		})
	}
}

func TestARunGoesOnWithTheStepsItBeganWith(t *testing.T) {
	r := newRig(t, store.Options{})
	f := r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, `[{"say": "One?"}, {"ask": "x"}, {"say": "first"}]`)
	r.run()
	id := r.open()
	r.say(id, "1", "begin")
	r.waitState(id, flow.Asking)
	changed := *f
	changed.Steps = []flow.Step{{Say: "another"}}
	r.laid.mu.Lock()
	r.laid.flows = []*flow.Flow{&changed}
	r.laid.mu.Unlock()
	r.say(id, "2", "go on")
	r.waitState(id, flow.Completed)
	r.say(id, "3", "begin")
	r.within("the next run", func() bool { return len(r.turns(id)) == 6 })
	if got := r.turns(id); got[3] != "agent first" || got[5] != "agent another" || r.last(id).Version != 2 {
		t.Errorf("%q, version %d", got, r.last(id).Version)
	}
}

// Messages in a conversation over a channel are sent at once: the callback is called for them, and not for turns that
// need no sending.
func TestTheSenderLearnsOfWhatIsSaid(t *testing.T) {
	r := newRig(t, store.Options{})
	r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, `[{"say": "One?"}, {"ask": "x"}, {"wait": "1s"}]`)
	for i, c := range []struct {
		channel string
		want    int
	}{{"web_chat", 0}, {"whatsapp", 1}} {
		in, _, err := r.Open(t.Context(), Start{
			Contact: chats.Contact{CompanyID: r.company, VisitorID: c.channel}, Channel: c.channel, AgentID: "a", Language: "en",
		})
		if err != nil {
			t.Fatal(err)
		}
		for n, text := range []string{"begin", "go on"} { // the second gets no reply
			r.say(in.ID, string(rune('1'+n)), text)
			if _, _, err := r.replies.replyTo(t.Context(), job{r.company, in.ID}, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if x := r.last(in.ID); r.spoke != c.want || x.State != string(flow.Waiting) {
			t.Errorf("%d: %s: learned of it %d times, the run is %s", i, c.channel, r.spoke, x.State)
		}
	}
}
