package queue

import (
	"testing"
	"time"

	"carillon"
)

// A sender that has nothing to do is forgotten once its pacing and its recipients' intervals are over, not when it comes next.
func TestALaneIsForgottenWhenItsLastIntervalIsOver(t *testing.T) {
	d := owning(t)
	now := time.Now()
	l := d.laneOf(1, d.shards[1])
	l.SetSender(&carillon.Sender{UID: 1, PerSecond: 80, PerRecipient: 6 * time.Second})
	l.Spacer.Started("34600000000", now)
	l.Pacer.Take()
	l.Pacer.Responded(now)
	for _, at := range []time.Duration{0, 2 * time.Second, 7 * time.Second} {
		d.attend(l, now.Add(at))
		left := at < 6*time.Second
		if _, there := d.lanes[1]; there != left {
			t.Errorf("after %s the lane is there: %v", at, there)
		}
		if left && (d.order.WakeAt().IsZero() || d.order.WakeAt().After(now.Add(6*time.Second+time.Millisecond))) {
			t.Errorf("after %s it is not looked at again in time", at)
		}
	}
}
