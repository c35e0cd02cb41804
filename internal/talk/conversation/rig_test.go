package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/storetest"
)

// rig holds conversations on a separate database, with a company, three teammates, and an agent whose replies the test
// controls.
type rig struct {
	*Conversations
	t        *testing.T
	db       *store.Store
	company  string
	ana, ben By
	cat      By
	agent    *script
	laid     *laid
	toolbox  agent.Toolbox

	mu        sync.Mutex
	clock     time.Time
	passing   []events.Event // published, not stored
	visitor   int
	suspended atomic.Bool
	spoke     int // calls of the OnSpoke callback
}

func newRig(t *testing.T, o store.Options) *rig {
	t.Helper()
	if o.DatabaseURL == "" {
		o.Dir = t.TempDir()
	}
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &rig{
		t: t, db: s, company: carillon.NewID(time.Now()), clock: time.UnixMilli(1_800_000_000_000).UTC(), agent: &script{}, laid: &laid{},
	}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		all := []error{accounts.PutCompany(ctx, tx, &carillon.Company{ID: r.company, Name: "Acme"}, r.clock)}
		for name, by := range map[string]*By{"Ana": &r.ana, "Ben": &r.ben, "Cat": &r.cat} {
			a := &accounts.Account{Email: name + r.company + "@acme.test", Name: name}
			all = append(all, accounts.PutAccount(ctx, tx, a, r.clock),
				accounts.PutMembership(ctx, tx, accounts.Membership{AccountID: a.ID, CompanyID: r.company, Role: "teammate"}))
			*by = By{r.company, a.ID, name}
		}
		return errors.Join(all...)
	}); err != nil {
		t.Fatal(err)
	}
	r.Conversations = r.node()
	return r
}

// node returns another node on the rig's database.
func (r *rig) node() *Conversations {
	c := New(Options{
		Store: r.db, Agents: r.agent, Thinker: r.agent, Toolbox: r.toolbox, Publisher: r, Log: slog.New(slog.DiscardHandler), Now: r.now,
		MissedAfter: 5 * time.Minute,
		Flows:       r.laid, Effects: r.laid, Runs: r.db.Runs, Node: "node",
		Suspended: func(context.Context, string) (bool, error) { return r.suspended.Load(), nil },
	})
	c.OnSpoke(r.speaks)
	return c
}

// work performs all due work and returns the time of the next run.
func (s *Runner) work(ctx context.Context) (time.Time, error) {
	next, err := s.rounds.times(ctx)
	err = errors.Join(err, s.rounds.effects.Begin(ctx))
	s.rounds.effects.Wait()
	return next, err
}

func (r *rig) speaks() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spoke++
}

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newRig(t, store.Options{})) })
	t.Run("postgres", func(t *testing.T) { test(t, newRig(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)})) })
}

func (r *rig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = r.clock.Add(d)
}

// Publish implements Publisher.
func (r *rig) Publish(all ...*events.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range all {
		r.passing = append(r.passing, *e)
	}
}

// presences returns and clears the payloads of presence events.
func (r *rig) presences() (all []PresenceView) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.passing {
		if e.Kind == "presence" {
			var p PresenceView
			_ = json.Unmarshal(e.Payload, &p)
			all = append(all, p)
		}
	}
	r.passing = nil
	return all
}

// run runs the conversations until the test ends.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = r.Run(ctx) })
	r.t.Cleanup(func() {
		cancel()
		done.Wait()
	})
}

// open opens the conversation of a new visitor.
func (r *rig) open() string {
	r.t.Helper()
	r.visitor++
	return r.openAs(fmt.Sprintf("visitor-%d", r.visitor), false).ID
}

func (r *rig) openAs(visitor string, anew bool) *chats.Conversation {
	r.t.Helper()
	c, _, err := r.Open(r.t.Context(), Start{
		Contact: chats.Contact{CompanyID: r.company, WidgetID: "w", VisitorID: visitor}, Channel: "web_chat", AgentID: "a",
		Language: "en", Anew: anew,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) say(id, clientID, text string) *chats.Turn {
	r.t.Helper()
	turn, _, err := r.Say(r.t.Context(), r.company, id, Said{ClientID: clientID, Kind: chats.KindText, Text: text})
	if err != nil {
		r.t.Fatal(err)
	}
	return turn
}

func (r *rig) must(c *chats.Conversation, err error) *chats.Conversation {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) find(id string) *chats.Conversation {
	r.t.Helper()
	return r.must(r.store.Chats.Find(r.t.Context(), r.company, id))
}

// turns returns the turns of a conversation, one per line, without the event that a run began (see began).
func (r *rig) turns(id string) (all []string) {
	r.t.Helper()
	turns, err := r.store.Chats.Turns(r.t.Context(), r.company, id, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for i, turn := range turns {
		if turn.Seq != int64(i+1) {
			r.t.Errorf("turn %d has seq %d", i+1, turn.Seq)
		}
		if turn.Extra.Event == FlowBegan {
			continue
		}
		text := turn.Text
		if turn.Kind == chats.KindEvent {
			text = turn.Extra.Event
		}
		all = append(all, string(turn.Author)+" "+text)
	}
	return all
}

// began returns the runs named by a conversation's events, each with its flow.
func (r *rig) began(id string) (all []string) {
	r.t.Helper()
	turns, err := r.store.Chats.Turns(r.t.Context(), r.company, id, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, turn := range turns {
		if turn.Extra.Event == FlowBegan {
			all = append(all, turn.Text+" "+turn.Extra.Run)
		}
	}
	return all
}

// within waits until a condition holds.
func (r *rig) within(what string, holds func() bool) {
	r.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			r.t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// script is an agent whose replies a test provides.
type script struct {
	mu    sync.Mutex
	reply func(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error
	agent *agent.Agent // nil: Robin, without a form
	begun []*agent.Request
	gone  bool
	fault error // of TalkingAgent
}

func (s *script) set(reply func(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = reply
}

// TalkingAgent implements Agents.
func (s *script) TalkingAgent(context.Context, string, string) (*agent.Agent, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, "", carillon.Absent("Agent")
	}
	if s.fault != nil {
		return nil, "", s.fault
	}
	if s.agent != nil {
		return s.agent, "Acme", nil
	}
	return &agent.Agent{Name: "Robin"}, "Acme", nil
}

// Reply implements agent.Thinker.
// Begin implements agent.Ahead.
func (s *script) Begin(_ context.Context, r *agent.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = append(s.begun, r)
}

func (s *script) Reply(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error {
	s.mu.Lock()
	reply := s.reply
	s.mu.Unlock()
	return reply(ctx, r, emit)
}
