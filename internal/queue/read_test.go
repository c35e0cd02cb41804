package queue

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

// Ten thousand for one number stand before one for another.
func TestWhatWaitsForOneNumberIsPutOffAsItIsRead(t *testing.T) {
	p := owning(t)
	p.loads = 100 // nobody reads on
	now := time.Now()
	l := p.laneOf(1, p.shards[1])
	l.of(&carillon.Sender{UID: 1, PerRecipient: 400 * time.Millisecond})
	l.space.started("34600000000", now)
	rows := make([]store.Queued, windowRows)
	for i := range rows {
		rows[i] = store.Queued{Key: carillon.Seq(i).Message(0), Number: "34600000000", Due: now}
	}
	rows[windowRows-1].Number = "34600000001"
	p.loaded(loaded{readings: []*reading{{lane: l, class: 1, rows: rows, full: true, sender: l.sender}}, ended: true}, now)
	w := &l.class[1]
	if len(w.queue) != 3 || w.queue[0].Number != "34600000001" || !w.due(now) {
		t.Fatalf("%d are held to start, want the other number's and those of the next second", len(w.queue))
	}
	if !w.wantsLoad(now) {
		t.Error("what stands behind them is not read")
	}
	seen := map[time.Time]bool{}
	for _, x := range p.later {
		seen[x.m.Due] = true
	}
	if len(p.later) != windowRows-3 || len(seen) != len(p.later) {
		t.Errorf("%d are put off to %d times", len(p.later), len(seen))
	}
	for range 20 { // however much is read
		p.loaded(loaded{readings: []*reading{{lane: l, class: 1, rows: again(rows), full: true, sender: l.sender}}, ended: true}, now)
	}
	if len(p.later) > laterMost || len(w.queue) <= windowRows {
		t.Errorf("%d wait for their commit, %d are held", len(p.later), len(w.queue))
	}
	for left := len(p.later); left > 0; left = len(p.later) {
		if n := len(p.takeLater()); n != min(left, max(laterRows, left/2)) || len(p.later) != left-n {
			t.Fatalf("%d of %d go with a commit, %d are left", n, left, len(p.later))
		}
	}
}

// A sender that cannot be had keeps no other from being read.
func TestLanesThatWaitForAReaderAreReadTogether(t *testing.T) {
	p := idlePump(t)
	const lanes, ill = 5*readTogether + 3, 3
	p.q.o.Sender = func(_ context.Context, uid int64) (*carillon.Sender, bool, error) {
		if uid == ill*carillon.Shards+1 {
			return nil, false, carillon.Absent("Sender")
		}
		return &carillon.Sender{UID: uid}, true, nil
	}
	now := time.Now()
	p.starve(t, 0, lanes, now)
	if sizes := p.fed(t, now); !slices.Equal(sizes, []int{3, readTogether, readTogether, readTogether, readTogether, readTogether}) {
		t.Errorf("%v were read together, want %d at most", sizes, readTogether)
	}
	if len(p.lanes) != 1 || p.loads != 0 { // those of which nothing is due are forgotten
		t.Errorf("%d lanes are left, %d reads", len(p.lanes), p.loads)
	}
	p.starve(t, 100, 6, now)
	if sizes := p.fed(t, now); !slices.Equal(sizes, []int{1, 1, 2, 2}) {
		t.Errorf("%v were read together where there were readers for each two", sizes)
	}
}

// Of lanes that were read together and had no answer in time, each is read by itself before it is read with others again.
func TestALaneWhoseReadTookTooLongIsReadByItself(t *testing.T) {
	p := idlePump(t)
	p.q.o.Sender = func(_ context.Context, uid int64) (*carillon.Sender, bool, error) {
		return &carillon.Sender{UID: uid}, true, nil
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	now := time.Now()
	var late, refused []*reading
	for i := range 2 {
		p.starve(t, i, 1, now)
		late = p.laneOf(int64(i*carillon.Shards+1), p.shards[1]).wants(late, now)
	}
	p.starve(t, 2, 1, now)
	refused = p.laneOf(2*carillon.Shards+1, p.shards[1]).wants(refused, now)
	fail(ended, late, ended.Err())
	fail(t.Context(), refused, errors.New("connection refused"))
	p.hungry, p.loads = nil, loadsMax
	p.loaded(loaded{readings: append(late, refused...), ended: true}, now)
	if p.loads != loadsMax-1 || len(p.hungry) > 0 {
		t.Fatalf("%d reads are under way, %d lanes wait; they were put off", p.loads, len(p.hungry))
	}
	now = now.Add(retryWait)
	p.starve(t, 10, 3, now)
	for i := range 3 {
		l := p.laneOf(int64(i*carillon.Shards+1), p.shards[1])
		l.hungry = false
		p.attend(l, now)
	}
	p.starve(t, 20, 3, now)
	p.loads = loadsMax - 1 // one reader
	first := p.hungry
	var seen []int
	for len(p.hungry) > 0 {
		before := len(p.hungry)
		p.feed(now)
		seen = append(seen, before-len(p.hungry))
		p.found(t, now)
	}
	if !slices.Equal(seen, []int{3, 1, 1, 4}) {
		t.Errorf("%v of %d were read together, want the two that took too long by themselves", seen, len(first))
	}
	if len(p.lanes) != 0 {
		t.Errorf("%d lanes are left", len(p.lanes))
	}
}

// A full window, one with a next message, and an empty one are each what they would be by themselves.
func TestWindowsReadTogetherKeepApart(t *testing.T) {
	p := owning(t)
	now := time.Now()
	var rs []*reading
	for i := range 3 {
		l := p.laneOf(int64(i*carillon.Shards+1), p.shards[1])
		l.class[1].wake(now)
		rs = l.wants(rs, now)
		rs[i].sender = &carillon.Sender{UID: l.uid}
	}
	rows := make([]store.Queued, windowRows)
	for i := range rows {
		rows[i] = store.Queued{Key: carillon.Seq(i).Message(0), Number: "34600000000", Due: now}
	}
	rs[0].rows, rs[0].full = rows, true
	first := *rs[1]
	first.rows, first.early = again(slices.Clone(rows[:2])), true
	p.loaded(loaded{readings: []*reading{rs[0], &first}}, now)
	if p.loads != loadsMax {
		t.Error("the reader is free before its end")
	}
	if w := &rs[0].lane.class[1]; len(w.queue) != windowRows || w.loading || !w.more {
		t.Errorf("the full one has %d, is being read: %v, has more: %v", len(w.queue), w.loading, w.more)
	}
	if w := &rs[1].lane.class[1]; len(w.queue) != 2 || !w.loading {
		t.Errorf("the second has %d to start, is being read: %v", len(w.queue), w.loading)
	}
	rs[1].next = now.Add(time.Hour)
	p.loaded(loaded{readings: rs[1:], ended: true}, now)
	if w := &rs[1].lane.class[1]; len(w.queue) != 2 || w.loading || !w.next.Equal(now.Add(time.Hour)) {
		t.Errorf("the second has %d, is being read: %v, next %s", len(w.queue), w.loading, w.next)
	}
	if p.lanes[rs[2].lane.uid] != nil || p.loads != loadsMax-1 {
		t.Error("the empty lane is not forgotten")
	}
}

// starve has lanes of shard 1 wait for a reader.
func (p *pump) starve(t *testing.T, from, n int, now time.Time) {
	t.Helper()
	before := len(p.hungry)
	p.loads = loadsMax
	for i := range n {
		p.wake(Wake{SenderUID: int64((from+i)*carillon.Shards + 1), Class: 1, Due: now}, now)
	}
	if len(p.hungry) != before+n {
		t.Fatalf("%d lanes wait for a reader, want %d", len(p.hungry), before+n)
	}
	p.loads = 0
}

// fed gives readers to the lanes that wait, and tells how many of them were read together.
func (p *pump) fed(t *testing.T, now time.Time) (sizes []int) {
	t.Helper()
	for len(p.hungry) > 0 || p.loads > 0 {
		p.feed(now)
		sizes = append(sizes, p.found(t, now)...)
	}
	slices.Sort(sizes)
	return sizes
}

// found waits for what readers find.
func (p *pump) found(t *testing.T, now time.Time) (sizes []int) {
	t.Helper()
	select {
	case <-p.q.signal:
	case <-time.After(10 * time.Second):
		t.Fatal("a read does not end")
	}
	for _, x := range p.q.takeInbox().loads {
		sizes = append(sizes, len(x.readings))
		p.loaded(x, now)
	}
	return sizes
}

// again gives rows like these with other keys.
func again(rows []store.Queued) []store.Queued {
	for i := range rows {
		rows[i].Key += 1 << 30
	}
	return rows
}
