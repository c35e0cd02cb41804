package queue

import (
	"context"
	"testing"
	"time"

	"carillon/internal/queue/lane"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

// TestStartThatNobodyToldOfIsTakenBackWhateverIsKnownOfAttemptsBefore covers two consecutive commits with lost
// responses: the first wrote the result of attempt 1, the second started attempt 2.
func TestStartThatNobodyToldOfIsTakenBackWhateverIsKnownOfAttemptsBefore(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	const taken, sent, airborne work.Key = 1 << 8, 2 << 8, 3 << 8
	k := idle(t)
	d := k.d
	l := k.laneOf(1, d.shards[1])
	of := func(key work.Key, attempt int) *flight {
		return &flight{kind: k, lane: l, job: &Job{Queued: work.Queued{Key: key}, Attempt: attempt}}
	}
	k.flights = map[work.Key]*flight{sent: of(sent, 1), airborne: of(airborne, 2)}
	audited := func(attempt int) []work.Result {
		k.results = nil
		k.audits++
		(&scanned{kind: k, shard: 1, audit: true, flights: []work.Flight{
			{Key: taken, SenderUID: 1, Attempt: attempt},
			{Key: sent, SenderUID: 1, Attempt: attempt},
			{Key: airborne, SenderUID: 1, Attempt: 2},
		}}).apply(d, now)
		return k.results
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
	k.written([]work.Result{{Key: taken, Attempt: 1, Move: work.MoveUnsent}}, now)
	if k.orphans[taken].attempt != 2 {
		t.Error("with the first attempt's result the second is forgotten")
	}
	k.written(second, now)
	if len(k.orphans) != 0 {
		t.Errorf("not forgotten once taken back: %v", k.orphans)
	}
}

// With several nodes, work without a wake-up is found within seconds; a single node needs no scan to find it.
func TestSeveralNodesScanMoreOften(t *testing.T) {
	for _, c := range []struct {
		alone      bool
		took, want time.Duration
	}{
		{true, 0, 30 * time.Second},
		{false, 0, 5 * time.Second},
		{false, 100 * time.Millisecond, 5 * time.Second},
		{false, 200 * time.Millisecond, 10 * time.Second},
		{false, time.Minute, 30 * time.Second},
	} {
		if got := scanRest(c.alone, c.took); got != c.want {
			t.Errorf("alone %v, after a scan of %v: %v, want %v", c.alone, c.took, got, c.want)
		}
	}
	for engine, c := range map[string]struct {
		on   func(t *testing.T) store.Options
		want time.Duration
	}{
		"sqlite":   {func(t *testing.T) store.Options { return store.Options{Dir: storetest.Folder(t)} }, 30 * time.Second},
		"postgres": {func(t *testing.T) store.Options { return store.Options{DatabaseURL: storetest.PatientPostgres(t)} }, 5 * time.Second},
	} {
		t.Run(engine, func(t *testing.T) {
			k, now := idleOn(t, c.on(t)), time.Now()
			(&scanned{kind: k, shard: 1}).apply(k.d, now)
			if got := k.in(1).scanAt.Sub(now); got != c.want {
				t.Errorf("the next scan is after %v, not %v", got, c.want)
			}
		})
	}
}

// idle returns a kind that owns shard 1 of an empty database and does nothing automatically.
func idle(t *testing.T) *kind {
	t.Helper()
	return idleOn(t, store.Options{Dir: storetest.Folder(t)})
}

func idleOn(t *testing.T, o store.Options) *kind {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	k := kindOf(s, Kind{})
	k.reads = maxReads
	k.d.shards[1] = &shard{id: 1, work: []*shardWork{{}}}
	return k
}

// owning returns the kind of a dispatcher that owns shard 1 and may start.
func owning(t interface{ Helper() }) *kind {
	t.Helper()
	k := kindOf(nil, Kind{})
	k.reads = maxReads
	k.d.gain(work.Shard{ID: 1, Epoch: 7}, time.Now().Add(-time.Minute))
	return k
}

// kindOf returns the only kind of work of a dispatcher.
func kindOf(s *store.Store, kind Kind) *kind {
	q := New(s, Options{})
	kind.Name, kind.Worker = "test", idler{}
	q.Handle(kind)
	k := newDispatcher(q).kinds[0]
	k.ctx = context.Background()
	return k
}

// idler is a worker with nothing to do.
type idler struct{}

func (idler) Settings(context.Context, int64) (lane.Settings, error)        { return lane.Settings{}, nil }
func (idler) Do(context.Context, *Job) Done                                 { return Done{} }
func (idler) Written([]work.Result)                                         {}
func (idler) Recover(context.Context, []work.Shard) error                   { return nil }
func (idler) Reconcile(context.Context, int, time.Time) (Reconciled, error) { return Reconciled{}, nil }

// The dispatcher may learn that a shard was lost only after it has gained the shard again.
func TestAShardThatIsOursAgainIsNotLost(t *testing.T) {
	k := owning(t)
	d := k.d
	l := k.laneOf(1, d.shards[1])
	l.Halted = true
	d.gain(work.Shard{ID: 1, Epoch: 8}, time.Now())
	if k.lanes[1] != nil {
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
