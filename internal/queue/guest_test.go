package queue

import (
	"slices"
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
	much.flying, p.active = 20, 64
	for i := range 100 {
		p.results = append(p.results, store.Result{Key: carillon.MessageKey(i)})
	}
	p.guests.note(time.Millisecond)
	p.wake(Wake{SenderUID: 1 + carillon.Shards, Fresh: fresh(1000, now)}, now)
	p.attend(much, now)
	if flights := p.choose(now); len(flights) != 1 || flights[0].lane == much || len(p.takeResults(now)) != 0 {
		t.Fatalf("%d start with the guest's, want it alone", len(flights)-1)
	}
	p.guests.made()
	p.wake(Wake{SenderUID: 1 + 2*carillon.Shards, Fresh: fresh(2000, now)}, now)
	flights := p.choose(now)
	if len(flights) != shortRows || flights[0].lane == much || flights[1].lane != much {
		t.Errorf("%d start, want %d: another guest's, then the others'", len(flights), shortRows)
	}
	if rs := p.takeResults(now); len(rs) != 2*shortRows || rs[0].Key != 0 || len(p.results) != 100-2*shortRows {
		t.Errorf("%d results go with them from %d on, %d wait", len(rs), rs[0].Key, len(p.results))
	}
	if rs := p.takeResults(now.Add(guestFor)); len(rs) != 100-2*shortRows || rs[0].Key != 2*shortRows || p.results != nil {
		t.Errorf("when no guest came for a while %d results go, %d wait", len(rs), len(p.results))
	}
}

func TestResultsAreWrittenAsFastAsTheyComeThoughGuestsNeverEnd(t *testing.T) {
	t.Run("all started in their turn", func(t *testing.T) { written(t, 0, 4*shortRows) })
	t.Run("many started with their accepts", func(t *testing.T) { written(t, 4*shortRows, 32*shortRows) })
}

// written has results come of what commits started, and of so many more between two, and looks at how many wait.
func written(t *testing.T, granted, most int) {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	q := New(nil, Options{})
	q.beat.forever.Store(true)
	p := &pump{q: q, lanes: map[int64]*lane{}, shards: map[int]*shardState{}, active: 1}
	p.guests.note(time.Millisecond)
	much := due(now, 10_000)
	much.uid, much.inReady = 1, true
	p.lanes[1], p.ready = much, []*lane{much}
	for i := range 100 {
		for j := range shortRows / 2 {
			l := due(now, 1)
			l.uid = int64(1000*i + j + 2)
			p.lanes[l.uid] = l
			p.guest(now)
			p.attend(l, now)
		}
		flights := p.choose(now)
		if len(flights) == 0 {
			t.Fatal("nothing starts")
		}
		p.takeResults(now)
		p.guests.made()
		for _, f := range flights { // each is answered before the next commit
			f.lane.flying--
			p.results = append(p.results, store.Result{Key: f.start.Key})
		}
		p.results = append(p.results, make([]store.Result, granted)...)
		if len(p.results) > most {
			t.Fatalf("after %d commits %d results wait", i+1, len(p.results))
		}
	}
}

func TestTheLastPlaceIsNotAlwaysANewcomers(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	q := New(nil, Options{ProcessCap: 100, LaneCap: 64})
	q.beat.forever.Store(true)
	p := &pump{q: q, lanes: map[int64]*lane{}, shards: map[int]*shardState{}, active: 99}
	much := due(now, 100)
	much.uid, much.inReady = 1, true
	p.lanes[1], p.ready = much, []*lane{much}
	ours := 0
	for i := range 10 {
		for j := range 100 {
			l := due(now, 1)
			l.uid = int64(1000*i + j + 2)
			p.lanes[l.uid] = l
			p.attend(l, now)
		}
		for _, f := range p.choose(now) {
			if f.lane == much {
				ours++
			}
		}
		p.guests.made()
	}
	if ours == 0 {
		t.Error("newcomers had the only place ten times out of ten")
	}
}

func TestAGuestsCommitThatHoldsNothingIsNotMade(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	q := New(nil, Options{})
	q.beat.forever.Store(true)
	p := &pump{q: q, lanes: map[int64]*lane{}, shards: map[int]*shardState{}, results: make([]store.Result, 7)}
	much, gone := due(now, 100), due(now, 1)
	much.uid, much.inReady, gone.uid, gone.inReady, gone.off = 1, true, 2, true, true
	p.lanes[1], p.lanes[2], p.ready, p.newly = much, gone, []*lane{much}, []*lane{gone}
	p.guests.until = now.Add(time.Second)
	if flights := p.choose(now); len(flights) == 0 || len(p.takeResults(now)) != 7 {
		t.Errorf("%d start, and no results go with them", len(flights))
	}
}

func TestACrowdOfGuestsSharesACommitWithTheOthers(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	q := New(nil, Options{})
	q.beat.forever.Store(true)
	p := &pump{q: q, lanes: map[int64]*lane{}, shards: map[int]*shardState{}, active: 1}
	p.guests.until = now.Add(time.Second)
	much := due(now, 100)
	much.inReady = true
	p.lanes[0], p.ready = much, []*lane{much}
	for i := range int64(2000) {
		l := due(now, 1)
		l.uid = i + 1
		p.lanes[l.uid] = l
		p.attend(l, now)
	}
	flights := p.choose(now)
	ours := 0
	for _, f := range flights {
		if f.lane == much {
			ours++
		}
	}
	if len(flights) != 576 || ours != 64 {
		t.Errorf("%d start, %d of them of the lane that was there, want 512 more than its 64", len(flights), ours)
	}
}

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
