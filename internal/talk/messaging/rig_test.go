package messaging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/talk/flow"
	"carillon/internal/talk/messaging"
)

// rig is a node of Messaging with its conversations on a separate database, with one company and one sender.
type rig struct {
	*messaging.Messaging
	t       *testing.T
	db      *store.Store
	talks   *conversation.Conversations
	company *carillon.Company
	sender  *carillon.Sender
	files   *files.Files
	channel *channel
	flows   flows
	log     log
	counts  counts
	agent   string        // of the sender; empty means none
	thinker agent.Thinker // of the agent
	bubble  bool          // time is faked
	halt    func()        // stops the node
	kill    func()        // simulates a crash: the node does nothing more, except finish its pending calls
	over    chan struct{} // closed when the test ends
	node    string        // ID of the node
	alone   bool          // there is no other node

	suppressing func() error // called before a number is suppressed
	binding     func() error // called before the lookup of the notifications that a message may answer
	removed     atomic.Bool  // the sender is unknown

	mu      sync.Mutex
	ahead   time.Duration // offset of the clock
	stands  time.Time     // time at which the clock stands still; zero while it runs
	screens []events.Event
	bound   map[string][]*chats.Bound // by number: the notifications that it may reply to, newest first

	portfolios map[string]string // of senders, by ID
	sent       map[string]string // by provider ID: the text of a notification as the person saw it
}

// onBoth runs a test on both databases, on SQLite with faked time.
func onBoth(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { onSQLite(t, test) })
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)})
		defer r.stop()
		test(t, r)
	})
}

// onSQLite runs a test on SQLite with faked time.
func onSQLite(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir})
		r.bubble = true
		defer r.stop() // inside the bubble, which waits for its goroutines
		test(t, r)
	})
}

func newRig(t *testing.T, o store.Options) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, db: s, thinker: robin{}, halt: func() {}, over: make(chan struct{}), suppressing: func() error { return nil },
		binding: func() error { return nil },
		channel: &channel{busy: map[string]bool{}, posts: map[string][]post{}, files: map[string]*file{}},
		company: &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Acme"}, bound: map[string][]*chats.Bound{},
		sent:       map[string]string{},
		portfolios: map[string]string{"main": "2000001"},
	}
	r.sender = r.addSender(r.company, "main")
	r.flows.lay("echo", flow.Trigger{Keywords: []string{"echo"}}, `[{"say": "What?"}, {"ask": "what"}, {"say": "{{what}}"}]`)
	r.build()
	return r
}

// addSender adds a sender of a company, and the company if it is new.
func (r *rig) addSender(c *carillon.Company, id string) *carillon.Sender {
	r.t.Helper()
	s := &carillon.Sender{
		CompanyID: c.ID, ID: id, Number: map[string]string{"main": "15555550100", "side": "15555550101"}[id],
		Channel: carillon.Messaging, Provider: "test", Default: true, MediaCheck: "syntax",
		Unknown: carillon.DefaultUnknownPolicy(), Settings: json.RawMessage(`{}`),
	}
	err := r.db.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutCompany(ctx, tx, c, r.now()), settings.PutSender(ctx, tx, s, r.now()))
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// build builds a node: Messaging and its conversations.
func (r *rig) build() {
	r.node = carillon.NewID(time.Now())
	if err := r.db.Nodes.Join(r.t.Context(), r.node, "node"); err != nil {
		r.t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	never := func(context.Context, string) (bool, error) { return false, nil }
	r.talks = conversation.New(conversation.Options{
		Store: r.db, Agents: robin{}, Thinker: r.thinker, Publisher: r, Log: logger, Flows: &r.flows, Effects: &r.flows, Runs: r.db.Runs,
		Now: r.now,
	})
	r.files = files.New(r.db.Files, files.Options{Keys: r.db.Config.Derived, Suspended: never})
	r.Messaging = messaging.New(messaging.Options{
		Store: r.db.Replies, Chats: r.db.Chats, Contacts: r.db.Contacts, Conversations: r.talks, Agents: robin{},
		Files:    r.files,
		Channels: map[string]messaging.Channel{"test": r.channel}, Sender: r.senderBy, Senders: r.db.Senders.SendersNamed,
		AgentOf: func(*carillon.Sender) string { return r.agent },
		Bound:   r.boundOf, Sent: r.sentAs, Begun: r.db.Runs.Begun,
		Portfolio: func(s *carillon.Sender) string { return r.portfolios[s.ID] },
		Suppress: func(ctx context.Context, companyID string, addresses ...string) error {
			if err := r.suppressing(); err != nil {
				return err
			}
			return r.db.Suppressions.Suppress(ctx, companyID, settings.SuppressAll, "asked in a message", r.now(), addresses...)
		},
		Lift: func(ctx context.Context, companyID string, who identity.Key) error {
			_, err := r.db.Suppressions.Unsuppress(ctx, companyID, who)
			return err
		},
		Suppressed: func(ctx context.Context, companyID string, who identity.Key) (bool, error) {
			return r.suppressed(ctx, companyID, who.String())
		},
		FileURL: func(_ context.Context, _ string, f *chats.File) (string, error) {
			return "https://files.test/" + f.ID, nil
		},
		Publisher: r, Log: logger, Now: r.now, Node: r.node, Alone: r.alone, Observer: &r.counts,
	})
}

// run starts the node, which runs until stop.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	var all sync.WaitGroup
	all.Go(func() { _ = r.talks.Run(ctx) })
	all.Go(func() { _ = r.Messaging.Run(ctx) })
	before := r.halt
	r.halt = func() {
		cancel()
		before()
		all.Wait()
		r.halt = func() {}
	}
	r.kill = cancel
}

// stop stops the node and closes the database.
func (r *rig) stop() {
	close(r.over)
	r.halt()
	for _, fault := range r.channel.faults {
		r.t.Error(fault)
	}
	if err := r.db.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stands.IsZero() {
		return r.stands.Add(r.ahead)
	}
	return time.Now().Add(r.ahead)
}

// stand stops the clock, so that no lease expires.
func (r *rig) stand() {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stands = now
}

// pass advances the clock.
func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ahead += d
}

// until waits until a condition holds.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	every := 5 * time.Millisecond
	if r.bubble {
		every = 50 * time.Millisecond
	}
	look := time.NewTicker(every)
	defer look.Stop()
	hung := time.NewTimer(2 * time.Minute)
	defer hung.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-hung.C:
			r.t.Fatalf("it hangs: %s; the log:\n%s", what, r.log.String())
		}
	}
}

// comeToRest lets everything happen that would happen within a few seconds. Without faked time it does nothing: only
// SQLite tests prove that nothing more happens.
func (r *rig) comeToRest() {
	if r.bubble {
		time.Sleep(3 * time.Second)
		synctest.Wait()
	}
}

// Publish implements conversation.Publisher.
func (r *rig) Publish(all ...*events.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range all {
		r.screens = append(r.screens, *e)
	}
}

func (r *rig) senderBy(ctx context.Context, uid int64) (*carillon.Sender, error) {
	if r.removed.Load() {
		return nil, carillon.Absent("Sender")
	}
	return r.db.Senders.Sender(ctx, uid)
}

// boundOf returns the notifications that a message to a number may reply to.
func (r *rig) boundOf(_ context.Context, _ *carillon.Sender, lines []identity.Key, _ string) (all []*chats.Bound, err error) {
	if err := r.binding(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for number, bound := range r.bound {
		if identity.Has(lines, number) {
			all = append(all, bound...)
		}
	}
	return all, nil
}

// bind sets the notifications that a number may reply to, newest first.
func (r *rig) bind(number string, all ...*chats.Bound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bound[number] = all
}

func (r *rig) sentAs(_ context.Context, _ *carillon.Sender, _ []identity.Key, providerID string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[providerID], nil
}

func (r *rig) suppressed(ctx context.Context, companyID, address string) (bool, error) {
	who := identity.Of(address)
	found, err := r.db.Suppressions.Suppressed(ctx, companyID, carillon.Marketing, []identity.Key{who})
	return found[who], err
}

// log keeps the log output.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// robin is the only agent. It answers for senders whose settings name it.
type robin struct{}

// TalkingAgent implements conversation.Agents.
func (robin) TalkingAgent(_ context.Context, _, id string) (*agent.Agent, string, error) {
	if id != "robin" {
		return nil, "", carillon.Absent("Agent")
	}
	return &agent.Agent{Name: "Robin", Language: "es"}, "Acme", nil
}

// Reply implements agent.Thinker.
func (robin) Reply(_ context.Context, r *agent.Request, emit func(agent.Action) error) error {
	sources := []agent.Source{{Title: "FAQ", URL: "https://acme.test/faq"}, {Title: "a book"}}
	return emit(agent.Action{Say: r.Language + ": " + r.Message(), Sources: sources})
}

// flows are the flows of every company; their effects succeed.
type flows struct {
	mu  sync.Mutex
	all []*flow.Flow
}

// lay adds a flow.
func (f *flows) lay(name string, on flow.Trigger, steps string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := &flow.Flow{ID: carillon.NewID(time.Now()), Name: name, Trigger: on}
	if err := json.Unmarshal([]byte(steps), &x.Steps); err != nil {
		panic(err)
	}
	if err := x.Validate(); err != nil {
		panic(err)
	}
	f.all = append(f.all, x)
}

// Flows implements conversation.Flows.
func (f *flows) Flows(context.Context, string) (all []flow.Listed, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.all {
		all = append(all, x.Listed())
	}
	return all, nil
}

// Flow implements conversation.Flows.
func (f *flows) Flow(_ context.Context, _, id string) (*flow.Flow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.all {
		if x.ID == id {
			return x, nil
		}
	}
	return nil, carillon.Absent("Flow")
}

// Do implements conversation.Effects.
func (f *flows) Do(_ context.Context, _ conversation.EffectFor, e *flow.Effect) (flow.Values, string, bool, error) {
	return e.Values("200"), "200", false, nil
}

// report delivers the channel's report of a reply's states.
func (r *rig) report(s *carillon.Sender, x post, states ...carillon.State) {
	r.t.Helper()
	var all []provider.ReplyReceipt
	for _, state := range states {
		receipt := provider.ReplyReceipt{Ref: x.Ref, ProviderID: x.id, State: state}
		if state == carillon.StateFailed {
			receipt.Reason = provider.ReasonWindowClosed
		}
		all = append(all, receipt)
	}
	if err := r.Receipts(r.t.Context(), s, all); err != nil {
		r.t.Error(err)
	}
}
