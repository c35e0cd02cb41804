package call_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/provider"
	"carillon/internal/base/schedule"
	"carillon/internal/base/share"
	"carillon/internal/call"
	"carillon/internal/call/dial"
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/calls"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// phone is a dialer that counts calls and decides by a function how each ends.
type phone struct {
	mu      sync.Mutex
	now     int
	most    int
	placed  []placed
	lasts   time.Duration
	talk    chan struct{}                  // calls last until it is closed; nil means for lasts
	allowed int                            // concurrent calls of a node; 0 means default
	share   *share.Share                   // of calls; nil means no limit per company
	rings   string                         // number that rings until it is hung up
	outcome func(c *dial.Call) dial.Ending // nil: completed
}

type placed struct {
	number string
	at     time.Time
}

func (p *phone) Place(ctx context.Context, _ *carillon.Sender, c *dial.Call, progress dial.Progress) dial.Ending {
	p.mu.Lock()
	p.now++
	p.most = max(p.most, p.now)
	p.placed = append(p.placed, placed{c.Number, time.Now()})
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.now--
		p.mu.Unlock()
	}()
	progress.Ringing(time.Now())
	if c.Number == p.rings {
		<-ctx.Done()
		return dial.Ending{State: carillon.StateCanceled, EndedBy: "system", Cause: "487 Request Terminated", At: time.Now()}
	}
	if p.outcome != nil {
		if e := p.outcome(c); e.State != "" || e.Fault != "" {
			return e
		}
	}
	progress.Answered(time.Now(), "")
	if p.talk != nil {
		<-p.talk
	}
	select {
	case <-ctx.Done():
		return dial.Ending{State: carillon.StateCompleted, EndedBy: "system", AnsweredBy: "human", At: time.Now()}
	case <-time.After(p.lasts):
		return dial.Ending{State: carillon.StateCompleted, EndedBy: "callee", AnsweredBy: "human", Cause: "200 OK", At: time.Now()}
	}
}

func (p *phone) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.placed)
}

const agentID = "7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11"

// node is a store, a queue, a Notify and a Calls, wired as in app.
type node struct {
	t       *testing.T
	store   *store.Store
	queue   *queue.Queue
	calls   *call.Calls
	company *carillon.Company
	line    *carillon.Sender
	stop    func() // stops a node that a helper started
}

func newNode(t *testing.T, o store.Options, p *phone) *node {
	t.Helper()
	s, err := store.Open(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, store: s}
	n.queue = queue.New(s, queue.Options{Log: slog.New(slog.DiscardHandler)})
	n.calls = call.New(s, n.queue, call.Options{Drain: time.Minute, Most: p.allowed, Share: p.share})
	n.calls.DialBy(map[string]call.Dialer{"sandbox": p})
	return n
}

// setUp creates the company, its line and its agent. change may modify the company and the line first.
func (n *node) setUp(change func(c *carillon.Company, line *carillon.Sender)) {
	n.t.Helper()
	c := carillon.NewCompany("Acme")
	c.ID = carillon.NewID(time.Now())
	line := &carillon.Sender{
		CompanyID: c.ID, ID: "line", Number: "15555550101", Channel: carillon.Voice, Provider: "sandbox", Default: true, MediaCheck: "full",
		Unknown: carillon.DefaultUnknownPolicy(), Settings: json.RawMessage(`{}`),
	}
	if change != nil {
		change(&c, line)
	}
	now := time.Now()
	err := n.store.Config.Change(n.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := accounts.PutCompany(ctx, tx, &c, now); err != nil {
			return err
		}
		return settings.PutSender(ctx, tx, line, now)
	})
	if err == nil {
		_, err = n.store.Resources.PutResource(n.t.Context(), c.ID, agent.Kind(),
			&agent.Agent{ID: agentID, Name: "Recepción", Language: "es"})
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.company, n.line = &c, line
}

// start runs the node; the returned function stops it and closes its store.
func (n *node) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(n.t.Context()))
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{n.queue.Run, n.calls.Run} {
		running.Go(func() { _ = run(ctx) })
	}
	<-n.queue.Ready()
	return func() {
		cancel()
		running.Wait()
		if err := n.store.Close(); err != nil {
			n.t.Error(err)
		}
	}
}

// call accepts a call as a request does, and wakes its lane.
func (n *node) call(number string, change ...func(a *messages.Accept)) string {
	n.t.Helper()
	now := time.Now()
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: n.store.Notifications.NewID(now), CompanyID: n.company.ID, Channel: carillon.Voice, SenderUID: n.line.UID, Total: 1,
			Open:      1,
			CreatedAt: now, DueAt: now, Body: fmt.Sprintf(
				`{"contact":{"number":%q,"name":"Ana"},"recipient_id":"line","agent_id":%q,"notification_type":"transactional",`+
					`"campaign_name":"c"}`, number, agentID),
		},
		Messages: []messages.NewMessage{{Number: number}}, Quota: messages.Quota{Day: now.Format(time.DateOnly), Charge: 1},
	}
	for _, c := range change {
		c(a)
	}
	if err := n.store.Notifications.Accept(context.WithoutCancel(n.t.Context()), a); err != nil {
		n.t.Fatal(err)
	}
	due := a.Notification.DueAt
	if !a.DialAt.IsZero() {
		due = a.DialAt
	}
	n.queue.Wake(queue.Wake{Kind: queue.Calls, SenderUID: n.line.UID, Class: a.Notification.Class, Due: due})
	return a.Notification.ID
}

// record is a call with its attempts.
type record struct {
	*calls.Call
	outcomes []calls.Attempt
}

func (n *node) record(id string) record {
	n.t.Helper()
	ctx, key := context.WithoutCancel(n.t.Context()), carillon.SeqOf(id).Message(0)
	c, err := n.store.Calls.Find(ctx, key)
	if err != nil || c == nil {
		n.t.Fatal(c, err)
	}
	attempts, err := n.store.Calls.Attempts(ctx, key)
	if err != nil {
		n.t.Fatal(err)
	}
	return record{c, attempts}
}

// hung is the time after which a wait counts as hung.
const hung = 2 * time.Minute

func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(hung); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("does not come: %s", what)
		}
	}
}

// inFakeTime runs a test on SQLite with a fake clock.
func inFakeTime(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Helper()
	t.Parallel()
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) { test(t, store.Options{Dir: dir}) })
}

// engines runs a test on SQLite in fake time, and on PostgreSQL.
func engines(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { inFakeTime(t, test) })
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)})
	})
}

// ended returns a condition: every call has ended in the wanted state.
func (n *node) ended(ids []string, want carillon.State) func() bool {
	return func() bool {
		for _, id := range ids {
			if n.record(id).State != want {
				return false
			}
		}
		return true
	}
}

func TestALineNeverPassesItsBound(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		nodes := 1
		if o.DatabaseURL != "" {
			nodes = 2
		}
		p := &phone{lasts: 150 * time.Millisecond}
		var all []*node
		for i := range nodes {
			n := newNode(t, o, p)
			if i == 0 {
				n.setUp(func(_ *carillon.Company, line *carillon.Sender) { line.MaxConcurrent = 10 })
			} else {
				n.company, n.line = all[0].company, all[0].line
			}
			all = append(all, n)
			defer n.start()()
		}
		var ids []string
		for i := range 40 {
			ids = append(ids, all[i%nodes].call(fmt.Sprint(34600111000+i)))
		}
		await(t, "forty calls", all[0].ended(ids, carillon.StateCompleted))
		// A slow machine may not reach the limit.
		if p.most > 10 || p.most < 10 && o.DatabaseURL == "" || p.count() != 40 {
			t.Errorf("%d at once of %d, want 10 of 40", p.most, p.count())
		}
	})
}

func TestAnIncomingCallTakesAPlaceOfItsLine(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: time.Second}
		n := newNode(t, o, p)
		n.setUp(func(_ *carillon.Company, line *carillon.Sender) { line.MaxConcurrent = 1 })
		defer n.start()()
		incoming := call.NewIncoming(n.store, n.queue, nil, slog.New(slog.DiscardHandler))
		taken, err := incoming.Take(t.Context(), t.Context(), n.line, agentID, "34600111009")
		if err != nil {
			t.Fatal(err)
		}
		id := n.call("34600111001")
		time.Sleep(time.Minute)
		if v := n.record(id); p.count() != 0 || v.State != carillon.StateQueued {
			t.Errorf("%d placed on a line that is taken: %+v", p.count(), v.Call)
		}
		taken.End(dial.Ending{State: carillon.StateCompleted, EndedBy: "caller"})
		await(t, "its turn", n.ended([]string{id}, carillon.StateCompleted))
	})
}

func TestACompanyHasItsPartOfTheCallsOfANode(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		places := share.New(share.Resource{Company: 2})
		p := &phone{lasts: 10 * time.Second, share: places}
		n := newNode(t, o, p)
		n.setUp(nil)
		defer n.start()()
		incoming := call.NewIncoming(n.store, n.queue, places, slog.New(slog.DiscardHandler))
		taken, err := incoming.Take(t.Context(), t.Context(), n.line, agentID, "34600111009")
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{n.call("34600111001"), n.call("34600111002")}
		time.Sleep(9 * time.Second)
		if p.count() != 1 {
			t.Errorf("%d are placed next to one that was taken, want 1", p.count())
		}
		if _, err := incoming.Take(t.Context(), t.Context(), n.line, agentID, "34600111008"); !errors.Is(err, call.ErrFull) {
			t.Errorf("one more is taken: %v", err)
		}
		if other, err := places.Take(share.Holder{Company: "another"}); err != nil {
			t.Errorf("another company's: %v", err)
		} else {
			other.Release()
		}
		taken.End(dial.Ending{State: carillon.StateCompleted, EndedBy: "caller"})
		await(t, "both", n.ended(ids, carillon.StateCompleted))
		if used := places.Counts().Used; used != 0 {
			t.Errorf("%d places are held after the end", used)
		}
	})
}

// At its maximum, a node leaves further calls queued in their order.
func TestANodeNeverPassesItsBound(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		talk := make(chan struct{})
		p := &phone{allowed: 3, talk: talk}
		n := newNode(t, o, p)
		n.setUp(nil) // the line has no limit
		defer n.start()()
		var ids []string
		for i := range 5 {
			ids = append(ids, n.call(fmt.Sprint(34600111000+i)))
		}
		await(t, "three calls talk", n.ended(ids[:3], carillon.StateInProgress))
		time.Sleep(300 * time.Millisecond)
		for _, id := range ids[3:] {
			if v := n.record(id); v.State != carillon.StateQueued || !v.Queued || v.Attempts != 0 {
				t.Errorf("%+v", v.Call)
			}
		}
		close(talk)
		await(t, "five calls", n.ended(ids, carillon.StateCompleted))
		if p.most != 3 {
			t.Errorf("%d at once, want 3", p.most)
		}
	})
}

func TestABusyNumberIsDialedAgainByPolicy(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		p := &phone{outcome: func(c *dial.Call) dial.Ending {
			switch {
			case c.Number == "34600111001", c.Attempt == 1 && c.Number == "34600111002":
				return dial.Ending{State: carillon.StateBusy, Cause: "486 Busy Here", EndedBy: "callee", At: time.Now()}
			case c.Number == "34600111003":
				return dial.Ending{State: carillon.StateRejected, Cause: "603 Decline", EndedBy: "callee", At: time.Now()}
			}
			return dial.Ending{}
		}}
		n := newNode(t, o, p)
		n.setUp(func(c *carillon.Company, _ *carillon.Sender) {
			c.Redial = carillon.Redial{Outcomes: []carillon.State{carillon.StateBusy}, Attempts: 2, After: 50 * time.Millisecond}
		})
		defer n.start()()
		always, once, rejected := n.call("34600111001"), n.call("34600111002"), n.call("34600111003")
		await(t, "the end of all", func() bool {
			return n.record(always).State == carillon.StateBusy && n.record(once).State == carillon.StateCompleted &&
				n.record(rejected).State == carillon.StateRejected
		})
		for id, want := range map[string]int{always: 3, once: 2, rejected: 1} {
			if v := n.record(id); v.Dials != want || len(v.outcomes) != want || v.Queued {
				t.Errorf("%+v, want %d attempts", v.Call, want)
			}
		}
		if v := n.record(once); v.outcomes[0].State != carillon.StateBusy || v.outcomes[0].Cause != "486 Busy Here" ||
			v.EndedBy != "callee" || v.AnsweredBy != "human" {
			t.Errorf("%+v", v.Call)
		}
		await(t, "their notifications' end", func() bool {
			x, err := n.store.Notifications.Load(t.Context(), carillon.SeqOf(always))
			return err == nil && x.Open == 0 && !x.DoneAt.IsZero()
		})
	})
}

func TestAFaultyLineUsesUpNoAttempt(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{outcome: func(c *dial.Call) dial.Ending {
			if c.Attempt == 1 {
				return dial.Ending{State: carillon.StateFailed, Fault: provider.FaultProvider, At: time.Now()}
			}
			return dial.Ending{}
		}}
		n := newNode(t, o, p)
		n.setUp(nil)
		defer n.start()()
		id := n.call("34600111001")
		await(t, "its end", n.ended([]string{id}, carillon.StateCompleted))
		if v := n.record(id); v.Dials != 1 || p.count() != 2 {
			t.Errorf("%d attempts count of %d", v.Dials, p.count())
		}
		if gap := p.placed[1].at.Sub(p.placed[0].at); gap < 5*time.Second || gap > 6*time.Second {
			t.Errorf("it is dialed again after %v", gap)
		}
	})
}

func TestALineThatCannotBeDialedFailsItsCalls(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		n := newNode(t, o, &phone{})
		n.setUp(func(_ *carillon.Company, line *carillon.Sender) { line.Provider = "sip" })
		defer n.start()()
		id := n.call("34600111001")
		await(t, "its end", n.ended([]string{id}, carillon.StateFailed))
		if v := n.record(id); v.Reason != carillon.ReasonLineUnavailable || v.Dials != 0 {
			t.Errorf("%+v, reason %s", v.Call, v.Reason)
		}
	})
}

func TestANumberSuppressedForMarketingIsCalledForTheRest(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: 100 * time.Millisecond}
		n := newNode(t, o, p)
		n.setUp(nil)
		defer n.start()()
		const number, other = "525512341001", "5215512341001" // two forms of the same number
		err := n.store.Suppressions.Suppress(t.Context(), n.company.ID, settings.SuppressMarketing, settings.OptedOut, time.Now(), other)
		if err != nil {
			t.Fatal(err)
		}
		id := n.call(number, func(a *messages.Accept) { a.Notification.Class = carillon.Marketing })
		await(t, "the marketing call's end", n.ended([]string{id}, carillon.StateSkipped))
		if v := n.record(id); v.Reason != carillon.ReasonSuppressed || p.count() != 0 {
			t.Errorf("%+v, %d placed", v.Call, p.count())
		}
		await(t, "the other call", n.ended([]string{n.call(number)}, carillon.StateCompleted))
	})
}

func TestACallIsHungUp(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: time.Hour}
		n := newNode(t, o, p)
		n.setUp(nil)
		defer n.start()()
		id := n.call("34600111001")
		await(t, "the answer", n.ended([]string{id}, carillon.StateInProgress))
		if state, err := n.calls.HangUp(t.Context(), carillon.NewID(time.Now()), id); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("another company hangs up: %s, %v", state, err)
		}
		_, err := n.store.Notifications.Cancel(t.Context(), n.company.ID, id, false, time.Now())
		if !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("canceled without being hung up: %v", err)
		}
		state, err := n.calls.HangUp(t.Context(), n.company.ID, id)
		if state != carillon.StateInProgress || err != nil {
			t.Fatal(state, err)
		}
		await(t, "its end", n.ended([]string{id}, carillon.StateCompleted))
		if v := n.record(id); v.EndedBy != "system" {
			t.Errorf("%+v", v.Call)
		}
		if state, err := n.calls.HangUp(t.Context(), n.company.ID, id); state != "" || err != nil {
			t.Errorf("hung up twice: %s, %v", state, err)
		}
	})
}

// A call that waits for its time, the hours, a slot or its next attempt can be canceled. A call in progress ends only
// if it is hung up; an ended call does not change.
func TestACallIsCanceledInEachState(t *testing.T) {
	const rings, busy, over, talking, waiting = "34600111001", "34600111002", "34600111003", "34600111004", "34600111005"
	engines(t, func(t *testing.T, o store.Options) {
		talk := make(chan struct{})
		p := &phone{rings: rings, talk: talk, outcome: func(c *dial.Call) dial.Ending {
			switch c.Number {
			case busy:
				return dial.Ending{State: carillon.StateBusy, At: time.Now()}
			case over:
				return dial.Ending{State: carillon.StateRejected, At: time.Now()}
			}
			return dial.Ending{}
		}}
		n := newNode(t, o, p)
		n.setUp(func(_ *carillon.Company, line *carillon.Sender) { line.MaxConcurrent = 2 })
		defer n.start()()
		later := func(a *messages.Accept) { a.Notification.DueAt = time.Now().Add(time.Hour) }
		outside := func(a *messages.Accept) { a.DialAt = time.Now().Add(time.Hour) }
		ids := map[string]string{
			"busy": n.call(busy), "over": n.call(over), "scheduled": n.call(waiting, later), "outside hours": n.call(waiting, outside),
		}
		await(t, "the busy one", func() bool { return n.record(ids["busy"]).Dials == 1 && n.record(ids["busy"]).Queued })
		await(t, "the rejected one", n.ended([]string{ids["over"]}, carillon.StateRejected))
		ids["rings"], ids["talks"] = n.call(rings), n.call(talking)
		await(t, "one rings", n.ended([]string{ids["rings"]}, carillon.StateRinging))
		await(t, "one talks", n.ended([]string{ids["talks"]}, carillon.StateInProgress))
		ids["no slot"] = n.call(waiting)

		for _, c := range []struct {
			name     string
			canceled bool // without hangup
			hungUp   carillon.State
			end      carillon.State
		}{
			{"scheduled", true, "", carillon.StateCanceled},
			{"outside hours", true, "", carillon.StateCanceled},
			{"no slot", true, "", carillon.StateCanceled},
			{"busy", true, "", carillon.StateCanceled},
			{"rings", false, carillon.StateRinging, carillon.StateCanceled},
			{"talks", false, carillon.StateInProgress, carillon.StateCompleted},
			{"over", false, "", carillon.StateRejected},
		} {
			id := ids[c.name]
			before := n.record(id)
			canceled, err := n.store.Notifications.Cancel(t.Context(), n.company.ID, id, false, time.Now())
			if (canceled.Messages == 1) != c.canceled || !c.canceled && !carillon.IsCode(err, carillon.Conflict) {
				t.Errorf("%s: %+v canceled, %v", c.name, canceled, err)
			}
			if v := n.record(id); !c.canceled && v.State != before.State {
				t.Errorf("%s: %s after a cancel, %s before", c.name, v.State, before.State)
			}
			if state, err := n.calls.HangUp(t.Context(), n.company.ID, id); state != c.hungUp || err != nil {
				t.Errorf("%s: hung up while %q, %v", c.name, state, err)
			}
			if c.name == "talks" {
				close(talk)
			}
			await(t, c.name, n.ended([]string{id}, c.end))
			if v := n.record(id); v.Queued || v.UnderWay || v.Dials != before.Dials && c.hungUp == "" {
				t.Errorf("%s: %+v", c.name, v.Call)
			}
		}
		if p.count() != 4 {
			t.Errorf("%d calls are placed of the four that had their time", p.count())
		}
	})
}

func TestACanceledCallIsNotPlaced(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		p := &phone{lasts: 100 * time.Millisecond}
		n := newNode(t, o, p)
		n.setUp(func(_ *carillon.Company, line *carillon.Sender) { line.MaxConcurrent = 1 })
		defer n.start()()
		first, second := n.call("34600111001"), n.call("34600111002")
		canceled, err := n.store.Notifications.Cancel(t.Context(), n.company.ID, second, false, time.Now())
		if err != nil || canceled.Messages != 1 {
			t.Fatal(canceled, err)
		}
		await(t, "the first", n.ended([]string{first}, carillon.StateCompleted))
		if v := n.record(second); v.State != carillon.StateCanceled || v.Reason != carillon.ReasonCanceled || p.count() != 1 {
			t.Errorf("%+v, %d placed", v, p.count())
		}
	})
}

// Calling hours from 22:00 to 06:00, in nights that begin on Friday to Sunday, including the night in which clocks
// change.
func TestCallsAreDialedWithinTheCallingHours(t *testing.T) {
	if testing.Short() && os.Getenv("CI") == "" { // runs if CI is set
		t.Skip("a night of ticks takes minutes under the race detector")
	}
	madrid, err := schedule.Zone("Europe/Madrid")
	if err != nil {
		t.Fatal(err)
	}
	inFakeTime(t, func(t *testing.T, o store.Options) {
		local := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, madrid) }
		p := &phone{outcome: func(c *dial.Call) dial.Ending {
			if c.Attempt == 1 && c.Number == "34600111003" {
				return dial.Ending{State: carillon.StateBusy, At: time.Now()}
			}
			return dial.Ending{}
		}}
		var company *carillon.Company
		var line *carillon.Sender
		at := func(when time.Time) func(a *messages.Accept) {
			return func(a *messages.Accept) { a.Notification.DueAt = when }
		}
		// The node runs only around the relevant times: on Saturday the 28th, on Sunday, when two o'clock is skipped,
		// and on Monday.
		for _, runs := range [][2]time.Time{
			{local(28, 21, 0), local(28, 22, 10)},
			{local(29, 1, 0), local(29, 6, 30)},
			{local(29, 21, 30), local(29, 22, 10)},
			{local(30, 5, 50), local(30, 6, 30)},
		} {
			time.Sleep(time.Until(runs[0]))
			n := newNode(t, o, p)
			if company == nil {
				n.setUp(func(c *carillon.Company, _ *carillon.Sender) {
					c.CallingHours = &carillon.CallingHours{
						Timezone: "Europe/Madrid", From: "22:00", To: "06:00", Days: []string{"fri", "sat", "sun"},
					}
					c.Redial = carillon.Redial{Outcomes: []carillon.State{carillon.StateBusy}, Attempts: 1, After: 20 * time.Minute}
				})
				company, line = n.company, n.line
				n.call("34600111001")                       // now: waits for the evening
				n.call("34600111002", at(local(29, 1, 30))) // at night, before the change
				n.call("34600111003", at(local(29, 5, 50))) // busy, and its redial time is after the end of the night
				n.call("34600111004", at(local(30, 5, 59))) // the night of Sunday
				n.call("34600111005", at(local(30, 6, 0)))  // the night is over: waits for Friday
			}
			n.company, n.line = company, line
			stop := n.start()
			time.Sleep(time.Until(runs[1]))
			stop()
		}
		want := []placed{
			{"34600111001", local(28, 22, 0)},
			{"34600111002", local(29, 1, 30)},
			{"34600111003", local(29, 5, 50)},
			{"34600111003", local(29, 22, 0)},
			{"34600111004", local(30, 5, 59)},
		}
		if len(p.placed) != len(want) {
			t.Fatalf("placed %v", p.placed)
		}
		for i, w := range want {
			if got := p.placed[i]; got.number != w.number || got.at.Sub(w.at).Abs() > time.Second {
				t.Errorf("%s is dialed at %s, want %s at %s", got.number, got.at.In(madrid), w.number, w.at)
			}
		}
	})
}

// While two calls are in progress, the line has a fault. Its breaker then admits single calls, and the first one that
// rings closes it.
func TestCallsUnderWayDoNotKeepAFaultyLineClosed(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		talk := make(chan struct{})
		p := &phone{talk: talk, outcome: func(c *dial.Call) dial.Ending {
			if c.Attempt == 1 && c.Number == "34600111003" {
				return dial.Ending{State: carillon.StateFailed, Fault: provider.FaultUnreachable, At: time.Now()}
			}
			return dial.Ending{}
		}}
		n := newNode(t, o, p)
		n.setUp(func(_ *carillon.Company, line *carillon.Sender) { line.MaxConcurrent = 50 })
		defer n.start()()
		defer close(talk) // before the node stops, which would wait for the calls
		talking := []string{n.call("34600111001"), n.call("34600111002")}
		await(t, "two calls talk", n.ended(talking, carillon.StateInProgress))
		n.call("34600111003")
		await(t, "the fault", func() bool { return p.count() == 3 })
		begin := time.Now()
		later := []string{n.call("34600111004"), n.call("34600111005"), n.call("34600111006")}
		await(t, "three more calls", n.ended(later, carillon.StateInProgress))
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("they talk after %s", took)
		}
	})
}

func TestALinesPaceIsThatOfStarts(t *testing.T) {
	inFakeTime(t, func(t *testing.T, o store.Options) {
		talk := make(chan struct{})
		p := &phone{talk: talk}
		n := newNode(t, o, p)
		n.setUp(func(_ *carillon.Company, line *carillon.Sender) { line.PerSecond = 2 })
		defer n.start()()
		defer close(talk) // before the node stops, which would wait for the calls
		var ids []string
		for i := range 5 {
			ids = append(ids, n.call(fmt.Sprint(34600111000+i)))
		}
		await(t, "five calls talk", n.ended(ids, carillon.StateInProgress))
		for i := range p.placed[2:] {
			if gap := p.placed[i+2].at.Sub(p.placed[i].at); gap < 990*time.Millisecond || gap > 1100*time.Millisecond {
				t.Errorf("call %d is placed %s after call %d", i+2, gap, i)
			}
		}
	})
}
