package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/purge"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/calls"
	eventtable "carillon/internal/store/events"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

func events() []sentence {
	return []sentence{
		{"events are numbered within their company's topic, read after a number and dropped with age", eventsOfATopic},
		{"many events of one commit are read as single ones", manyEventsOfOneCommit},
		{"events whose COMMIT got no response are stored once", eventsAfterALostCommit},
		{"what an attempt with a taken id would have left is not kept for the next", noEventOfAnotherAttempt},
		{"a message leaves one event for each state, in order, and a repeated receipt none", eventsOfAMessage},
		{"the end of an attempt leaves the same event whether it says whose message it ended or not", eventsOfKnownMessages},
		{"what is accepted, skipped, canceled or fails leaves its event", eventsOfEnds},
		{"a call leaves an event when it starts and when it ends", eventsOfACall},
		{"without a subscriber, and for other companies, no event is written", noEvents},
		{"what is rolled back leaves no event", noEventOfARollback},
		{"an event is passed on after its commit", eventsPublished},
		{"a webhook subscribes to the topics of its types until it is deleted", webhookSubscribes},
		{"a topic skips a number after a time without a stream", gapAfterALapse},
	}
}

// kinds are the events of a topic, as `kind previous>status reason`.
func (r *rig) kinds(t *testing.T, company, topic string) (all []string) {
	t.Helper()
	stored, err := r.Topics.EventsAfter(t.Context(), company, topic, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range stored {
		var p struct {
			V                           int
			State, Reason, At, Campaign string
			Previous                    string `json:"previous_state"`
			Conversation                string `json:"conversation_id"` // of an application's message, in place of a campaign
		}
		if err := json.Unmarshal(e.Payload, &p); err != nil || p.V != 1 || p.At == "" || e.At.IsZero() ||
			p.Campaign != "spring" && p.Conversation == "" {
			t.Errorf("payload %s: %v", e.Payload, err)
		}
		text := e.Kind
		for _, x := range []string{p.Previous, p.Reason} {
			if x != "" {
				text += " " + x
			}
		}
		all = append(all, text)
	}
	return all
}

func (r *rig) wantEvents(t *testing.T, topic string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, r.kinds(t, ours, topic)); d != "" {
		t.Error(d)
	}
}

func (r *rig) follow(t *testing.T, company, topic string) {
	t.Helper()
	if err := r.Topics.Follow(t.Context(), company, topic); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) sent(a *messages.Accept, n int) work.Result {
	return work.Result{
		Key: work.Key(a.Notification.Seq().Message(n)), SenderUID: r.sender.UID, Attempt: 1, At: r.now,
		Outcome: messages.Outcome{
			Of: &a.Notification, SenderID: r.sender.ID, Number: a.Messages[n].Number, Rank: rank.Sent, ProviderID: "wamid",
		},
	}
}

func eventsOfAMessage(t *testing.T, r *rig) {
	f := r.fence(t)
	r.follow(t, ours, eventtable.Notifications)
	a := r.accepted(t, 2)
	r.start(t, f, a, 0)
	for range 2 { // the second changes nothing
		r.result(t, r.sent(a, 0))
	}
	for range 2 {
		r.receive(t, r.receipt(a, 0, carillon.StateSent), r.receipt(a, 0, carillon.StateDelivered), r.receipt(a, 0, carillon.StateRead))
	}
	r.receive(t, r.receipt(a, 0, carillon.StateDelivered))
	r.wantEvents(t, eventtable.Notifications, "notification.accepted", "message.sent sending", "message.delivered sent",
		"message.read delivered")
	r.start(t, f, a, 1)
	r.receive(t, r.receipt(a, 1, carillon.StateRead), r.receipt(a, 1, carillon.StateDelivered)) // before our own result
	r.result(t, r.sent(a, 1))
	got := r.kinds(t, ours, eventtable.Notifications)[4:]
	if d := cmp.Diff([]string{"message.delivered sending", "message.read delivered"}, got); d != "" {
		t.Error(d)
	}
}

func eventsOfKnownMessages(t *testing.T, r *rig) {
	f := r.fence(t)
	r.follow(t, ours, eventtable.Notifications)
	at := r.now
	for _, o := range []messages.Outcome{
		{Rank: rank.Sent, ProviderID: "wamid"},
		{Rank: rank.Failed, Reason: carillon.ReasonProviderRefused},
		{Rank: rank.Skipped, Reason: carillon.ReasonSuppressed},
	} {
		from, err := r.Topics.LastEvent(t.Context(), ours, eventtable.Notifications)
		if err != nil {
			t.Fatal(err)
		}
		var stored []messages.Message
		for known := range 2 {
			for _, together := range []int{1, 5} {
				a := r.accepted(t, together)
				results := make([]work.Result, together)
				for n := range results {
					r.start(t, f, a, n)
					results[n] = r.sent(a, n)
					x := o
					if known == 1 {
						x.Of, x.SenderID, x.Number = &a.Notification, r.sender.ID, a.Messages[n].Number
					}
					results[n].At, results[n].Outcome = at, x
					if o.Reason != "" {
						results[n].Detail = "why"
					}
				}
				r.result(t, results...)
				messages, err := r.Messages.List(t.Context(), a.Notification.Seq(), 0, together)
				if err != nil {
					t.Fatal(err)
				}
				for i := range messages {
					m := &messages[i]
					m.N, m.Number, m.Due, m.StartedAt = 0, "", at, at
				}
				stored = append(stored, messages...)
			}
		}
		all, err := r.Topics.EventsAfter(t.Context(), ours, eventtable.Notifications, from, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, e := range all {
			if e.Kind == "notification.accepted" {
				continue
			}
			var p map[string]any
			if err := json.Unmarshal(e.Payload, &p); err != nil || e.Subject != p["message_id"] ||
				!strings.HasPrefix(e.Subject, fmt.Sprint(p["notification_id"])+".") {
				t.Fatal(err, e.Subject, string(e.Payload))
			}
			if p["number"] == nil || p["sender_id"] != r.sender.ID {
				t.Errorf("payload %s", e.Payload)
			}
			delete(p, "message_id")
			delete(p, "notification_id")
			delete(p, "number")
			left = append(left, fmt.Sprint(e.Kind, e.At, p))
		}
		if len(left) != 12 || len(slices.Compact(left)) != 1 || len(slices.Compact(stored)) != 1 {
			t.Errorf("%s leaves %d events: %s\nand messages %+v", o.Rank.State(), len(left),
				strings.Join(slices.Compact(left), "\n"), slices.Compact(stored))
		}
	}
}

func eventsOfEnds(t *testing.T, r *rig) {
	f := r.fence(t)
	r.follow(t, ours, eventtable.Notifications)
	a := r.accepted(t, 4, func(a *messages.Accept) { a.Messages[3].Skip = carillon.ReasonDuplicate })
	r.start(t, f, a, 0)
	r.start(t, f, a, 1)
	failed := r.sent(a, 0)
	failed.Outcome = messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonProviderRefused}
	unknown := r.sent(a, 1)
	unknown.Move, unknown.Due = work.MoveUnknown, r.now
	r.result(t, failed, unknown)
	fail := messages.UnknownOutcome{Key: carillon.MessageKey(unknown.Key), SenderUID: r.sender.UID, Attempt: 1}
	if err := r.Messages.Reconcile(t.Context(), nil, []messages.UnknownOutcome{fail}, r.now); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	r.receive(t, r.receipt(a, 1, carillon.StateSent)) // of the one whose outcome stayed unknown
	r.wantEvents(t, eventtable.Notifications, "notification.accepted", "message.skipped duplicate",
		"message.failed sending provider_refused",
		"message.failed sending outcome_unknown", "message.canceled queued canceled", "message.sent failed")
}

func eventsOfACall(t *testing.T, r *rig) {
	f := r.fence(t)
	r.follow(t, ours, eventtable.Calls)
	_, k := r.called(t)
	ends := func(move work.Move, attempt int, s carillon.State) {
		r.commitCalls(t, &work.Batch{Now: r.now, Results: []work.Result{{
			Key: k, SenderUID: r.sender.UID, Attempt: attempt, Move: move, Due: r.now, At: r.now,
			Outcome: calls.Outcome{State: s, Counts: true},
		}}})
	}
	r.dial(t, f, 1, k)
	ends(work.MoveRetry, 1, carillon.StateBusy)
	r.dial(t, f, 1, k)
	for range 2 {
		ends(work.MoveDone, 2, carillon.StateCompleted)
	}
	_, k = r.called(t)
	r.dial(t, f, 1, k)
	ends(work.MoveDone, 1, carillon.StateNoAnswer)
	a, _ := r.called(t)
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	r.called(t, func(a *messages.Accept) { a.Messages[0].Skip = carillon.ReasonSuppressed })
	_, k = r.called(t)
	r.dial(t, f, 1, k)
	gone := calls.Foreign{Key: carillon.MessageKey(k), LineUID: r.sender.UID, Attempt: 1}
	if err := r.Calls.Interrupt(t.Context(), []calls.Foreign{gone}, r.now); err != nil {
		t.Fatal(err)
	}
	r.wantEvents(t, eventtable.Calls, "call.started", "call.started", "call.completed", "call.started", "call.failed",
		"call.failed canceled", "call.failed suppressed", "call.started", "call.failed interrupted")
}

func noEvents(t *testing.T, r *rig) {
	f := r.fence(t)
	r.follow(t, theirs, eventtable.Notifications)
	r.follow(t, ours, eventtable.Calls)
	a := r.accepted(t, 1)
	r.start(t, f, a, 0)
	r.result(t, r.sent(a, 0))
	r.receive(t, r.receipt(a, 0, carillon.StateRead))
	for _, company := range []string{ours, theirs} {
		if got := r.kinds(t, company, eventtable.Notifications); got != nil {
			t.Errorf("%s: %v", company, got)
		}
	}
	if r.Events.Subscribed(t.Context(), ours, eventtable.Notifications) ||
		!r.Events.Subscribed(t.Context(), theirs, eventtable.Notifications) {
		t.Error("the wrong company is subscribed to")
	}
}

func noEventOfARollback(t *testing.T, r *rig) {
	r.follow(t, ours, eventtable.Notifications)
	failure := errors.New("after all")
	err := r.Config.Update(t.Context(), func(_ context.Context, tx *configure.Tx) error {
		n := eventtable.Notification{CompanyID: ours, ID: carillon.NewID(r.now), Campaign: "spring", At: r.now}
		eventtable.Record(tx.Tx, n.Accepted(1, false))
		return failure
	})
	if !errors.Is(err, failure) {
		t.Error(err)
	}
	over := r.request("34600000000")
	over.Quota.Limit, over.Quota.Charge = 1, 2
	if err := r.Notifications.Accept(t.Context(), over); !carillon.IsCode(err, carillon.QuotaExceeded) {
		t.Error(err)
	}
	r.wantEvents(t, eventtable.Notifications)
}

func eventsPublished(t *testing.T, r *rig) {
	var got []string
	r.Events.OnEvents(func(all ...*eventtable.Event) {
		for _, e := range all {
			got = append(got, fmt.Sprint(e.Seq, " ", e.Kind, " ", e.Subject))
		}
	})
	r.follow(t, ours, eventtable.Notifications)
	a := r.accepted(t, 1)
	r.receive(t, r.receipt(a, 0, carillon.StateSent)) // of a message that was never started
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	want := []string{"1 notification.accepted " + a.Notification.ID, "2 message.canceled " + a.Notification.ID + ".0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// webhook is a resource of the kind whose filter counts.
type webhook struct {
	ID     string   `json:"id"`
	URL    string   `json:"url"`
	Events []string `json:"events"`
}

func (w *webhook) Key() (id, name *string) { return &w.ID, &w.URL }
func (w *webhook) Validate() error         { return nil }

func webhookSubscribes(t *testing.T, r *rig) {
	subscribed := func(notifications, calls bool) {
		t.Helper()
		if r.Events.Subscribed(t.Context(), ours, eventtable.Notifications) != notifications ||
			r.Events.Subscribed(t.Context(), ours, eventtable.Calls) != calls {
			t.Errorf("want %v and %v", notifications, calls)
		}
	}
	kind := resource.Kind{Name: "webhook", Plural: "webhooks", New: func() resource.Resource { return &webhook{} }}
	w := &webhook{URL: "https://one.test", Events: []string{"message.read", "template.approved"}}
	put := func() {
		t.Helper()
		if _, err := r.Resources.PutResource(t.Context(), ours, kind, w); err != nil {
			t.Fatal(err)
		}
	}
	subscribed(false, false)
	put()
	subscribed(true, false)
	w.Events = []string{"call.failed"}
	put()
	subscribed(false, true)
	w.Events = []string{"*"}
	put()
	subscribed(true, true)
	if r.Events.Subscribed(t.Context(), theirs, eventtable.Calls) {
		t.Error("another company's webhook counts")
	}
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), kind, w.ID); err != nil {
		t.Fatal(err)
	}
	subscribed(false, false)
}

func noEventOfAnotherAttempt(t *testing.T, r *rig) {
	k := r.endpoint(t)
	first, second := r.accepted(t, 1), r.request("34600000003")
	second.Notification.ID = first.Notification.ID[:35] +
		map[bool]string{true: "1", false: "0"}[strings.HasSuffix(first.Notification.ID, "0")]
	if err := r.Notifications.Accept(t.Context(), second); !errors.Is(err, messages.ErrIDTaken) {
		t.Fatal(err)
	}
	kind := resource.Kind{Name: "webhook", Plural: "webhooks", New: func() resource.Resource { return &webhook{} }}
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), kind, k.WebhookID); err != nil {
		t.Fatal(err)
	}
	second.Notification.ID = r.Notifications.NewID(r.now)
	if err := r.Notifications.Accept(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Topics.EventsAfter(t.Context(), ours, eventtable.Notifications, 0, 10); err != nil || len(got) != 1 ||
		got[0].Subject != first.Notification.ID {
		t.Errorf("%v, %v", got, err)
	}
}

func gapAfterALapse(t *testing.T, r *rig) {
	last := func() int64 {
		t.Helper()
		n, err := r.Topics.LastEvent(t.Context(), ours, eventtable.Notifications)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	r.follow(t, ours, eventtable.Notifications)
	r.accepted(t, 1)
	r.follow(t, ours, eventtable.Notifications)
	if last() != 1 {
		t.Errorf("a renewal skipped to %d", last())
	}
	lapse := func(ms int64) {
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE event_interest SET until = $1 WHERE company_id = $2", ms, ours)
			return err
		})
	}
	lapse(time.Now().Add(30 * time.Second).UnixMilli())
	r.follow(t, ours, eventtable.Notifications)
	var until int64
	if err := r.DB.Row(t.Context(), []any{&until}, "SELECT until FROM event_interest WHERE company_id = $1 AND topic = $2", ours,
		eventtable.Notifications); err != nil ||
		time.UnixMilli(until).Before(time.Now().Add(time.Minute)) || last() != 1 {
		t.Errorf("a lease that nears its end is renewed until %d: %v", until, err)
	}
	lapse(time.Now().Add(20 * time.Millisecond).UnixMilli())
	eventually(t, func() bool { return !r.Events.Subscribed(t.Context(), ours, eventtable.Notifications) })
	r.accepted(t, 1) // nobody follows it
	r.follow(t, ours, eventtable.Notifications)
	r.accepted(t, 1)
	if last() != 3 {
		t.Errorf("the last is %d, want 3", last())
	}
}

// Those of one commit share rows, which nobody who reads them sees.
func manyEventsOfOneCommit(t *testing.T, r *rig) {
	const most = 250
	all := make([]*eventtable.Event, most)
	for i := range all {
		all[i] = &eventtable.Event{
			CompanyID: ours, Topic: "a", Kind: fmt.Sprint("kind", i%3), Subject: fmt.Sprintf("ü\"%d\x7f", i),
			At:      r.now.Add(time.Duration(i) * time.Millisecond),
			Payload: json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"\u0000 é"}`, i)),
		}
	}
	large := json.RawMessage(`"` + strings.Repeat("x", 40_000) + `"`)
	for _, some := range [][]*eventtable.Event{all[:1], all[1:], {
		{CompanyID: ours, Topic: "large", Kind: "k", Payload: large, At: r.now},
		{CompanyID: ours, Topic: "large", Kind: "k", Payload: large, At: r.now},
		{CompanyID: theirs, Topic: "a", Kind: "k", Payload: large, At: r.now},
	}} {
		if err := r.Events.AddEvents(t.Context(), some...); err != nil {
			t.Fatal(err)
		}
	}
	for topic, want := range map[string]int{"a": 4, "large": 2} { // one, and three of at most a hundred
		var rows int
		if err := r.DB.Row(t.Context(), []any{&rows}, "SELECT COUNT(*) FROM event WHERE company_id = $1 AND topic = $2", ours,
			topic); err != nil || rows != want {
			t.Errorf("%d rows of %s, not %d; %v", rows, topic, want, err)
		}
	}
	for _, page := range []int{1, 37, 100, 1000} {
		var got []eventtable.Event
		for len(got) < most {
			more, err := r.Topics.EventsAfter(t.Context(), ours, "a", int64(len(got)), page)
			if err != nil || len(more) == 0 || len(more) > page {
				t.Fatalf("%d events after %d by %d, %v", len(more), len(got), page, err)
			}
			got = append(got, more...)
		}
		for i, e := range got {
			if w := all[i]; e.Seq != int64(i+1) || w.Seq != e.Seq || e.Kind != w.Kind || e.Subject != w.Subject ||
				!e.At.Equal(w.At) || string(e.Payload) != string(w.Payload) || e.CompanyID != ours {
				t.Fatalf("read by %d: %+v, not %+v", page, e, *w)
			}
		}
	}
	if got, err := r.Topics.EventsAfter(t.Context(), ours, "a", 120, 3); err != nil || len(got) != 3 || got[0].Seq != 121 ||
		got[2].Seq != 123 {
		t.Errorf("from within a row: %v, %v", got, err)
	}
	if got, err := r.Topics.EventsAfter(t.Context(), ours, "a", most, 3); err != nil || len(got) != 0 {
		t.Errorf("after the last: %v, %v", got, err)
	}
}

func eventsAfterALostCommit(t *testing.T, r *rig) {
	event := func(company, topic string, ms int) *eventtable.Event {
		at := r.now.Add(time.Duration(ms) * time.Millisecond)
		return &eventtable.Event{CompanyID: company, Topic: topic, Kind: "k", Subject: "s\x00", Payload: json.RawMessage(`{}`), At: at}
	}
	add := func(add func(context.Context, ...*eventtable.Event) error, all ...*eventtable.Event) {
		t.Helper()
		if err := add(t.Context(), all...); err != nil {
			t.Fatal(err)
		}
	}
	seqs := func(company, topic string, want ...int64) {
		t.Helper()
		stored, err := r.Topics.EventsAfter(t.Context(), company, topic, 0, 10)
		var got []int64
		for _, e := range stored {
			got = append(got, e.Seq)
		}
		if last, lastErr := r.Topics.LastEvent(t.Context(), company, topic); err != nil || lastErr != nil ||
			!slices.Equal(got, want) || last != int64(len(want)) {
			t.Errorf("%s has %v up to %d, not %v; %v, %v", topic, got, last, want, err, lastErr)
		}
	}
	one, two := event(ours, "a", 0), event(ours, "a", 1)
	add(r.Events.AddEventsAfterLostCommit, one) // the COMMIT was not carried out
	seqs(ours, "a", 1)
	add(r.Events.AddEventsAfterLostCommit, one) // it was
	add(r.Events.AddEvents, two)
	add(r.Events.AddEventsAfterLostCommit, one) // it was, and others have come since
	seqs(ours, "a", 1, 2)

	rolledBack := event(ours, "a", 2) // its number became another event's
	rolledBack.Seq = two.Seq
	add(r.Events.AddEventsAfterLostCommit, rolledBack)
	seqs(ours, "a", 1, 2, 3)
	add(r.Events.AddEvents, event(ours, "a", 2)) // the same is asked for once more
	seqs(ours, "a", 1, 2, 3, 4)

	several := []*eventtable.Event{event(theirs, "b", 3), event(ours, "c", 3), event(ours, "c", 4), event(theirs, "b", 4)}
	add(r.Events.AddEvents, several...)
	add(r.Events.AddEventsAfterLostCommit, several...)
	seqs(ours, "c", 1, 2)
	seqs(theirs, "b", 1, 2)
}

func eventsOfATopic(t *testing.T, r *rig) {
	event := func(company, topic string, at time.Time) *eventtable.Event {
		return &eventtable.Event{
			CompanyID: company, Topic: topic, Kind: "message.sent", Subject: "m", Payload: json.RawMessage(`{}`), At: at,
		}
	}
	old, now := r.now.Add(-time.Hour), r.now
	for _, all := range [][]*eventtable.Event{
		{event(ours, "a", old)}, {event(ours, "a", now), event(theirs, "a", now), event(ours, "b", now)},
	} {
		if err := r.Events.AddEvents(t.Context(), all...); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := r.Topics.LastEvent(t.Context(), ours, "a"); err != nil || last != 2 {
		t.Errorf("the last is %d, want 2; %v", last, err)
	}
	if got, err := r.Topics.EventsAfter(t.Context(), ours, "a", 1, 10); err != nil || len(got) != 1 || got[0].Seq != 2 {
		t.Errorf("after the first: %v, %v", got, err)
	}
	if _, err := r.Purges.Drop(t.Context(), purge.Events, now.Add(-time.Minute), 10); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Topics.EventsAfter(t.Context(), ours, "a", 0, 10); err != nil || len(got) != 1 || got[0].Seq != 2 {
		t.Errorf("after dropping the old: %v, %v", got, err)
	}
	if last, err := r.Topics.LastEvent(t.Context(), ours, "a"); err != nil || last != 2 {
		t.Errorf("dropping set the number back to %d, %v", last, err)
	}
}
