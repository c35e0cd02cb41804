package queue

import (
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

func TestNeighboursStartTogether(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	q := New(nil, Options{})
	q.beat.forever.Store(true)
	p := &pump{q: q, lanes: map[int64]*lane{}, shards: map[int]*shardState{}}
	for i := range 2 {
		l := &lane{uid: int64(i), sender: &carillon.Sender{}, credit: weights, index: -1, inReady: true, space: new(spacer)}
		l.class[0].fill([]store.Queued{
			{Key: carillon.Seq(i).Message(0), Due: now}, {Key: carillon.Seq(i).Message(1), Due: now}, {Key: carillon.Seq(i + 2).Message(0), Due: now},
		}, false, time.Time{})
		p.lanes[l.uid] = l
		p.ready = append(p.ready, l)
	}
	var got []carillon.MessageKey
	for _, f := range p.choose(now) {
		got = append(got, f.start.Key)
	}
	want := []carillon.MessageKey{
		carillon.Seq(0).Message(0), carillon.Seq(0).Message(1), carillon.Seq(1).Message(0), carillon.Seq(1).Message(1),
		carillon.Seq(2).Message(0), carillon.Seq(3).Message(0),
	}
	if !slices.Equal(got, want) {
		t.Errorf("started %v, want %v", got, want)
	}
}

func fresh(key carillon.MessageKey, now time.Time) *Fresh {
	return &Fresh{Queued: store.Queued{Key: key, Number: "34600111222", Due: now}, Sender: &carillon.Sender{PerSecond: 7}}
}

func TestAMessageJustStoredNeedNotBeRead(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := &lane{credit: weights, index: -1, space: new(spacer)}
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
