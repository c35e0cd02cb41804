package queue

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store"
)

// Ten thousand for one number stand before one for another.
func TestWhatWaitsForOneNumberIsPutOffAsItIsRead(t *testing.T) {
	d := owning(t)
	d.reads = 100 // nobody reads on
	now := time.Now()
	l := d.laneOf(1, d.shards[1])
	l.SetSender(&carillon.Sender{UID: 1, PerRecipient: 400 * time.Millisecond})
	l.Spacer.Started("34600000000", now)
	rows := make([]store.Queued, lane.ReadRows)
	for i := range rows {
		rows[i] = store.Queued{Key: carillon.Seq(i).Message(0), Number: "34600000000", Due: now}
	}
	rows[lane.ReadRows-1].Number = "34600000001"
	readEnded{{lane: l, class: 1, rows: rows, full: true, sender: l.Sender}}.apply(d, now)
	w := &l.Buffers[1]
	if len(w.Items) != 3 || w.Items[0].Number != "34600000001" || !w.HasDue(now) {
		t.Fatalf("%d are held to start, want the other number's and those of the next second", len(w.Items))
	}
	if !w.WantsRead(now) {
		t.Error("what stands behind them is not read")
	}
	seen := map[time.Time]bool{}
	for _, x := range d.postponed {
		seen[x.m.Due] = true
	}
	if len(d.postponed) != lane.ReadRows-3 || len(seen) != len(d.postponed) {
		t.Errorf("%d are put off to %d times", len(d.postponed), len(seen))
	}
	for range 20 { // however much is read
		readEnded{{lane: l, class: 1, rows: again(rows), full: true, sender: l.Sender}}.apply(d, now)
	}
	if len(d.postponed) > postponeMost || len(w.Items) <= lane.ReadRows {
		t.Errorf("%d wait for their commit, %d are held", len(d.postponed), len(w.Items))
	}
	for left := len(d.postponed); left > 0; left = len(d.postponed) {
		if n := len(d.takePostponed()); n != min(left, max(postponeRows, left/2)) || len(d.postponed) != left-n {
			t.Fatalf("%d of %d go with a commit, %d are left", n, left, len(d.postponed))
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
