package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/event/realtime"
	"carillon/internal/queue"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// fakeProvider is a channel whose responses a test decides. It records every send.
type fakeProvider struct {
	mu     sync.Mutex
	sent   []sending
	quiet  bool // count sends only
	n      int
	decide func(m *provider.Outgoing) provider.Outcome
}

type sending struct {
	provider.Outgoing
	at time.Time
}

func (p *fakeProvider) Send(_ context.Context, _ *carillon.Sender, m *provider.Outgoing) provider.Outcome {
	p.mu.Lock()
	p.n++
	if !p.quiet {
		p.sent = append(p.sent, sending{*m, time.Now()})
	}
	decide := p.decide
	p.mu.Unlock()
	if decide == nil {
		return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.String()}
	}
	return decide(m)
}

// always gives every send the same outcome.
func (p *fakeProvider) always(o provider.Outcome) {
	p.decide = func(*provider.Outgoing) provider.Outcome { return o }
}

func (p *fakeProvider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

func (p *fakeProvider) all() []sending {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]sending(nil), p.sent...)
}

// rig is a store, a queue and a Notify, wired as in package app, with one company, one sender and one template.
type rig struct {
	t         *testing.T
	store     *store.Store
	notify    *notify.Notify
	queue     *queue.Queue
	provider  *fakeProvider
	company   *carillon.Company
	sender    *carillon.Sender
	template  *carillon.Template
	media     mediaFunc
	portfolio func(*carillon.Sender) string
	accepted  func(id string) // called for each stored notification
	bus       *realtime.Bus   // carries wake-ups to other nodes; nil except in nodes_test.go
}

type mediaFunc func(ctx context.Context, format, url string) (rejected bool, err error)

func (f mediaFunc) CheckMedia(ctx context.Context, _, format, url string) (bool, error) {
	return f(ctx, format, url)
}

// observer passes stored notifications to the rig.
type observer struct{ r *rig }

func (o observer) Accepted(_ context.Context, x *messages.Notification, _ time.Time) {
	if o.r.accepted != nil {
		o.r.accepted(x.ID)
	}
}
func (observer) Delivered(notify.Delivered)                   {}
func (observer) Received(context.Context, []provider.Receipt) {}
func (observer) Reconciled(int, int)                          {}
func (observer) Fallback(messages.FallbackState)              {}

func sqlite(t *testing.T) store.Options { return store.Options{Dir: storetest.Folder(t)} }

func postgres(t *testing.T) store.Options {
	return store.Options{DatabaseURL: storetest.PatientPostgres(t)}
}

// engines runs a test on both database engines.
func engines(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, sqlite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, postgres(t)) })
}

func newRig(t *testing.T, o store.Options, change func(r *rig)) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, store: s, provider: &fakeProvider{},
		company: &carillon.Company{ID: carillon.NewID(time.Now()), Name: "Acme"},
		sender: &carillon.Sender{
			ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "test", Default: true, MediaCheck: "syntax",
			Unknown: carillon.DefaultUnknownPolicy(), Settings: json.RawMessage(`{}`),
		},
		template: &carillon.Template{
			ID: "100000000000001", Name: "hello", Language: "en", Category: "UTILITY", Status: carillon.TemplateApproved,
			Components: []carillon.Component{{
				Type: content.TypeBody, Text: "Hello {{1}}!", Example: &carillon.ComponentExample{BodyText: [][]string{{"Ana"}}},
			}},
		},
	}
	if change != nil {
		change(r)
	}
	r.setUp()
	log := slog.New(slog.DiscardHandler)
	r.queue = queue.New(s, queue.Options{Log: log})
	s.Templates.CountClicks(linkPrefix)
	opts := notify.Options{
		Senders: map[string]notify.Sender{"test": r.provider}, Observer: observer{r}, Log: log, Portfolio: r.portfolio,
		Links: codecsOf(t, s),
	}
	if r.media != nil {
		opts.Media = r.media
	}
	r.notify = notify.New(s, r.queue, opts)
	return r
}

func (r *rig) setUp() {
	r.t.Helper()
	now := time.Now()
	err := r.store.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := accounts.PutCompany(ctx, tx, r.company, now); err != nil {
			return err
		}
		r.sender.CompanyID = r.company.ID
		if err := settings.PutSender(ctx, tx, r.sender, now); err != nil {
			return err
		}
		r.template.CompanyID, r.template.SenderUID = r.company.ID, r.sender.UID
		if err := content.Compile(r.template); err != nil {
			return err
		}
		return settings.PutTemplate(ctx, tx, r.template, now)
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// start starts the queue and the background work. The returned function stops both and closes the store.
func (r *rig) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = r.queue.Run(ctx) })
	done.Go(func() { _ = r.notify.Run(ctx) })
	rest, end := context.WithCancel(context.Background())
	var bus sync.WaitGroup
	if r.bus != nil {
		bus.Go(func() { _ = r.bus.Run(rest) })
	}
	<-r.queue.Ready()
	return func() {
		cancel()
		done.Wait()
		end()
		bus.Wait()
		if err := r.store.Close(); err != nil {
			r.t.Error(err)
		}
	}
}

// body returns a request to numbers, with further members in extra.
func body(extra string, numbers ...string) []byte {
	contacts := ""
	for i, n := range numbers {
		if i > 0 {
			contacts += ","
		}
		contacts += fmt.Sprintf(`{"number":%q,"name":"Ana"}`, n)
	}
	return []byte(`{"contacts":[` + contacts + `],"recipient_id":"main","name_template":"hello","language_template":"en",` +
		`"notification_type":"utility","campaign_name":"c","components_push":{"body_text_0":"{{name}}"}` + extra + `}`)
}

// submit accepts the body of a request.
func (r *rig) submit(ctx context.Context, b []byte) (notify.Response, error) {
	return r.notify.AcceptBody(ctx, &notify.Submission{Company: r.company, Route: "notify"}, carillon.Messaging, b, false)
}

func (r *rig) accept(b []byte) string {
	r.t.Helper()
	a, err := r.submit(r.t.Context(), b)
	if err != nil {
		r.t.Fatal(err)
	}
	return notificationIn(r.t, a)
}

// notificationIn returns the notification id in a response.
func notificationIn(t *testing.T, a notify.Response) string {
	t.Helper()
	var v struct {
		ID string `json:"notification_id"`
	}
	if err := json.Unmarshal(a.JSON, &v); err != nil {
		t.Fatal(err)
	}
	return v.ID
}

func (r *rig) view(id string) *notify.View {
	r.t.Helper()
	v, _, err := notify.Sent{Store: r.store}.Find(context.Background(), r.company.ID, id, 0, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// await waits until the condition holds. It checks the condition whenever the provider or the store may have changed.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

func replace(s, old, with string) string { return strings.ReplaceAll(s, old, with) }
