package queue

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
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

func TestAStartThatFailedLeavesItsRecipientsIntervalAsItWas(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := idlePump(t)
	l := p.laneOf(1, p.shards[1])
	l.of(&carillon.Sender{PerRecipient: time.Minute})
	m := store.Queued{Key: 1 << 8, Number: "34600111222", Due: now.Add(-time.Second)}
	l.class[0].fill([]store.Queued{m}, false, time.Time{})
	f := p.next(l, now)
	if f == nil {
		t.Fatal("it does not start")
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
	p.q.o.Deliver = func(context.Context, *Job) Done { return Done{} }
	left := now.Add(3 * time.Second)
	p.send(f, left)
	if at := l.space.slot(m.Number, left.Add(time.Second), left.Add(time.Second)); !at.Equal(left.Add(time.Minute)) {
		t.Errorf("the next may start %s after it left, want a minute", at.Sub(left))
	}
}

func TestTheBreakerOfASenderThatHasNothingToSendIsForgotten(t *testing.T) {
	now := time.Now()
	p := idlePump(t)
	l := p.laneOf(1, p.shards[1])
	l.sender = &carillon.Sender{UID: 1, CompanyID: "ours"}
	p.heed(l, &landed{ // it is canceled then, and never lands again
		f:    &flight{lane: l, job: &Job{Queued: store.Queued{Key: 1 << 8}}},
		done: Done{Result: store.Result{Move: store.MoveRetry}, Pause: true, Fault: carillon.FaultAccount}, at: now,
	}, now)
	for _, c := range []struct {
		after time.Duration
		there bool
	}{{time.Hour, true}, {2 * breakerForgets, false}} {
		p.attend(l, now.Add(c.after))
		if there := p.lanes[1] != nil; there != c.there {
			t.Errorf("%s after its trip it is known: %v", c.after, there)
		}
	}
	p.breakers.wait(time.Minute)
}

// With a database that does not respond, each write lasts until its own time is over.
func TestAStopWaitsForBreakersThatCanBeWrittenAndNoOthers(t *testing.T) {
	for name, takes := range map[string]time.Duration{"responds": 0, "hangs": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			written := 0
			w := &breakerWriter{log: slog.New(slog.DiscardHandler), write: func(ctx context.Context, _ carillon.Breaker) error {
				select {
				case <-time.After(takes):
					written++
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}}
			for uid := range int64(100) {
				w.put(carillon.Breaker{SenderUID: uid})
			}
			begin := time.Now()
			w.wait(breakersLeave)
			if took := time.Since(begin); took > breakersLeave || takes == 0 && written != 100 {
				t.Errorf("the database %s: waited %s, %d written", name, took, written)
			}
			w.done.Wait()
		})
	}
}

// Two wait for one number: the commit of the first takes long, or fails.
func TestTheIntervalHoldsAlsoWhereOneWaits(t *testing.T) {
	const every, number = 6 * time.Second, "34600111222"
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return begin.Add(d) }
	s := &spacer{}
	s.of(&carillon.Sender{PerRecipient: every})
	s.started(number, begin)
	second := s.slot(number, begin, begin)
	s.left(number, after(3*time.Second))
	if !second.Equal(after(every)) {
		t.Fatalf("the second is given %s", second.Sub(begin))
	}
	if at := s.slot(number, second, second); at.Before(after(9 * time.Second)) {
		t.Errorf("the first left after 3 s, the second may start after %s", at.Sub(begin))
	}

	s = &spacer{}
	s.of(&carillon.Sender{PerRecipient: every})
	stamp := s.started(number, begin)
	second = s.slot(number, begin, begin)
	s.unstarted(number, stamp)
	s.started(number, after(time.Second))
	s.left(number, after(time.Second))
	if at := s.slot(number, second, second); !at.Equal(after(7 * time.Second)) {
		t.Errorf("the first left after 1 s, the second may start after %s", at.Sub(begin))
	}
}

// Each of a row leaves a little behind its slot: none comes too soon after the one before, and the row does not drift.
func TestALittleLatenessNeitherShortensAnIntervalNorAddsUp(t *testing.T) {
	const every, number, row = 2 * time.Second, "34600111222", 200
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := &spacer{}
	s.of(&carillon.Sender{PerRecipient: every})
	slots := make([]time.Time, row)
	for i := range slots {
		if i == 0 {
			s.started(number, begin)
			slots[i] = begin
			continue
		}
		slots[i] = s.slot(number, begin, begin)
	}
	before := time.Time{}
	for i, at := range slots {
		if i > 0 {
			if again := s.slot(number, at, at); !again.Equal(at) {
				t.Fatalf("the turn of %d moved by %s", i, again.Sub(at))
			}
			s.started(number, at)
		}
		ready := at.Add(time.Duration(i*i%41) * time.Millisecond) // up to 40 ms, up and down
		left := ready.Add(s.left(number, ready))
		if left.Sub(before) < every {
			t.Errorf("%d left %s after the one before", i, left.Sub(before))
		}
		if late := left.Sub(at); late > leaveLate {
			t.Errorf("%d left %s behind its slot", i, late)
		}
		before = left
	}
}
