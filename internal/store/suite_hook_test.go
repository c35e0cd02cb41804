package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/store/chats"
	eventtable "carillon/internal/store/events"
	"carillon/internal/store/purge"
)

func deliveringEvents() []sentence {
	return []sentence{
		{"an endpoint begins with what happens after it, and is due while events are behind it", endpointBegins},
		{"what failed waits in a row of its own, in order where that is wanted, until it is delivered or given up", deliveriesWait},
		{"events are replayed one by one, by time and type, and those that were given up", eventsReplayed},
		{"events of one commit are replayed and tried again one by one", packedReplayed},
		{"attempts are listed by endpoint and by event, for their company, and trimmed to the latest", attemptsLogged},
		{"a conversation leaves events, where an endpoint wants them", outwardEvents},
		{"whoever pulls has events written for a week", eventsPulled},
		{"a person erased during a delivery leaves nothing of it", erasedInDelivery},
		{"a deleted endpoint leaves nothing behind", endpointsSwept},
	}
}

// endpoint stores an endpoint of our company for all events.
func (r *rig) endpoint(t *testing.T) eventtable.EndpointKey {
	t.Helper()
	kind := resource.Kind{Name: "webhook", Plural: "webhooks", New: func() resource.Resource { return &webhook{} }}
	w := &webhook{URL: "https://one.test/" + carillon.NewID(r.now), Events: []string{"*"}}
	r.now = r.now.Add(time.Second)
	if _, err := r.Resources.PutResource(t.Context(), ours, kind, w); err != nil {
		t.Fatal(err)
	}
	return eventtable.EndpointKey{CompanyID: ours, WebhookID: w.ID}
}

// happen stores an event of a subject.
func (r *rig) happen(t *testing.T, topic, kind, subject string) *eventtable.Event {
	t.Helper()
	r.now = r.now.Add(time.Second)
	e := &eventtable.Event{CompanyID: ours, Topic: topic, Kind: kind, Subject: subject, Payload: []byte(`{"v":1}`), At: r.now}
	if err := r.Events.AddEvents(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return e
}

func (r *rig) due(t *testing.T, k eventtable.EndpointKey, want bool) {
	t.Helper()
	all, err := r.Hooks.Due(t.Context(), r.now)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(all) == 1 && all[0] == k; got != want {
		t.Errorf("due %v, want %v", all, want)
	}
	for company, has := range map[string]bool{ours: want, theirs: false} {
		of, err := r.Hooks.DueOf(t.Context(), []string{company, "another"}, r.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(of) == 1 && of[0] == k; got != has || !has && len(of) > 0 {
			t.Errorf("of %s are due %v, want %v", company, of, has)
		}
	}
}

// backlog checks the events that wait for an endpoint; n is 0 for none.
func backlog(t *testing.T, r *rig, k eventtable.EndpointKey, n int64, failing bool, oldest time.Time) {
	t.Helper()
	want := []eventtable.Backlog{{EndpointKey: k, Failing: failing, Events: n, Oldest: oldest}}
	if n == 0 {
		want = nil
	}
	all, err := r.Hooks.Backlogs(t.Context())
	if err != nil || cmp.Diff(want, all) != "" {
		t.Error(cmp.Diff(want, all), err)
	}
	if at, err := r.Hooks.Oldest(t.Context(), k); !at.Equal(oldest) || err != nil {
		t.Error(at, oldest, err)
	}
	other := eventtable.EndpointKey{CompanyID: theirs, WebhookID: k.WebhookID}
	if at, err := r.Hooks.Oldest(t.Context(), other); !at.IsZero() || err != nil {
		t.Error("of another company:", at, err)
	}
}

func endpointBegins(t *testing.T, r *rig) {
	s := r.Hooks
	r.happen(t, eventtable.Calls, "call.started", "before")
	k := r.endpoint(t)
	r.due(t, k, false)
	e := r.happen(t, eventtable.Calls, "call.started", "after")
	r.due(t, k, true)
	if n, err := s.Behind(t.Context(), k); n != 1 || err != nil {
		t.Error(n, err)
	}
	backlog(t, r, k, 1, false, e.At)
	have, err := s.Endpoint(t.Context(), k)
	if err != nil || have == nil {
		t.Fatal(have, err)
	}
	for _, other := range []eventtable.EndpointKey{{CompanyID: theirs, WebhookID: k.WebhookID}, {CompanyID: ours, WebhookID: "another"}} {
		if x, err := s.Endpoint(t.Context(), other); x != nil || err != nil {
			t.Error("of another:", x, err)
		}
	}
	for _, seq := range []int64{e.Seq, 1} { // another node's earlier place moves nothing back
		if err := s.Save(t.Context(), &eventtable.Round{
			Endpoint: have, Cursors: []eventtable.Cursor{{Topic: eventtable.Calls, Seq: seq}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.due(t, k, false)
	backlog(t, r, k, 0, false, time.Time{})
	cursors, err := s.Cursors(t.Context(), k)
	if err != nil || len(cursors) != len(eventtable.Topics()) || cursors[0] != (eventtable.Cursor{Topic: eventtable.Calls, Seq: e.Seq}) {
		t.Error(cursors, err)
	}
	e = r.happen(t, eventtable.Templates, "template.approved", "x")
	have.Failures = 3
	if err := s.Save(t.Context(), &eventtable.Round{Endpoint: have}); err != nil {
		t.Fatal(err)
	}
	backlog(t, r, k, 1, true, e.At)
	have.PauseUntil, have.Failures = r.now.Add(time.Minute), 0
	if err := s.Save(t.Context(), &eventtable.Round{Endpoint: have}); err != nil {
		t.Fatal(err)
	}
	r.due(t, k, false)
	have.PauseUntil, have.DisabledAt, have.DisabledWhy, have.Failures, have.Alerts = time.Time{}, r.now, "gone", 7, 2
	if err := s.Save(t.Context(), &eventtable.Round{Endpoint: have}); err != nil {
		t.Fatal(err)
	}
	r.due(t, k, false)
	if all, err := s.Backlogs(t.Context()); len(all) != 0 || err != nil {
		t.Error("of a disabled endpoint:", all, err)
	}
	if stored, err := s.Endpoint(t.Context(), k); err != nil || cmp.Diff(have, stored) != "" {
		t.Error(cmp.Diff(have, stored), err)
	}
	if found, err := s.Again(t.Context(), k, r.now); !found || err != nil {
		t.Error(found, err)
	}
	r.due(t, k, true)
	// A round that began before it was enabled changes nothing of that.
	have.FailingSince = r.now.Add(-time.Hour)
	if err := s.Save(t.Context(), &eventtable.Round{Endpoint: have, Since: have.FailingSince}); err != nil {
		t.Fatal(err)
	}
	if stored, err := s.Endpoint(t.Context(), k); err != nil || !stored.DisabledAt.IsZero() || stored.Failures != 0 {
		t.Errorf("%+v, %v", stored, err)
	}
	r.happen(t, eventtable.Templates, "template.approved", "x")
	r.due(t, k, true)
	if found, err := s.Again(t.Context(), eventtable.EndpointKey{CompanyID: theirs, WebhookID: k.WebhookID}, r.now); found || err != nil {
		t.Error("of another company:", found, err)
	}
	if err := s.SkipAll(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	r.due(t, k, false)
}

// delivery is one of an event that waits until an instant.
func delivery(e *eventtable.Event, next time.Time) eventtable.Delivery {
	return eventtable.Delivery{Event: *e, State: eventtable.DeliveryWaiting, Attempt: 1, BegunAt: e.At, NextAt: next}
}

func deliveriesWait(t *testing.T, r *rig) {
	s := r.Hooks
	k := r.endpoint(t)
	first := r.happen(t, eventtable.Conversations, "conversation.started", "one")
	second := r.happen(t, eventtable.Conversations, "message.received", "one")
	third := r.happen(t, eventtable.Conversations, "conversation.started", "two")
	e, err := s.Endpoint(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	round := &eventtable.Round{
		Endpoint: e, Ordered: true, Cursors: []eventtable.Cursor{{Topic: eventtable.Conversations, Seq: third.Seq}},
		Kept: []eventtable.Delivery{
			delivery(first, r.now.Add(time.Hour)), delivery(second, r.now),
			delivery(third, r.now.Add(2*time.Hour)),
		},
	}
	if err := s.Save(t.Context(), round); err != nil {
		t.Fatal(err)
	}
	if !e.WakeAt.Equal(r.now.Add(time.Hour)) {
		t.Errorf("wakes at %v: what waits for an earlier one of its subject does not count", e.WakeAt)
	}
	seqs := func(at time.Time, ordered bool) (all []int64) {
		t.Helper()
		got, err := s.Retries(t.Context(), k, at, ordered, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got {
			if x.Gone || x.Kind == "" || string(x.Payload) != `{"v":1}` || x.Attempt != 1 || x.BegunAt.IsZero() {
				t.Errorf("%+v", x)
			}
			all = append(all, x.Seq)
		}
		return all
	}
	for _, c := range []struct {
		after   time.Duration
		ordered bool
		want    []int64
	}{
		{0, true, nil},
		{0, false, []int64{2}},
		{time.Hour, true, []int64{1}},
		{time.Hour, false, []int64{2, 1}},
		{2 * time.Hour, true, []int64{1, 3}},
	} {
		if d := cmp.Diff(c.want, seqs(r.now.Add(c.after), c.ordered)); d != "" {
			t.Error(c, d)
		}
	}
	blocked, err := s.Blocked(t.Context(), k, []string{"one", "three"})
	if err != nil || len(blocked) != 1 || !blocked["one"] {
		t.Error(blocked, err)
	}
	failed := delivery(third, r.now)
	failed.State = eventtable.DeliveryFailed
	e.SucceededAt = r.now
	if err := s.Save(t.Context(), &eventtable.Round{
		Endpoint: e, Ordered: true, Delivered: []eventtable.Delivery{delivery(first, r.now)}, Kept: []eventtable.Delivery{failed},
		Recovered: true,
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{2}, seqs(r.now, true)); d != "" || !e.WakeAt.Equal(r.now) {
		t.Error(d, e.WakeAt)
	}
	if waiting, failed, err := s.Counts(t.Context(), k); waiting != 1 || failed != 1 || err != nil {
		t.Error(waiting, failed, err)
	}
	if _, err := r.Purges.Drop(t.Context(), purge.Events, r.now.Add(time.Hour), 10); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Retries(t.Context(), k, r.now, false, 10); err != nil || len(got) != 1 || !got[0].Gone {
		t.Error("of an event that is not kept:", got, err)
	}
}

// A person is erased while the person's events are being delivered.
func erasedInDelivery(t *testing.T, r *rig) {
	s := r.Hooks
	k := r.endpoint(t)
	e, err := s.Endpoint(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	round := &eventtable.Round{Endpoint: e}
	for _, subject := range []string{"stays", "goes"} {
		x := r.happen(t, eventtable.Calls, "call.started", subject)
		round.Cursors = []eventtable.Cursor{{Topic: x.Topic, Seq: x.Seq}}
		round.Kept = append(round.Kept, delivery(x, r.now))
		round.Attempts = append(round.Attempts, eventtable.Attempt{
			ID: carillon.NewID(r.now), CompanyID: ours, WebhookID: k.WebhookID, EventID: "evt_" + subject,
			Event: eventtable.Key{Topic: x.Topic, Seq: x.Seq}, Subject: subject, At: r.now, Request: subject,
		})
	}
	gone, err := r.Events.ForgetEvents(t.Context(), ours, func(e *eventtable.Event) bool { return e.Subject == "goes" })
	if err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	if err := s.Save(t.Context(), round); err != nil {
		t.Fatal(err)
	}
	if waiting, failed, err := s.Counts(t.Context(), k); waiting != 1 || failed != 0 || err != nil {
		t.Error(waiting, failed, err)
	}
	all, err := s.Attempts(t.Context(), k, false, "", 3)
	if err != nil || len(all) != 1 || all[0].Request != "stays" {
		t.Error(all, err)
	}
}

func eventsReplayed(t *testing.T, r *rig) {
	s := r.Hooks
	k := r.endpoint(t)
	start := r.now
	var all []*eventtable.Event
	for _, x := range []struct{ topic, kind string }{
		{eventtable.Calls, "call.started"},
		{eventtable.Calls, "call.completed"},
		{eventtable.Notifications, "message.sent"},
		{eventtable.Notifications, "message.read"},
	} {
		all = append(all, r.happen(t, x.topic, x.kind, x.kind))
	}
	replay := func(x eventtable.Replay, want int64) {
		t.Helper()
		if n, err := s.Replay(t.Context(), k, x, r.now); n != want || err != nil {
			t.Errorf("%+v: %d, %v", x, n, err)
		}
	}
	replay(eventtable.Replay{Topic: eventtable.Calls, Seq: 2}, 1)
	replay(eventtable.Replay{Topic: eventtable.Calls, Seq: 99}, 0)
	replay(eventtable.Replay{From: start, To: r.now.Add(time.Hour)}, 4)
	replay(eventtable.Replay{From: all[1].At, To: all[3].At}, 2)
	replay(eventtable.Replay{From: start, To: r.now.Add(time.Hour), Kinds: []string{"message.read", "call.started"}}, 2)
	replay(eventtable.Replay{From: r.now.Add(time.Hour), To: r.now.Add(2 * time.Hour)}, 0)
	replay(eventtable.Replay{Failed: true}, 0)
	if waiting, _, err := s.Counts(t.Context(), k); waiting != 4 || err != nil {
		t.Error(waiting, err)
	}
	e, err := s.Endpoint(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	r.due(t, k, true)
	given := delivery(all[0], r.now)
	given.State = eventtable.DeliveryFailed
	if err := s.Save(t.Context(), &eventtable.Round{Endpoint: e, Kept: []eventtable.Delivery{given}}); err != nil {
		t.Fatal(err)
	}
	replay(eventtable.Replay{Failed: true}, 1)
	if waiting, failed, err := s.Counts(t.Context(), k); waiting != 4 || failed != 0 || err != nil {
		t.Error(waiting, failed, err)
	}
}

func packedReplayed(t *testing.T, r *rig) {
	s, k := r.Hooks, r.endpoint(t)
	all := make([]*eventtable.Event, 250)
	for i := range all {
		kind := []string{"message.sent", "message.read"}[i%2]
		all[i] = &eventtable.Event{
			CompanyID: ours, Topic: eventtable.Notifications, Kind: kind, Subject: fmt.Sprint("m", i),
			Payload: fmt.Appendf(nil, `{"n":%d}`, i), At: r.now.Add(time.Duration(i) * time.Second),
		}
	}
	if err := r.Events.AddEvents(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		replay eventtable.Replay
		want   int64
	}{
		{eventtable.Replay{From: all[40].At, To: all[160].At, Kinds: []string{"message.read", "call.failed"}}, 60},
		{eventtable.Replay{From: all[40].At, To: all[160].At, Kinds: []string{"call.failed"}}, 0},
		{eventtable.Replay{Topic: eventtable.Notifications, Seq: 201}, 1},
	} {
		if n, err := s.Replay(t.Context(), k, x.replay, r.now); n != x.want || err != nil {
			t.Errorf("%+v: %d, %v", x.replay, n, err)
		}
	}
	got, err := s.Retries(t.Context(), k, r.now, false, 100)
	if err != nil || len(got) != 61 {
		t.Fatal(len(got), err)
	}
	for i := range got {
		x := &got[i]
		if e := all[x.Seq-1]; x.Gone || x.Subject != e.Subject || x.Kind != e.Kind || string(x.Payload) != string(e.Payload) ||
			!x.At.Equal(e.At) {
			t.Errorf("%d is %+v", x.Seq, x)
		}
	}
}

func attemptsLogged(t *testing.T, r *rig) {
	s := r.Hooks
	k := r.endpoint(t)
	for i := range 1005 {
		a := eventtable.Attempt{
			ID: carillon.NewID(r.now.Add(time.Duration(i) * time.Millisecond)), CompanyID: ours, WebhookID: k.WebhookID,
			EventID: "evt_1", Kind: "call.started", Subject: "x",
			N: i + 1, At: r.now, Took: time.Second, OK: i%1000 > 1, Status: 200, Request: "{}", Response: "ok",
		}
		if err := s.Log(t.Context(), &a); err != nil {
			t.Fatal(err)
		}
	}
	list := func(failed bool, before string) []eventtable.Attempt {
		t.Helper()
		all, err := s.Attempts(t.Context(), k, failed, before, 3)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	latest := list(false, "")
	if len(latest) != 3 || latest[0].N != 1005 || latest[0].Took != time.Second || !latest[0].OK || latest[0].Response != "ok" {
		t.Errorf("%+v", latest)
	}
	if older := list(false, latest[2].ID); older[0].N != 1002 {
		t.Errorf("%+v", older)
	}
	if failed := list(true, ""); len(failed) != 3 || failed[0].N != 1002 || failed[0].OK {
		t.Errorf("%+v", failed)
	}
	if failed := list(true, latest[2].ID); failed[0].N != 1002 {
		t.Errorf("%+v", failed)
	}
	if all, err := s.OfEvent(t.Context(), ours, "evt_1", 2); len(all) != 2 || err != nil {
		t.Error(len(all), err)
	}
	if all, err := s.OfEvent(t.Context(), theirs, "evt_1", 2); len(all) != 0 || err != nil {
		t.Error("of another company:", len(all), err)
	}
	if all, err := s.Attempts(t.Context(), eventtable.EndpointKey{CompanyID: theirs, WebhookID: k.WebhookID}, false, "",
		3); len(all) != 0 ||
		err != nil {
		t.Error("of another company:", len(all), err)
	}
	if n, err := s.Trim(t.Context(), k, 5000); n != 1 || err != nil { // of 1,001 that succeeded
		t.Error(n, err)
	}
}

func eventsPulled(t *testing.T, r *rig) {
	for _, topic := range []string{eventtable.Templates, eventtable.Calls} {
		if r.Events.Subscribed(t.Context(), ours, topic) {
			t.Error(topic, "is followed before it is asked for")
		}
		if err := r.Events.FollowPull(t.Context(), ours, topic); err != nil {
			t.Fatal(err)
		}
		r.follow(t, ours, topic) // a stream, which ends earlier
		if !r.Events.Subscribed(t.Context(), ours, topic) || r.Events.Subscribed(t.Context(), theirs, topic) {
			t.Error(topic, "is not followed for its company alone")
		}
		r.happen(t, topic, topic, "x")
	}
	var until int64
	if err := r.DB.Row(t.Context(), []any{&until}, "SELECT until FROM event_interest WHERE company_id = $1 AND topic = $2", ours,
		eventtable.Calls); err != nil ||
		time.UnixMilli(until).Before(time.Now().Add(6*24*time.Hour)) {
		t.Errorf("events are written until %d: %v", until, err)
	}
	last, err := r.Events.LastOfTopics(t.Context(), ours)
	if err != nil || last[eventtable.Templates] == 0 || last[eventtable.Calls] == 0 || last[eventtable.Conversations] != 0 {
		t.Error(last, err)
	}
	if last, err := r.Events.LastOfTopics(t.Context(), theirs); len(last) > 0 || err != nil {
		t.Error("of another company:", last, err)
	}
}

func endpointsSwept(t *testing.T, r *rig) {
	s := r.Hooks
	k := r.endpoint(t)
	e := r.happen(t, eventtable.Calls, "call.started", "x")
	have, err := s.Endpoint(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	given := delivery(e, r.now)
	given.State = eventtable.DeliveryFailed
	a := eventtable.Attempt{ID: carillon.NewID(r.now), CompanyID: ours, WebhookID: k.WebhookID, EventID: "evt_1", At: r.now}
	save := func() {
		t.Helper()
		if err := s.Save(t.Context(), &eventtable.Round{
			Endpoint: have, Kept: []eventtable.Delivery{given}, Attempts: []eventtable.Attempt{a},
		}); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(before time.Time, waiting, failed int) {
		t.Helper()
		for more, err := true, error(nil); more; {
			if more, err = s.Sweep(t.Context(), before, 1); err != nil {
				t.Fatal(err)
			}
		}
		if w, f, err := s.Counts(t.Context(), k); w != waiting || f != failed || err != nil {
			t.Error(w, f, err)
		}
	}
	save()
	sweep(r.now.Add(-time.Hour), 0, 1)
	sweep(r.now.Add(time.Hour), 0, 0)
	a.ID = carillon.NewID(r.now.Add(time.Millisecond))
	given.State = eventtable.DeliveryWaiting
	save()
	kind := resource.Kind{Name: "webhook", Plural: "webhooks", New: func() resource.Resource { return &webhook{} }}
	if err := r.Resources.DeleteResource(t.Context(), ours, []resource.Kind{kind}, kind, k.WebhookID); err != nil {
		t.Fatal(err)
	}
	sweep(r.now.Add(-time.Hour), 0, 0)
	a.ID = carillon.NewID(r.now.Add(2 * time.Millisecond))
	save() // of a round that was under way: it stores nothing
	sweep(r.now.Add(-time.Hour), 0, 0)
	if all, err := s.Attempts(t.Context(), k, false, "", 3); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
}

func outwardEvents(t *testing.T, r *rig) {
	quiet := r.talk(t, ours)
	r.endpoint(t)
	c := r.talk(t, ours)
	change := func(id string, edit func(c *chats.Conversation) []chats.Turn) {
		t.Helper()
		r.now = r.now.Add(time.Second)
		x := &chats.Change{
			CompanyID: ours, ConversationID: id, Edit: func(c *chats.Conversation) ([]chats.Turn, error) { return edit(c), nil },
		}
		if err := r.Chats.Do(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	change(c.ID, func(*chats.Conversation) []chats.Turn {
		return []chats.Turn{
			{Author: chats.Visitor, Kind: chats.KindText, Text: "Hello", At: r.now},
			{Author: chats.Agent, Kind: chats.KindText, Text: "Hi", At: r.now},
			{Author: chats.Visitor, Kind: chats.KindEvent, At: r.now},
		}
	})
	change(c.ID, func(c *chats.Conversation) []chats.Turn { c.SetState(chats.Queued, r.now); return nil })
	change(c.ID, func(c *chats.Conversation) []chats.Turn { c.SetState(chats.Active, r.now); return nil })
	change(c.ID, func(c *chats.Conversation) []chats.Turn { c.SetState(chats.Resolved, r.now); return nil })
	change(c.ID, func(c *chats.Conversation) []chats.Turn { c.Rating, c.Comment = 4, "good"; return nil })
	change(quiet.ID, func(c *chats.Conversation) []chats.Turn { c.SetState(chats.Resolved, r.now); return nil })
	all, err := r.Topics.EventsAfter(t.Context(), ours, eventtable.Conversations, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		var p struct {
			State, Text string
			Previous    string `json:"previous_state"`
			Rating      int
			Contact     struct{ ID string }
		}
		if err := json.Unmarshal(e.Payload, &p); err != nil || p.Contact.ID == "" || e.Subject != c.ID && e.Subject != quiet.ID {
			t.Errorf("%s %s: %v", e.Subject, e.Payload, err)
		}
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s %s", e.Kind, p.Previous, p.Text, p.State), " "))
	}
	want := []string{
		"conversation.started   bot", "message.received  Hello bot", "conversation.handoff bot  queued",
		"conversation.resolved active  resolved",
		"feedback.received   resolved", "conversation.resolved bot  resolved",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
