package queue

import (
	"testing"
	"time"

	"carillon/internal/queue/lane"
)

// An idle sender is forgotten as soon as its pacing and its recipients' intervals are over, not only at its next
// message.
func TestALaneIsForgottenWhenItsLastIntervalIsOver(t *testing.T) {
	k := owning(t)
	d := k.d
	now := time.Now()
	l := k.laneOf(1, d.shards[1])
	l.Set(lane.Settings{PerSecond: 80, PerRecipient: 6 * time.Second})
	l.Spacer.Started("34600000000", now)
	l.Pacer.Take()
	l.Pacer.Responded(now)
	for _, at := range []time.Duration{0, 2 * time.Second, 7 * time.Second} {
		k.attend(l, now.Add(at))
		left := at < 6*time.Second
		if _, there := k.lanes[1]; there != left {
			t.Errorf("after %s the lane is there: %v", at, there)
		}
		if left && (k.order.WakeAt().IsZero() || k.order.WakeAt().After(now.Add(6*time.Second+time.Millisecond))) {
			t.Errorf("after %s it is not looked at again in time", at)
		}
	}
}
