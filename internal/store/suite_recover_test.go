package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/calls"
	"carillon/internal/store/work"
)

func recovery() []sentence {
	return []sentence{
		{"messages in flight are read by their owner of this epoch alone", flightsOfMessages},
		{"calls in flight are read by their owner of this epoch alone", flightsOfCalls},
		{"recovery makes what earlier owners began unknown and restarts every wait", recovering},
		{"recovery gives each sender its own wait and changes no other's messages", recoveringBySender},
	}
}

// readFlights reads the work in flight at a fence, by key.
func readFlights(t *testing.T, read func(context.Context, work.Fence) ([]work.Flight, error), f work.Fence) []work.Flight {
	t.Helper()
	all, err := read(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b work.Flight) int { return int(a.Key - b.Key) })
	return all
}

// hand gives a fence's shard to another node.
func (r *rig) hand(t *testing.T, f work.Fence, to string) work.Fence {
	t.Helper()
	if err := r.Nodes.Give(t.Context(), []work.Fence{f}); err != nil {
		t.Fatal(err)
	}
	r.join(t, to)
	return work.Fence{Shard: f.Shard, Owner: to, Epoch: r.take(t, f.Shard, to)}
}

func flightsOfMessages(t *testing.T, r *rig) {
	f, read := r.fence(t), r.Messages.Flights
	elsewhere := r.accepted(t, 1, func(a *messages.Accept) { a.Notification.SenderUID = r.second.UID })
	other := work.Fence{Shard: int(r.second.UID % carillon.Shards), Owner: f.Owner}
	other.Epoch = r.take(t, other.Shard, f.Owner)
	r.start(t, other, elsewhere, 0)
	a := r.accepted(t, 6)
	key := func(n int) work.Key { return work.Key(a.Notification.Seq().Message(n)) }
	if all := readFlights(t, read, f); len(all) != 0 {
		t.Errorf("before any start: %+v", all)
	}
	for n := range 5 { // the last stays queued
		r.start(t, f, a, n)
	}
	r.result(t, r.sent(a, 1),
		work.Result{Key: key(2), Attempt: 1, Move: work.MoveUnknown, Due: r.now},
		work.Result{Key: key(3), Attempt: 1, Move: work.MoveRetry, Due: r.now})
	r.start(t, f, a, 3)
	want := []work.Flight{
		{Key: key(0), SenderUID: r.sender.UID, Class: carillon.Utility, Attempt: 1},
		{Key: key(3), SenderUID: r.sender.UID, Class: carillon.Utility, Attempt: 2},
		{Key: key(4), SenderUID: r.sender.UID, Class: carillon.Utility, Attempt: 1},
	}
	if d := cmp.Diff(want, readFlights(t, read, f)); d != "" {
		t.Error(d)
	}
	for name, lost := range map[string]work.Fence{
		"another node":     {Shard: f.Shard, Owner: "other", Epoch: f.Epoch},
		"an earlier epoch": {Shard: f.Shard, Owner: f.Owner, Epoch: f.Epoch - 1},
	} {
		if all := readFlights(t, read, lost); len(all) != 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
	next := r.hand(t, f, "next")
	r.start(t, next, a, 5)
	if d := cmp.Diff([]work.Flight{{Key: key(5), SenderUID: r.sender.UID, Class: carillon.Utility, Attempt: 1}},
		readFlights(t, read, next)); d != "" {
		t.Error(d)
	}
	if all := readFlights(t, read, f); len(all) != 0 {
		t.Errorf("the owner before: %+v", all)
	}
}

func flightsOfCalls(t *testing.T, r *rig) {
	f, read := r.fence(t), r.Calls.Flights
	_, first := r.called(t)
	_, ended := r.called(t)
	_, second := r.called(t)
	r.called(t) // stays queued
	r.dial(t, f, 0, first, ended)
	r.callEnds(t, ended, work.MoveDone, calls.Outcome{State: carillon.StateCompleted})
	flight := func(k work.Key) []work.Flight {
		return []work.Flight{{Key: k, SenderUID: r.sender.UID, Class: carillon.Utility, Attempt: 1}}
	}
	if d := cmp.Diff(flight(first), readFlights(t, read, f)); d != "" {
		t.Error(d)
	}
	next := r.hand(t, f, "next")
	r.dial(t, next, 0, second)
	if d := cmp.Diff(flight(second), readFlights(t, read, next)); d != "" {
		t.Error(d)
	}
	if all := readFlights(t, read, f); len(all) != 0 {
		t.Errorf("the owner before: %+v", all)
	}
}

func recovering(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 4)
	for n := range 2 {
		r.start(t, f, a, n)
	}
	r.result(t, work.Result{Key: work.Key(a.Notification.Seq().Message(1)), Attempt: 1, Move: work.MoveUnknown, Due: r.now})
	next := r.hand(t, f, "next")
	r.start(t, next, a, 2) // its own: not to be recovered
	later := r.now.Add(time.Hour)
	waits := func(uid int64) time.Duration {
		if uid != r.sender.UID {
			t.Errorf("asked for the wait of sender %d", uid)
		}
		return 10 * time.Minute
	}
	senders, err := r.Messages.InFlight(t.Context(), []int{f.Shard + 1, f.Shard})
	if d := cmp.Diff(map[int][]int64{f.Shard: {r.sender.UID}}, senders); d != "" || err != nil {
		t.Error(d, err)
	}
	if n, err := r.Messages.Recover(t.Context(), f.Shard, next.Epoch, later, senders[f.Shard], waits); n != 2 || err != nil {
		t.Error(n, err)
	}
	for n, want := range []int{3, 3, 2, 1} {
		m := r.message(t, a, n)
		if m.Q != want || want == 3 && !m.Due.Equal(later.Add(10*time.Minute)) {
			t.Errorf("message %d: %+v", n, m)
		}
	}
	if n, err := r.Messages.Recover(t.Context(), f.Shard+1, next.Epoch, later, senders[f.Shard], waits); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func recoveringBySender(t *testing.T, r *rig) {
	f := r.fence(t)
	neighbour := r.sender.UID + carillon.Shards // of the same shard
	third := neighbour + carillon.Shards
	by := map[int64]*messages.Accept{}
	for _, uid := range []int64{r.sender.UID, neighbour, third} {
		by[uid] = r.accepted(t, 2, func(a *messages.Accept) { a.Notification.SenderUID = uid })
		r.start(t, f, by[uid], 0)
	}
	next := r.hand(t, f, "next")
	// The outcome of one that the new owner began is unknown too: its wait restarts.
	r.start(t, next, by[neighbour], 1)
	r.result(t, work.Result{
		Key: work.Key(by[neighbour].Notification.Seq().Message(1)), SenderUID: neighbour, Attempt: 1, Move: work.MoveUnknown, Due: r.now,
	})
	later := r.now.Add(time.Hour)
	waits := map[int64]time.Duration{r.sender.UID: time.Minute, neighbour: time.Hour}
	n, err := r.Messages.Recover(t.Context(), f.Shard, next.Epoch, later, []int64{r.sender.UID, neighbour},
		func(uid int64) time.Duration { return waits[uid] })
	if n != 3 || err != nil {
		t.Error(n, err)
	}
	for uid, wait := range waits {
		if m := r.message(t, by[uid], 0); m.Q != 3 || !m.Due.Equal(later.Add(wait)) {
			t.Errorf("sender %d: %+v", uid, m)
		}
	}
	if m := r.message(t, by[neighbour], 1); m.Q != 3 || !m.Due.Equal(later.Add(time.Hour)) {
		t.Errorf("its own: %+v", m)
	}
	if m := r.message(t, by[r.sender.UID], 1); m.Q != 1 {
		t.Errorf("queued: %+v", m)
	}
	if m := r.message(t, by[third], 0); m.Q != 2 {
		t.Errorf("of a sender that was not asked for: %+v", m)
	}
}
