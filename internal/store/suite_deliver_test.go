package store_test

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"carillon"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

func delivering() []sentence {
	return []sentence{
		{"a lost fence drops the starts and writes the results", lostFenceDropsStarts},
		{"only what is queued, not held and due is started", onlyDueIsStarted},
		{"a start counts the attempt", startCountsTheAttempt},
		{"neighbours start together, but for those that may not", neighboursStart},
		{"a result is taken by message and attempt from anyone", resultByAttempt},
		{"results do to a message what their move says", resultsMove},
		{"many results at once do the same as one by one", resultsTogether},
		{"a result never lowers what a receipt told", resultNeverLowers},
		{"a held message waits until its hold is released", heldUntilReleased},
		{"what is postponed only moves to later", postponedMovesLater},
	}
}

func lostFenceDropsStarts(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 2)
	if r.start(t, f, a, 0) != 1 {
		t.Fatal("not started")
	}
	lost := f
	lost.Epoch++
	st := &work.Start{Key: work.Key(a.Notification.Seq().Message(1)), Shard: f.Shard}
	d := &work.Batch{
		Fences: []work.Fence{lost}, Starts: []*work.Start{st}, Now: r.now,
		Results: []work.Result{{
			Key: work.Key(a.Notification.Seq().Message(0)), Attempt: 1, At: r.now, Outcome: messages.Outcome{Rank: rank.Sent},
		}},
	}
	r.deliver(t, d)
	if !slices.Equal(d.Lost, []int{f.Shard}) || st.Attempt != 0 {
		t.Errorf("lost %v, attempt %d", d.Lost, st.Attempt)
	}
	if m := r.message(t, a, 1); m.Q != 1 || m.Attempts != 0 {
		t.Errorf("started without a fence: %+v", m)
	}
	if m := r.message(t, a, 0); m.Rank != rank.Sent {
		t.Errorf("the result was dropped: %+v", m)
	}
}

func onlyDueIsStarted(t *testing.T, r *rig) {
	f := r.fence(t)
	later := r.accepted(t, 1, func(a *messages.Accept) { a.Notification.DueAt = r.now.Add(time.Minute) })
	skipped := r.accepted(t, 1, func(a *messages.Accept) { a.Messages[0].Skip = carillon.ReasonDuplicate })
	canceled, inFlight, held, due := r.accepted(t, 1), r.accepted(t, 1), r.accepted(t, 1), r.accepted(t, 1)
	if _, err := r.Notifications.Cancel(t.Context(), ours, canceled.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	r.start(t, f, inFlight, 0)
	r.start(t, f, held, 0)
	r.result(t, work.Result{
		Key: work.Key(held.Notification.Seq().Message(0)), Attempt: 1, Move: work.MoveHold, Outcome: messages.Outcome{Hold: "ours/1"},
	})
	for name, tt := range map[string]struct {
		a    *messages.Accept
		want int
	}{
		"later": {later, 0}, "skipped": {skipped, 0}, "canceled": {canceled, 0}, "in flight": {inFlight, 0}, "held": {held, 0},
		"due": {due, 1},
	} {
		if got := r.start(t, f, tt.a, 0); got != tt.want {
			t.Errorf("%s: attempt %d, want %d", name, got, tt.want)
		}
	}
	r.now = later.Notification.DueAt
	if r.start(t, f, later, 0) != 1 {
		t.Error("not started at its millisecond")
	}
}

func startCountsTheAttempt(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 40)
	for attempt := 1; attempt <= 3; attempt++ {
		d := &work.Batch{Fences: []work.Fence{f}, Now: r.now}
		for n := range 40 {
			d.Starts = append(d.Starts, &work.Start{Key: work.Key(a.Notification.Seq().Message(n)), Shard: f.Shard})
		}
		r.deliver(t, d)
		var results []work.Result
		for _, st := range d.Starts {
			if st.Attempt != attempt {
				t.Fatalf("attempt %d of message %d, want %d", st.Attempt, carillon.MessageKey(st.Key).N(), attempt)
			}
			results = append(results, work.Result{Key: st.Key, Attempt: attempt, Move: work.MoveRetry, Due: r.now})
		}
		if m := r.message(t, a, 39); m.Q != 2 || m.Attempts != attempt || !m.StartedAt.Equal(r.now) {
			t.Errorf("%+v", m)
		}
		flights, err := r.Messages.Flights(t.Context(), f)
		if err != nil || len(flights) != 40 || flights[0].Attempt != attempt || flights[0].SenderUID != r.sender.UID {
			t.Error(len(flights), err)
		}
		r.result(t, results...)
	}
}

func neighboursStart(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.accepted(t, 30, func(a *messages.Accept) { a.Messages[11].Skip = carillon.ReasonDuplicate })
	id := a.Notification.ID
	r.start(t, f, a, 3) // in flight
	r.start(t, f, a, 22)
	r.result(t, work.Result{Key: work.Key(carillon.SeqOf(id).Message(22)), Attempt: 1, Move: work.MoveRetry, Due: r.now}) // tried before
	d := &work.Batch{Fences: []work.Fence{f}, Now: r.now}
	for n := range 31 {
		if n != 8 && n != 9 {
			d.Starts = append(d.Starts, &work.Start{Key: work.Key(carillon.SeqOf(id).Message(n)), Shard: f.Shard})
		}
	}
	r.deliver(t, d)
	for _, st := range d.Starts {
		want := map[int]int{3: 0, 11: 0, 22: 2, 30: 0}
		attempt, odd := want[carillon.MessageKey(st.Key).N()]
		if !odd {
			attempt = 1
		}
		if st.Attempt != attempt {
			t.Errorf("attempt %d of message %d, want %d", st.Attempt, carillon.MessageKey(st.Key).N(), attempt)
		}
	}
	for n, want := range map[int]messages.Message{
		0: {Q: 2, Attempts: 1}, 3: {Q: 2, Attempts: 1}, 8: {Q: 1}, 22: {Q: 2, Attempts: 2}, 29: {Q: 2, Attempts: 1},
	} {
		if m := r.message(t, a, n); m.Q != want.Q || m.Attempts != want.Attempts {
			t.Errorf("message %d stands at %+v", n, m)
		}
	}
}

func resultByAttempt(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 1)
	r.start(t, f, a, 0)
	id := a.Notification.ID
	for _, attempt := range []int{0, 2} {
		r.result(t, work.Result{
			Key: work.Key(carillon.SeqOf(id).Message(0)), Attempt: attempt, At: r.now,
			Outcome: messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonExpired},
		})
	}
	if m := r.message(t, a, 0); m.Q != 2 || m.Rank != rank.None {
		t.Errorf("another attempt's result was taken: %+v", m)
	}
	if deposed, err := r.Nodes.Depose(t.Context(), "node", 1); err != nil || !deposed {
		t.Fatal(deposed, err)
	}
	r.result(t, work.Result{
		Key: work.Key(carillon.SeqOf(id).Message(0)), Attempt: 1, At: r.now, Outcome: messages.Outcome{Rank: rank.Sent, ProviderID: "p"},
	})
	if m := r.message(t, a, 0); m.Q != 0 || m.Rank != rank.Sent || m.ProviderID != "p" || !m.SentAt.Equal(r.now) {
		t.Errorf("a deposed node's result was not taken: %+v", m)
	}
}

// moves are one result of every kind and the message it makes.
func moves(r *rig) (results []work.Result, want []messages.Message) {
	later := r.now.Add(time.Minute)
	add := func(x work.Result, m messages.Message) {
		x.Key, x.Attempt, x.At = work.Key(len(results)), 1, r.now
		m.N, m.Attempts, m.StartedAt = len(want), 1, r.now
		results, want = append(results, x), append(want, m)
	}
	add(work.Result{Outcome: messages.Outcome{Rank: rank.Sent, ProviderID: "p"}},
		messages.Message{Rank: rank.Sent, ProviderID: "p", SentAt: r.now})
	add(work.Result{Outcome: messages.Outcome{Rank: rank.Sent}}, messages.Message{Rank: rank.Sent, SentAt: r.now})
	add(work.Result{Detail: "131026", Outcome: messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonUndeliverable}},
		messages.Message{Rank: rank.Failed, Reason: carillon.ReasonUndeliverable, Detail: "131026", EndedAt: r.now})
	add(work.Result{Move: work.MoveRetry, Due: later, Detail: "500"}, messages.Message{Q: 1, Due: later, Detail: "500"})
	add(work.Result{Move: work.MoveUnknown, Due: later, Detail: "cut"}, messages.Message{Q: 3, Due: later, Detail: "cut"})
	add(work.Result{Move: work.MoveUnsent, Due: later}, messages.Message{Q: 1, Due: later})
	add(work.Result{Move: work.MoveHold, Outcome: messages.Outcome{Hold: "ours/1"}}, messages.Message{Q: 1, Held: true})
	return results, want
}

func checkMoves(t *testing.T, r *rig, one bool) {
	t.Helper()
	const kinds = 7
	f, a := r.fence(t), r.accepted(t, 2*kinds)
	for n := range 2 * kinds {
		r.start(t, f, a, n)
	}
	results, want := moves(r)
	again, more := moves(r)
	for i := range again {
		again[i].Key, more[i].N = work.Key(i+kinds), i+kinds
	}
	results, want = append(results, again...), append(want, more...)
	for i := range results {
		results[i].Key += work.Key(a.Notification.Seq().Message(0))
		if one {
			r.result(t, results[i])
		}
	}
	if !one {
		r.result(t, results...)
	}
	got, err := r.Messages.List(t.Context(), a.Notification.Seq(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Q == 0 || got[i].Held {
			got[i].Due = time.Time{} // of no use there
		}
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(messages.Message{}, "Number")); d != "" {
		t.Error(d)
	}
}

func resultsMove(t *testing.T, r *rig)     { checkMoves(t, r, true) }
func resultsTogether(t *testing.T, r *rig) { checkMoves(t, r, false) }

func resultNeverLowers(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 8)
	for n := range 8 {
		r.start(t, f, a, n)
		r.receive(t, r.receipt(a, n, carillon.StateDelivered))
	}
	var results []work.Result
	for n := range 8 { // enough for one statement, and each of the other moves
		results = append(results, work.Result{
			Key: work.Key(a.Notification.Seq().Message(n)), Attempt: 1, At: r.now.Add(time.Second), Due: r.now,
			Move: []work.Move{
				work.MoveDone, work.MoveDone, work.MoveDone, work.MoveDone, work.MoveDone, work.MoveRetry, work.MoveUnknown, work.MoveHold,
			}[n],
			Outcome: messages.Outcome{Rank: rank.Sent, Hold: "h", ProviderID: "late"},
		})
	}
	results[4].Detail, results[4].Outcome = "x", messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonProviderRefused}
	r.result(t, results...)
	for n := range 8 {
		m := r.message(t, a, n)
		if m.Q != 0 || m.Held || m.Rank != rank.Delivered || m.Reason != "" || m.Detail != "" || m.ProviderID != "wamid" {
			t.Errorf("%d: %+v", n, m)
		}
	}
}

func heldUntilReleased(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 5)
	hold := func(n int, name string) work.Result {
		r.start(t, f, a, n)
		return work.Result{
			Key: work.Key(a.Notification.Seq().Message(n)), Attempt: 1, Move: work.MoveHold, Outcome: messages.Outcome{Hold: name},
		}
	}
	r.result(t, hold(0, "ours/1"), hold(1, "ours/1"), hold(2, "ours/1"), hold(3, "ours/2"))
	holds, err := r.Messages.Holds(t.Context())
	if err != nil || !slices.Equal(holds, []string{"ours/1", "ours/2"}) {
		t.Error(holds, err)
	}
	lane := work.Lane{SenderUID: r.sender.UID, Class: carillon.Utility}
	window := func() int {
		all, err := r.Messages.Window(t.Context(), f.Shard, lane, time.UnixMilli(0), r.now, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := window(); n != 1 {
		t.Errorf("%d messages are in the lane, want the one that is not held", n)
	}
	for _, want := range []int64{2, 1, 0} {
		if n, err := r.Messages.Release(t.Context(), "ours/1", 2); n != want || err != nil {
			t.Error(n, err)
		}
	}
	if n := window(); n != 4 {
		t.Errorf("%d messages are in the lane after the release", n)
	}
	if m := r.message(t, a, 3); !m.Held {
		t.Error("another hold was released")
	}
}

func postponedMovesLater(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 3)
	r.start(t, f, a, 2)
	earlier, later := r.now.Add(-time.Hour), r.now.Add(time.Hour)
	r.deliver(t, &work.Batch{Now: r.now, Later: []work.Queued{
		{Key: work.Key(a.Notification.Seq().Message(0)), Due: later},
		{Key: work.Key(a.Notification.Seq().Message(1)), Due: earlier},
		{Key: work.Key(a.Notification.Seq().Message(2)), Due: later},
	}})
	for n, want := range []time.Time{later, a.Notification.DueAt, a.Notification.DueAt} {
		if m := r.message(t, a, n); !m.Due.Equal(want) {
			t.Errorf("message %d is due %s, want %s", n, m.Due, want)
		}
	}
}
