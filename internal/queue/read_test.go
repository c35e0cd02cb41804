package queue

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// Ten thousand messages to one number are queued before one to another number.
func TestWhatWaitsForOneNumberIsPutOffAsItIsRead(t *testing.T) {
	k := owning(t)
	d := k.d
	k.reads = 100 // no further reads
	now := time.Now()
	l := k.laneOf(1, d.shards[1])
	l.Set(lane.Settings{PerRecipient: 400 * time.Millisecond})
	l.Spacer.Started("34600000000", now)
	rows := make([]work.Queued, lane.ReadRows)
	for i := range rows {
		rows[i] = work.Queued{Key: work.Key(carillon.Seq(i).Message(0)), Number: "34600000000", Due: now}
	}
	rows[lane.ReadRows-1].Number = "34600000001"
	readEnded{{lane: l, class: 1, rows: rows, full: true, kind: k, set: l.Settings}}.apply(d, now)
	w := &l.Buffers[1]
	if len(w.Items) != 3 || w.Items[0].Number != "34600000001" || !w.HasDue(now) {
		t.Fatalf("%d are held to start, want the other number's and those of the next second", len(w.Items))
	}
	if !w.WantsRead(now) {
		t.Error("what stands behind them is not read")
	}
	seen := map[time.Time]bool{}
	for _, x := range k.postponed {
		seen[x.m.Due] = true
	}
	if len(k.postponed) != lane.ReadRows-3 || len(seen) != len(k.postponed) {
		t.Errorf("%d are put off to %d times", len(k.postponed), len(seen))
	}
	for range 20 { // no matter how much is read
		readEnded{{lane: l, class: 1, rows: rekeyed(rows), full: true, kind: k, set: l.Settings}}.apply(d, now)
	}
	if len(k.postponed) > maxPostpone || len(w.Items) <= lane.ReadRows {
		t.Errorf("%d wait for their commit, %d are held", len(k.postponed), len(w.Items))
	}
	for left := len(k.postponed); left > 0; left = len(k.postponed) {
		if n := len(takePostponed(&k.postponed)); n != min(left, max(postponeRows, left/2)) || len(k.postponed) != left-n {
			t.Fatalf("%d of %d go with a commit, %d are left", n, left, len(k.postponed))
		}
	}
}

// rekeyed returns the rows with other keys.
func rekeyed(rows []work.Queued) []work.Queued {
	for i := range rows {
		rows[i].Key += 1 << 30
	}
	return rows
}
