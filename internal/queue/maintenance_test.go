package queue

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

// TestStartThatNobodyToldOfIsTakenBackWhateverIsKnownOfAttemptsBefore follows two commits in a row whose answers were
// lost: the first wrote the result of attempt 1, the second started attempt 2.
func TestStartThatNobodyToldOfIsTakenBackWhateverIsKnownOfAttemptsBefore(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	const taken, sent, airborne carillon.MessageKey = 1 << 8, 2 << 8, 3 << 8
	d := idle(t)
	l := d.laneOf(1, d.shards[1])
	of := func(k carillon.MessageKey, attempt int) *flight {
		return &flight{lane: l, job: &Job{Queued: store.Queued{Key: k}, Attempt: attempt}}
	}
	d.flights = map[carillon.MessageKey]*flight{sent: of(sent, 1), airborne: of(airborne, 2)}
	audited := func(attempt int) []store.Result {
		d.results = nil
		d.audits++
		(&scanned{shard: 1, audit: true, flights: []store.Flight{
			{Key: taken, SenderUID: 1, Attempt: attempt}, {Key: sent, SenderUID: 1, Attempt: attempt}, {Key: airborne, SenderUID: 1, Attempt: 2},
		}}).apply(d, now)
		return d.results
	}
	if rs := audited(1); len(rs) != 1 || rs[0].Key != taken {
		t.Fatalf("taken back are %v, want what no attempt is known of", rs)
	}
	if rs := audited(1); len(rs) != 0 {
		t.Fatalf("taken back a second time: %v", rs)
	}
	second := audited(2)
	if len(second) != 2 || second[0].Key != taken || second[1].Key != sent || second[0].Attempt != 2 || second[1].Attempt != 2 {
		t.Fatalf("taken back are %v, want the second attempts of both", second)
	}
	d.written([]store.Result{{Key: taken, Attempt: 1, Move: store.MoveUnsent}}, now)
	if d.orphans[taken].attempt != 2 {
		t.Error("with the first attempt's result the second is forgotten")
	}
	d.written(second, now)
	if len(d.orphans) != 0 {
		t.Errorf("not forgotten once taken back: %v", d.orphans)
	}
}

// idlePump owns shard 1 of an empty database and does nothing by itself.
func idle(t *testing.T) *dispatcher {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	d := newDispatcher(New(s, Options{}))
	d.reads = readsMost
	d.shards[1] = &shard{id: 1}
	return d
}

// owning is a dispatcher that owns shard 1 and may start.
func owning(t interface{ Helper() }) *dispatcher {
	t.Helper()
	q := New(nil, Options{Deliver: nil})
	d := newDispatcher(q)
	d.reads = readsMost
	d.gain(store.Shard{ID: 1, Epoch: 7}, time.Now().Add(-time.Minute))
	return d
}

// The dispatcher may learn only after it has taken a shard up again that it had been lost before.
func TestAShardThatIsOursAgainIsNotLost(t *testing.T) {
	d := owning(t)
	l := d.laneOf(1, d.shards[1])
	l.Halted = true
	d.gain(store.Shard{ID: 1, Epoch: 8}, time.Now())
	if d.lanes[1] != nil {
		t.Error("a lane goes on as it was")
	}
	lost{ID: 1, Epoch: 7}.apply(d, time.Now())
	if s := d.shards[1]; s == nil || s.epoch != 8 {
		t.Errorf("the dispatcher has %+v", s)
	}
	lost{ID: 1, Epoch: 8}.apply(d, time.Now())
	if d.shards[1] != nil {
		t.Error("it is not lost")
	}
}
