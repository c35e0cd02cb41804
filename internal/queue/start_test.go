package queue

import (
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

func TestNeighboursStartTogether(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	k := kindOf(nil, Kind{})
	for i := range 2 {
		l := lane.New(int64(i), 1, time.Time{})
		l.Set(lane.Settings{})
		l.Buffers[0].Fill([]work.Queued{
			{Key: work.Key(carillon.Seq(i).Message(0)), Due: now},
			{Key: work.Key(carillon.Seq(i).Message(1)), Due: now},
			{Key: work.Key(carillon.Seq(i + 2).Message(0)), Due: now},
		}, false, time.Time{})
		k.lanes[l.UID] = l
		k.order.MarkReady(l)
	}
	var got []carillon.MessageKey
	for _, f := range k.choose(now) {
		got = append(got, carillon.MessageKey(f.start.Key))
	}
	want := []carillon.MessageKey{
		carillon.Seq(0).Message(0), carillon.Seq(0).Message(1), carillon.Seq(1).Message(0), carillon.Seq(1).Message(1),
		carillon.Seq(2).Message(0), carillon.Seq(3).Message(0),
	}
	if !slices.Equal(got, want) {
		t.Errorf("started %v, want %v", got, want)
	}
}
