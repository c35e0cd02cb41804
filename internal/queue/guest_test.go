package queue

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

func TestAsLongAsGuestsComeCommitsAreShort(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	q := New(nil, Options{})
	q.beat.forever.Store(true)
	p := &pump{q: q, lanes: map[int64]*lane{}, shards: map[int]*shardState{1: {id: 1}}}
	much := due(now, 100)
	much.uid, much.shard, much.inReady = 1, 1, true
	p.lanes[1], p.ready = much, []*lane{much}
	first := p.choose(now)
	if len(first) != 64 {
		t.Fatalf("alone a lane starts %d messages at once, want 64", len(first))
	}
	much.flying, p.active = 0, 64
	for i := range 100 {
		p.results = append(p.results, store.Result{Key: carillon.MessageKey(i)})
	}
	p.guests.note(time.Millisecond)
	p.wake(Wake{SenderUID: 1 + carillon.Shards, Fresh: fresh(1000, now)}, now)
	p.attend(much, now)
	flights := p.choose(now)
	guests := 0
	for _, f := range flights {
		if f.lane != much {
			guests++
		}
	}
	if len(flights) != shortRows || guests != 1 {
		t.Errorf("%d start, %d of them guests, want %d and 1", len(flights), guests, shortRows)
	}
	if rs := p.takeResults(now); len(rs) != shortRows || rs[0].Key != 0 || len(p.results) != 100-shortRows {
		t.Errorf("%d results go with them from %d on, %d wait", len(rs), rs[0].Key, len(p.results))
	}
	if rs := p.takeResults(now.Add(guestFor)); len(rs) != 100-shortRows || rs[0].Key != shortRows || p.results != nil {
		t.Errorf("when no guest came for a while %d results go, %d wait", len(rs), len(p.results))
	}
}

func TestWhereTheDiskIsSlowShortCommitsHaveMoreRows(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	g := guests{until: now.Add(time.Second)}
	for range 10 {
		g.note(20 * time.Millisecond)
	}
	if n := g.rows(now); n != 10*shortRows {
		t.Errorf("%d rows beside 20 ms, want %d", n, 10*shortRows)
	}
	g.note(time.Millisecond)
	if n := g.rows(now); n != shortRows {
		t.Errorf("%d rows beside 1 ms, want %d", n, shortRows)
	}
}

func fresh(key carillon.MessageKey, now time.Time) *Fresh {
	return &Fresh{Queued: store.Queued{Key: key, Number: "34600111222", Due: now}, Sender: &carillon.Sender{PerSecond: 7}}
}

func TestAMessageJustStoredNeedNotBeRead(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := &lane{credit: weights, index: -1}
	if !l.take(0, fresh(1000, now)) || !l.class[0].due(now) || l.class[0].wantsLoad(now) || l.room(now, 64) != 7 {
		t.Fatal("it does not stand ready with its sender")
	}
	w := &l.class[0]
	w.loading = true
	l.take(0, fresh(1001, now))
	w.queue = w.queue[1:] // the first one starts
	w.forget(1000)
	w.fill([]store.Queued{fresh(1000, now).Queued, fresh(1001, now).Queued}, false, time.Time{})
	if len(w.queue) != 1 || w.queue[0].Key != 1001 {
		t.Errorf("a read that began before shows them once more: %v", w.queue)
	}
	l.off = true
	if l.take(0, fresh(1002, now)) {
		t.Error("taken for a sender that may not send: it would not be looked at again when it may")
	}
	l.off, w.more = false, true
	if l.take(0, fresh(1002, now)) {
		t.Error("taken before what waits in the database")
	}
	w.more = false
	for i := len(w.queue); i < refillBelow; i++ {
		l.take(0, fresh(carillon.MessageKey(i), now))
	}
	if l.take(0, fresh(1002, now)) || len(w.queue) != refillBelow {
		t.Errorf("%d are held in memory", len(w.queue))
	}
}
