package queue

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

func TestNoLaneTakesMoreThanItsShareOfTheProcess(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		lanes, laneCap, processCap int
		most, total                int
	}{
		{1, 0, 0, DefaultLaneCap, DefaultLaneCap},
		{17, 0, 0, DefaultLaneCap, 2048},
		{4, 500, 256, 32, 128}, // the maximum is an eighth, whatever the settings ask for
		{100, 64, 1024, 2 * turnRows, 1024},
	} {
		k := kindOf(nil, Kind{LaneCap: c.laneCap, Cap: c.processCap})
		for i := range c.lanes {
			l := due(now, int64(i), 100, 100, 100)
			k.lanes[l.UID] = l
			k.order.MarkReady(l)
		}
		flights := k.choose(now)
		if len(flights) != c.total {
			t.Errorf("%d lanes start %d messages, want %d", c.lanes, len(flights), c.total)
		}
		for _, l := range k.lanes {
			if l.InFlight > c.most {
				t.Errorf("of %d lanes one has %d in flight, want at most %d", c.lanes, l.InFlight, c.most)
			}
		}
	}
}

// due returns a lane with perClass[c] due messages of each class c.
func due(now time.Time, uid int64, perClass ...int) *lane.Lane {
	l := lane.New(uid, 1, time.Time{})
	l.Set(lane.Settings{})
	for c, n := range perClass {
		rows := make([]work.Queued, n)
		for i := range rows {
			rows[i] = work.Queued{Key: work.Key(carillon.Seq(c).Message(i)), Number: "34600111222", Due: now.Add(-time.Second)}
		}
		l.Buffers[c].Fill(rows, false, time.Time{})
	}
	return l
}
