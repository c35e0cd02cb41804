package queue

import (
	"errors"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

// A turn that was under way when the node was told to stop still asks for as many shards as its part is.
func TestALateTurnCallsNoHandOverOff(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, leaving := range []bool{false, true} {
		p := idlePump(t)
		p.close(p.shards[1], time.Time{})
		p.leaving = leaving
		none := 0
		p.q.post(func(in *inbox) { in.shed = &none })
		p.receive(now)
		if p.shards[1].closing != leaving {
			t.Errorf("leaving %v: the shard goes %v", leaving, p.shards[1].closing)
		}
	}
}

// What was settled in the commits that a failover lost is of unknown outcome again.
func TestAfterAFailoverUnknownOutcomesAreLookedFor(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := idlePump(t)
	p.hands.over = make(chan struct{})
	close(p.hands.over)
	p.replayed(replayed{}, now)
	p.q.gives.Wait()
	if s := p.shards[1]; !s.doubtAt.Equal(now) || !s.scanAt.Equal(now) {
		t.Errorf("settled again at %s, looked through at %s", s.doubtAt, s.scanAt)
	}
}

func TestAStartThatFailedLeavesItsRecipientsIntervalAsItWas(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := idlePump(t)
	l := p.laneOf(1, p.shards[1])
	l.of(&carillon.Sender{PerRecipient: time.Minute})
	m := store.Queued{Key: 1 << 8, Number: "34600111222", Due: now.Add(-time.Second)}
	l.class[0].fill([]store.Queued{m}, false, time.Time{})
	f := p.next(l, now)
	if f == nil || l.space.free(m.Number, now) {
		t.Fatal("it does not start, or leaves its number free")
	}
	p.active++
	p.commitFailed(committed{d: &store.Delivery{}, flights: []*flight{f}, err: errors.New("no answer")}, now)
	if at := l.space.slot(m.Number, m.Due, now.Add(time.Second)); at.After(now.Add(time.Second)) {
		t.Errorf("it may start %s later", at.Sub(now))
	}
}

// The interval to the next message counts from when one leaves, not from when it was chosen for a commit that took long.
func TestARecipientsIntervalBeginsWhenAMessageLeaves(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := idlePump(t)
	l := p.laneOf(1, p.shards[1])
	l.of(&carillon.Sender{PerRecipient: time.Minute})
	m := store.Queued{Key: 1 << 8, Number: "34600111222", Due: now}
	l.class[0].fill([]store.Queued{m}, false, time.Time{})
	f := p.next(l, now)
	f.start.Attempt = 1
	p.hands.idle = []chan *flight{make(chan *flight, 1)}
	left := now.Add(3 * time.Second)
	p.put(f, left)
	if at := l.space.slot(m.Number, left.Add(time.Second), left.Add(time.Second)); !at.Equal(left.Add(time.Minute)) {
		t.Errorf("the next may start %s after it left, want a minute", at.Sub(left))
	}
}

func TestTheBreakerOfASenderThatHasNothingToSendIsForgotten(t *testing.T) {
	now := time.Now()
	p := idlePump(t)
	l := p.laneOf(1, p.shards[1])
	l.sender = &carillon.Sender{UID: 1, CompanyID: "ours"}
	l.breaker = &breaker{}
	l.breaker.fail(1<<8, carillon.FaultAccount, true, 0, now)
	for _, c := range []struct {
		after time.Duration
		there bool
	}{{time.Hour, true}, {2 * breakerForgets, false}} {
		p.attend(l, now.Add(c.after))
		if there := p.lanes[1] != nil; there != c.there {
			t.Errorf("%s after its trip it is known: %v", c.after, there)
		}
	}
	p.q.keeps.wait()
}

// With a database that does not answer, each write would last until its own time is over.
func TestAStopWaitsForNoMoreThanOneBreaker(t *testing.T) {
	k := &keeper{over: true, waiting: map[int64]carillon.Breaker{1: {}, 2: {}}, running: true}
	k.done.Go(func() { k.run(nil) }) // writing would panic
	k.wait()
	if k.running {
		t.Error("it goes on")
	}
}
