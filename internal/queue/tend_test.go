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
	p := idlePump(t)
	l := p.laneOf(1, p.shards[1])
	of := func(k carillon.MessageKey, attempt int) *flight {
		return &flight{lane: l, job: &Job{Queued: store.Queued{Key: k}, Attempt: attempt}}
	}
	p.flights = map[carillon.MessageKey]*flight{sent: of(sent, 1), airborne: of(airborne, 2)}
	audited := func(attempt int) []store.Result {
		p.results = nil
		p.auditing++
		p.audited(audit{shard: 1, audited: true, flights: []store.Flight{
			{Key: taken, SenderUID: 1, Attempt: attempt}, {Key: sent, SenderUID: 1, Attempt: attempt}, {Key: airborne, SenderUID: 1, Attempt: 2},
		}}, now)
		return p.results
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
	p.written([]store.Result{{Key: taken, Attempt: 1, Move: store.MoveUnsent}}, now)
	if p.orphans[taken].attempt != 2 {
		t.Error("with the first attempt's result the second is forgotten")
	}
	p.written(second, now)
	if len(p.orphans) != 0 {
		t.Errorf("not forgotten once taken back: %v", p.orphans)
	}
}

// idlePump owns shard 1 of an empty database and does nothing by itself.
func idlePump(t *testing.T) *pump {
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
	return &pump{
		q: New(s, Options{}), loads: loadsMax, lanes: map[int64]*lane{}, shards: map[int]*shardState{1: {id: 1}},
		orphans: map[carillon.MessageKey]orphan{}, flights: map[carillon.MessageKey]*flight{},
	}
}

// TestWhatAnAuditReadOfADatabaseThatIsToldAgainIsReadAgain has an audit end while the server that took over is still being
// told what it lost: it found in flight what had been sent.
func TestWhatAnAuditReadOfADatabaseThatIsToldAgainIsReadAgain(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	found := audit{shard: 1, audited: true, flights: []store.Flight{{Key: 1 << 8, SenderUID: 1, Attempt: 1}}}
	for name, c := range map[string]struct {
		as    func(p *pump)
		again bool
	}{
		"it is being told":         {func(p *pump) { p.echoes.replaying = true }, true},
		"it is yet to be told":     {func(p *pump) { p.echoes.timeline = p.q.store.Timeline() + 1 }, true},
		"it has been told":         {func(p *pump) { p.echoes.rest = now.Add(time.Second) }, false},
		"there was nothing to say": {func(*pump) {}, false},
	} {
		p := idlePump(t)
		c.as(p)
		p.auditing = 1
		p.audited(found, now)
		if taken := len(p.results) == 1; taken == c.again || p.shards[1].audit != c.again || p.auditing != 0 {
			t.Errorf("%s: taken back %v, to be read again %v, %d audits", name, taken, p.shards[1].audit, p.auditing)
		}
	}
}
