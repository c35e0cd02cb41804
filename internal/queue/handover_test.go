package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue/lane"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/work"
)

// A turn that began before the node stops may still ask for its part of the shards. It must not cancel the hand-over.
func TestALateTurnCancelsNoHandOver(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, leaving := range []bool{false, true} {
		k := idle(t)
		d := k.d
		d.handover.close(d.shards[1], time.Time{})
		d.leaving = leaving
		rebalance(0).apply(d, now)
		if d.shards[1].closing != leaving {
			t.Errorf("leaving %v: the shard goes %v", leaving, d.shards[1].closing)
		}
	}
}

func TestAStartThatFailedLeavesItsRecipientsIntervalAsItWas(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	k := idle(t)
	d := k.d
	l := k.laneOf(1, d.shards[1])
	l.Set(lane.Settings{PerRecipient: time.Minute})
	m := work.Queued{Key: 1 << 8, Number: "34600111222", Due: now.Add(-time.Second)}
	l.Buffers[0].Fill([]work.Queued{m}, false, time.Time{})
	f := k.next(l, now)
	if f == nil {
		t.Fatal("it does not start")
	}
	k.inFlight++
	(&committed{kind: k, batch: &work.Batch{}, flights: []*flight{f}, err: errors.New("no response")}).apply(d, now)
	if at := l.Spacer.Slot(m.Number, m.Due, now.Add(time.Second)); at.After(now.Add(time.Second)) {
		t.Errorf("it may start %s later", at.Sub(now))
	}
}

// A recipient's interval begins when a message is sent, not when it was chosen for a commit that took long.
func TestARecipientsIntervalBeginsWhenAMessageLeaves(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	k := idle(t)
	d := k.d
	l := k.laneOf(1, d.shards[1])
	l.Set(lane.Settings{PerRecipient: time.Minute})
	m := work.Queued{Key: 1 << 8, Number: "34600111222", Due: now}
	l.Buffers[0].Fill([]work.Queued{m}, false, time.Time{})
	f := k.next(l, now)
	f.start.Attempt = 1
	left := now.Add(3 * time.Second)
	k.launch(f, left)
	if at := l.Spacer.Slot(m.Number, left.Add(time.Second), left.Add(time.Second)); !at.Equal(left.Add(time.Minute)) {
		t.Errorf("the next may start %s after it left, want a minute", at.Sub(left))
	}
}

func TestTheBreakerOfASenderThatHasNothingToSendIsForgotten(t *testing.T) {
	now := time.Now()
	k := idle(t)
	d := k.d
	l := k.laneOf(1, d.shards[1])
	l.Set(lane.Settings{CompanyID: "ours"})
	k.breakers.record(l, &completion{ // it is canceled then, and gets no response again
		f:    &flight{kind: k, lane: l, job: &Job{Queued: work.Queued{Key: 1 << 8}}},
		done: Done{Result: work.Result{Move: work.MoveRetry}, Pause: true, Fault: provider.FaultAccount}, at: now,
	}, now)
	for _, c := range []struct {
		after time.Duration
		there bool
	}{{time.Hour, true}, {2 * lane.BreakerForgets, false}} {
		k.attend(l, now.Add(c.after))
		if there := k.lanes[1] != nil; there != c.there {
			t.Errorf("%s after its trip it is known: %v", c.after, there)
		}
	}
}

func TestAStopWaitsUntilChangesOfBreakersAreWritten(t *testing.T) {
	now := time.Now()
	k := idle(t)
	d := k.d
	line := &carillon.Sender{
		CompanyID: "ours", ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "sandbox", MediaCheck: "syntax",
	}
	if err := d.q.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutCompany(ctx, tx, &carillon.Company{ID: "ours", Name: "Ours"}, now),
			settings.PutSender(ctx, tx, line, now))
	}); err != nil {
		t.Fatal(err)
	}
	l := k.laneOf(line.UID, d.shards[1])
	l.Set(lane.Settings{CompanyID: "ours"})
	d.leaving, k.deadline = true, now.Add(time.Minute)
	k.breakers.record(l, &completion{
		f:    &flight{kind: k, lane: l, job: &Job{Queued: work.Queued{Key: 1 << 8}}},
		done: Done{Result: work.Result{Move: work.MoveRetry}, Pause: true, Fault: provider.FaultAccount}, at: now,
	}, now)
	if d.drained(now) {
		t.Error("it does not wait for a change that is to be written")
	}
	d.writeBreakers()
	if d.drained(now) {
		t.Error("it does not wait for a change that is being written")
	}
	<-d.q.signal
	for _, e := range d.q.takeEvents() {
		e.apply(d, now)
	}
	if all, err := d.q.store.Breakers.All(t.Context()); len(all) != 1 || err != nil {
		t.Errorf("written are %v, %v", all, err)
	}
	if !d.drained(now) {
		t.Error("it waits for what has been written")
	}
}
