package queue

import (
	"context"
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

// Ten thousand for one number stand before one for another.
func TestWhatWaitsForOneNumberIsPutOffAsItIsRead(t *testing.T) {
	p := lending(t)
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
	p.loaded(loaded{readings: []*reading{{lane: l, class: 1, rows: rows, full: true, sender: l.sender}}}, now)
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
		p.loaded(loaded{readings: []*reading{{lane: l, class: 1, rows: again(rows), full: true, sender: l.sender}}}, now)
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

// Many lanes that wait for a reader are read together. A sender that cannot be had, or a read that takes too long, keeps the
// others from theirs once at most.
func TestLanesThatWaitForAReaderAreReadTogether(t *testing.T) {
	p := idlePump(t)
	const lanes, ill = 2*readTogether + 10, 3
	p.q.o.Sender = func(_ context.Context, uid int64) (*carillon.Sender, bool, error) {
		if uid == ill*carillon.Shards+1 {
			return nil, false, carillon.Absent("Sender")
		}
		return &carillon.Sender{UID: uid}, true, nil
	}
	now := time.Now()
	for i := range lanes {
		p.wake(Wake{SenderUID: int64(i*carillon.Shards + 1), Class: 1, Due: now}, now)
	}
	if len(p.hungry) != lanes {
		t.Fatalf("%d lanes wait for a reader, want %d", len(p.hungry), lanes)
	}
	p.loads = 0
	if sizes, seen := p.fed(t, now); !slices.Equal(sizes, []int{10, readTogether, readTogether}) || seen != lanes {
		t.Errorf("%v were read together, want %d at most", sizes, readTogether)
	}
	if len(p.lanes) != 1 || p.loads != 0 { // those of which nothing is due are forgotten
		t.Errorf("%d lanes are left, %d reads", len(p.lanes), p.loads)
	}
	now = now.Add(retryWait)
	p.loads = loadsMax
	p.attend(p.lanes[ill*carillon.Shards+1], now)
	for i := range 5 {
		p.wake(Wake{SenderUID: int64((100+i)*carillon.Shards + 1), Class: 1, Due: now}, now)
	}
	p.loads = 0
	if sizes, seen := p.fed(t, now); !slices.Equal(sizes, []int{1, 5}) || seen != 6 {
		t.Errorf("%v were read together, want the one that failed by itself", sizes)
	}
}

// fed gives readers to the lanes that wait, and tells the sizes of what they read together and of how many lanes that was.
func (p *pump) fed(t *testing.T, now time.Time) (sizes []int, seen int) {
	t.Helper()
	for len(p.hungry) > 0 || p.loads > 0 {
		p.feed(now)
		select {
		case <-p.q.signal:
		case <-time.After(10 * time.Second):
			t.Fatal("a read does not end")
		}
		for _, x := range p.q.takeInbox().loads {
			sizes, seen = append(sizes, len(x.readings)), seen+len(x.readings)
			p.loaded(x, now)
		}
	}
	slices.Sort(sizes)
	return sizes, seen
}

// again gives rows like these with other keys.
func again(rows []store.Queued) []store.Queued {
	for i := range rows {
		rows[i].Key += 1 << 30
	}
	return rows
}
