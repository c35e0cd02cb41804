package call_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/call/dial"
	"carillon/internal/queue"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// channel is a messaging channel whose outcomes a test decides by number.
type channel map[string]provider.Outcome

// Send implements notify.Sender.
func (c channel) Send(_ context.Context, _ *carillon.Sender, m *provider.Outgoing) provider.Outcome {
	if o, has := c[m.Number]; has {
		return o
	}
	return provider.Outcome{Verdict: provider.Sent, ProviderID: "p" + m.Ref.String()}
}

// messenger is a node that sends messages too.
type messenger struct {
	*node
	notify *notify.Notify
	sender *carillon.Sender
}

// newMessenger returns a node with a messaging sender, a template, a line and an agent. first is a node on the same
// database that has set them up; nil means none.
func newMessenger(t *testing.T, o store.Options, p *phone, c channel, first *messenger) *messenger {
	t.Helper()
	m := &messenger{node: newNode(t, o, p)}
	m.notify = notify.New(m.store, m.queue, notify.Options{
		Senders: map[string]notify.Sender{"test": c}, Log: slog.New(slog.DiscardHandler),
	})
	if first != nil {
		m.company, m.line, m.sender = first.company, first.line, first.sender
	}
	return m
}

func (m *messenger) setUp(change func(c *carillon.Company, line *carillon.Sender)) {
	m.t.Helper()
	m.node.setUp(change)
	m.sender = &carillon.Sender{
		CompanyID: m.company.ID, ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "test", Default: true,
		MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte(`{}`),
	}
	template := &carillon.Template{
		CompanyID: m.company.ID, ID: "100000000000001", Name: "hello", Language: "en", Category: "UTILITY",
		Status: carillon.TemplateApproved, Components: []carillon.Component{{Type: content.TypeBody, Text: "Hello!"}},
	}
	now := time.Now()
	err := m.store.Config.Change(m.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := settings.PutSender(ctx, tx, m.sender, now); err != nil {
			return err
		}
		template.SenderUID = m.sender.UID
		if err := content.Compile(template); err != nil {
			return err
		}
		return settings.PutTemplate(ctx, tx, template, now)
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *messenger) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = m.notify.Run(ctx) })
	stopNode := m.node.start()
	return func() {
		cancel()
		running.Wait()
		stopNode()
	}
}

// send accepts a message with a fallback after a quarter of an hour.
func (m *messenger) send(numbers ...string) string {
	m.t.Helper()
	contacts := ""
	for i, n := range numbers {
		if i > 0 {
			contacts += ","
		}
		contacts += fmt.Sprintf(`{"number":%q,"name":"Ana"}`, n)
	}
	body := fmt.Sprintf(`{"contacts":[%s],"recipient_id":"main","name_template":"hello","language_template":"en",`+
		`"notification_type":"utility","campaign_name":"c",`+
		`"fallback":{"channel":"call","after":"15m","recipient_id":"line","agent_id":%q}}`,
		contacts, agentID)
	company, err := m.store.Accounts.Company(m.t.Context(), m.company.ID)
	if err != nil {
		m.t.Fatal(err)
	}
	r, err := m.notify.AcceptBody(m.t.Context(), &notify.Submission{Company: company}, carillon.Messaging, []byte(body), false)
	if err != nil {
		m.t.Fatal(err)
	}
	return r.ID
}

func (m *messenger) view(id string) *notify.View {
	m.t.Helper()
	v, _, err := notify.Sent{Store: m.store}.Find(context.WithoutCancel(m.t.Context()), m.company.ID, id, 0, 100)
	if err != nil {
		m.t.Fatal(err)
	}
	return v
}

func (m *messenger) reports(id string, n int, s carillon.State) {
	m.t.Helper()
	r := provider.Receipt{Ref: provider.Ref{NotificationID: id, N: n}, State: s, At: time.Now()}
	if s == carillon.StateFailed {
		r.Reason = carillon.ReasonUndeliverable
	}
	if err := m.notify.Receive(m.t.Context(), m.sender, []provider.Receipt{r}); err != nil {
		m.t.Fatal(err)
	}
}

// followUp returns the fallback of a recipient.
func (m *messenger) followUp(id string, n int) notify.FollowUpView {
	m.t.Helper()
	f := m.view(id).Recipients[n].Fallback
	if f == nil {
		m.t.Fatal("no fallback")
	}
	return *f
}

func (m *messenger) is(id string, n int, state messages.FallbackState) func() bool {
	return func() bool { return m.followUp(id, n).State == string(state) }
}

func (m *messenger) sent(id string, n int) func() bool {
	return func() bool { return m.view(id).Recipients[n].State == carillon.StateSent }
}

// decide decides about due fallbacks until ctx ends, even if the node does not own the shards.
func (m *messenger) decide(ctx context.Context) {
	for ctx.Err() == nil {
		now := time.Now()
		due, err := m.store.Fallbacks.Due(ctx, m.company.ID, now, 10)
		steps := make([]messages.FallbackStep, len(due))
		for i := range due {
			steps[i] = messages.FallbackStep{Of: &due[i], DialAt: now}
			steps[i].State, steps[i].Until = due[i].Next(now)
		}
		var written []messages.FallbackStep
		if err == nil {
			written, err = m.store.Fallbacks.Decide(ctx, m.company.ID, steps, 0, now)
		}
		if err != nil && ctx.Err() == nil {
			m.t.Error(err)
		}
		for range written {
			m.queue.Wake(queue.Wake{Kind: queue.Calls, SenderUID: m.line.UID, Class: carillon.Transactional, Due: now})
		}
	}
}

// eventsOf returns the names of a timeline's events.
func eventsOf(v *notify.View) (names []string) {
	for _, e := range v.Timeline {
		names = append(names, e.Name)
	}
	return names
}

func TestACallFollowsAMessageThatIsNotDelivered(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: time.Minute}
		m := newMessenger(t, o, p, channel{"34600111005": {Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable}}, nil)
		m.setUp(nil)
		defer m.start()()
		begin := time.Now()
		never, refused := m.send("34600111001"), m.send("34600111005")
		await(t, "the call after a refusal", m.is(refused, 0, messages.FallbackCalled))
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("it follows after %v", took)
		}
		await(t, "the message", m.sent(never, 0))
		if f := m.followUp(never, 0); f.State != "waiting" || f.DueAt == "" {
			t.Errorf("%+v", f)
		}
		time.Sleep(14 * time.Minute)
		if f := m.followUp(never, 0); f.State != "waiting" || p.count() != 1 {
			t.Errorf("%+v, %d calls", f, p.count())
		}
		time.Sleep(2 * time.Minute)
		await(t, "the call", m.is(never, 0, messages.FallbackCalled))
		await(t, "its end", func() bool { return m.followUp(never, 0).CallState == carillon.StateCompleted })
		m.reports(never, 0, carillon.StateDelivered) // late
		v := m.view(never)
		want := []string{"accepted", "sent", "fallback", "dialed", "rang", "answered", "ended", "completed"}
		if got := eventsOf(v); !slices.Equal(got, want) {
			t.Errorf("timeline %v, want %v", got, want)
		}
		r := v.Recipients[0]
		if v.State != carillon.StateCompleted || v.AgentID != "" || v.Fallback == nil || v.Fallback.After != "15m" ||
			v.Fallback.LineID != "line" || r.State != carillon.StateDelivered || r.Call == nil || r.Call.CallID != r.MessageID ||
			r.Fallback.CallID != r.MessageID {
			t.Errorf("%+v, %+v", v, r)
		}
		calls := notify.Calls{Store: m.store}
		d, err := calls.Call(t.Context(), m.company.ID, r.MessageID)
		if err != nil || d.NotificationID != never || d.RecipientID != "line" || d.AgentID != agentID ||
			d.State != carillon.StateCompleted {
			t.Errorf("%+v, %v", d, err)
		}
		if _, err := calls.Call(t.Context(), carillon.NewID(time.Now()), r.MessageID); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("another company's call: %v", err)
		}
		if p.count() != 2 {
			t.Errorf("%d calls", p.count())
		}
	})
}

func TestNoCallFollowsAMessageThatArrives(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: time.Minute}
		m := newMessenger(t, o, p, nil, nil)
		m.setUp(nil)
		defer m.start()()
		id := m.send("34600111001", "34600111002", "34600111003")
		for n := range 3 {
			await(t, "the message", m.sent(id, n))
		}
		m.reports(id, 0, carillon.StateDelivered)
		m.reports(id, 0, carillon.StateDelivered)
		m.reports(id, 1, carillon.StateRead)
		time.Sleep(14*time.Minute + 55*time.Second)
		m.reports(id, 2, carillon.StateDelivered) // at the last moment
		time.Sleep(time.Hour)
		for n := range 3 {
			if f := m.followUp(id, n); f.State != "not_needed" {
				t.Errorf("%d: %+v", n, f)
			}
		}
		if v := m.view(id); v.State != carillon.StateCompleted || p.count() != 0 {
			t.Errorf("%s, %d calls", v.State, p.count())
		}
	})
}

func TestAReportBeforeTheDialingCancelsTheCallAndALaterOneDoesNot(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: time.Hour, outcome: func(c *dial.Call) dial.Ending {
			if c.Number == "34600111002" && c.Attempt == 1 {
				return dial.Ending{State: carillon.StateBusy, At: time.Now()}
			}
			return dial.Ending{}
		}}
		m := newMessenger(t, o, p, nil, nil)
		m.setUp(func(c *carillon.Company, line *carillon.Sender) { line.MaxConcurrent = 1 })
		defer m.start()()
		id := m.send("34600111001")
		await(t, "the message", m.sent(id, 0))
		time.Sleep(20 * time.Minute)
		await(t, "the call", func() bool { return m.followUp(id, 0).CallState == carillon.StateInProgress })
		m.reports(id, 0, carillon.StateDelivered)
		waits := m.send("34600111003") // the line is taken when it is due
		await(t, "the message", m.sent(waits, 0))
		time.Sleep(20 * time.Minute)
		if f := m.followUp(waits, 0); f.State != "called" || f.CallState != carillon.StateQueued {
			t.Errorf("%+v", f)
		}
		m.reports(waits, 0, carillon.StateDelivered)
		time.Sleep(time.Hour)
		await(t, "the end of the first", func() bool { return m.followUp(id, 0).CallState == carillon.StateCompleted })
		await(t, "that it is canceled", m.is(waits, 0, messages.FallbackNotNeeded))
		if got := eventsOf(m.view(waits)); !slices.Contains(got, "fallback_not_needed") || slices.Contains(got, "dialed") {
			t.Errorf("timeline %v", got)
		}
		busy := m.send("34600111002")
		await(t, "the message", m.sent(busy, 0))
		time.Sleep(16 * time.Minute)
		await(t, "the first attempt", func() bool { return p.count() == 2 })
		m.reports(busy, 0, carillon.StateRead)
		time.Sleep(time.Hour)
		if f := m.followUp(busy, 0); f.CallState != carillon.StateCanceled || f.Reason != carillon.ReasonDelivered || p.count() != 2 {
			t.Errorf("%+v, %d calls", f, p.count())
		}
	})
}

func TestACallThatFollowsIsLikeAnyOther(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: time.Minute}
		m := newMessenger(t, o, p, nil, nil)
		m.setUp(func(c *carillon.Company, _ *carillon.Sender) {
			from := time.Now().UTC().Add(2 * time.Hour)
			c.CallingHours = &carillon.CallingHours{
				Timezone: "UTC", From: from.Format("15:04"), To: from.Add(time.Hour).Format("15:04"),
				Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"},
			}
		})
		defer m.start()()
		id, suppressed := m.send("34600111001"), m.send("34600111002")
		await(t, "the messages", func() bool { return m.sent(id, 0)() && m.sent(suppressed, 0)() })
		err := m.store.Suppressions.Suppress(t.Context(), m.company.ID, settings.SuppressAll, "asked", time.Now(), "34600111002")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if f := m.followUp(id, 0); f.CallState != carillon.StateQueued || p.count() != 0 {
			t.Errorf("outside the calling hours: %+v", f)
		}
		if got := eventsOf(m.view(id)); !slices.Contains(got, "calling_hours") {
			t.Errorf("timeline %v", got)
		}
		time.Sleep(90 * time.Minute)
		await(t, "the call", func() bool { return m.followUp(id, 0).CallState == carillon.StateCompleted })
		await(t, "the other", func() bool { return m.followUp(suppressed, 0).CallState == carillon.StateSkipped })
		if f := m.followUp(suppressed, 0); f.Reason != carillon.ReasonSuppressed || p.count() != 1 {
			t.Errorf("%+v, %d calls", f, p.count())
		}
	})
}

func TestACancelEndsFallbacksAndHangsUp(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: 24 * time.Hour}
		m := newMessenger(t, o, p, channel{"34600111005": {Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable}}, nil)
		m.setUp(nil)
		defer m.start()()
		id := m.send("34600111001", "34600111005")
		await(t, "the call", func() bool { return m.followUp(id, 1).CallState == carillon.StateInProgress })
		got, err := m.notify.Cancel(t.Context(), m.company.ID, id, true)
		if err != nil || *got != (notify.Canceled{ID: id, Sent: 2, Fallbacks: 1, HungUp: 1}) {
			t.Errorf("%+v, %v", got, err)
		}
		await(t, "the end", func() bool { return m.followUp(id, 1).CallState == carillon.StateCompleted })
		time.Sleep(time.Hour)
		if f := m.followUp(id, 0); f.State != "canceled" || p.count() != 1 {
			t.Errorf("%+v, %d calls", f, p.count())
		}
		if v := m.view(id); v.State != carillon.StateCompleted {
			t.Errorf("%s", v.State)
		}
		if _, err := m.notify.Cancel(t.Context(), m.company.ID, id, true); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("again: %v", err)
		}
	})
}

// A node that is killed after it decided has queued the call in the same transaction, and one that is killed before has
// changed nothing: another node goes on.
func TestAnotherNodeGoesOnWithAFallback(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: time.Second}
		m := newMessenger(t, o, p, nil, nil)
		m.setUp(nil)
		stop := m.start()
		id := m.send("34600111001")
		await(t, "the message", m.sent(id, 0))
		stop() // before it is due
		time.Sleep(20 * time.Minute)
		next := newMessenger(t, o, p, nil, m)
		due, err := next.store.Fallbacks.Due(t.Context(), m.company.ID, time.Now(), 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		step := messages.FallbackStep{Of: &due[0], State: messages.FallbackCalled, DialAt: time.Now()}
		if _, err := next.store.Fallbacks.Decide(t.Context(), m.company.ID, []messages.FallbackStep{step}, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := next.store.Close(); err != nil { // between the decision and the call
			t.Fatal(err)
		}
		last := newMessenger(t, o, p, nil, m)
		defer last.start()()
		await(t, "the call", func() bool { return last.followUp(id, 0).CallState == carillon.StateCompleted })
		time.Sleep(time.Hour)
		if p.count() != 1 {
			t.Errorf("%d calls", p.count())
		}
	})
}

func TestTwoNodesPlaceOneCallForEachMessage(t *testing.T) {
	t.Parallel()
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	p := &phone{lasts: 50 * time.Millisecond}
	refused := channel{}
	var numbers []string
	for i := range 40 {
		numbers = append(numbers, fmt.Sprint(34600111000+i))
		refused[numbers[i]] = provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable}
	}
	a := newMessenger(t, o, p, refused, nil)
	a.setUp(nil)
	b := newMessenger(t, o, p, refused, a)
	defer a.start()()
	defer b.start()()
	id := a.send(numbers...)
	rounds, stop := context.WithCancel(t.Context())
	defer stop()
	var both sync.WaitGroup
	for _, m := range []*messenger{a, b} { // both decide, as after a hand-over that only one knows of
		both.Go(func() { m.decide(rounds) })
	}
	await(t, "forty calls", func() bool {
		for _, r := range a.view(id).Recipients {
			if r.Fallback.CallState != carillon.StateCompleted {
				return false
			}
		}
		return true
	})
	stop()
	both.Wait()
	if p.count() != 40 {
		t.Errorf("%d calls for 40 messages", p.count())
	}
}
