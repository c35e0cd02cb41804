package queue

import (
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

// again returns rows like these with other keys.
func again(rows []store.Queued) []store.Queued {
	for i := range rows {
		rows[i].Key += 1 << 30
	}
	return rows
}
