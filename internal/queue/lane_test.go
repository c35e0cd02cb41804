package queue

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

func TestReadThatFailedIsRepeatedFromWhereItBegan(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	due := now.Add(-time.Minute)
	var w window
	w.wake(due)
	if !w.wantsLoad(now) {
		t.Fatal("a message that is due is not read")
	}
	w.loading = true
	w.wake(due.Add(-time.Minute)) // came meanwhile
	w.putOff(now)
	if w.wantsLoad(now) {
		t.Error("it is read again at once")
	}
	later := now.Add(retryWait)
	if !w.wantsLoad(later) || !w.from().Equal(due.Add(-time.Minute)) {
		t.Errorf("wants to be read: %v, from %s", w.wantsLoad(later), w.from())
	}
	l := &lane{}
	l.class[0] = w
	if at := l.attention(now); !at.Equal(later) {
		t.Errorf("the lane looks again at %s, want %s", at, later)
	}
}

func TestSuspendedSenderStartsNothingOfWhatWasReadAhead(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := &lane{sender: &carillon.Sender{}}
	l.class[0].fill([]store.Queued{{Key: 1, Due: now}}, false, time.Time{})
	if l.room(now, 64) == 0 {
		t.Fatal("no room before")
	}
	l.off = true
	if n := l.room(now.Add(time.Hour), 64); n != 0 {
		t.Errorf("it may start %d messages", n)
	}
}

func TestReadThatBeganBeforeAMessageMovedDoesNotBringItBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	moved := store.Queued{Key: 1, Due: now}
	var w window
	w.fill([]store.Queued{moved}, false, time.Time{})
	w.queue = nil // on its way to a later time
	w.loading = true
	w.forget(1) // the later time is committed
	w.wake(now.Add(time.Minute))
	w.fill([]store.Queued{moved}, false, time.Time{})
	if len(w.queue) > 0 {
		t.Error("it is in the queue with its old time")
	}
	w.loading = true
	moved.Due = now.Add(time.Minute)
	w.fill([]store.Queued{moved}, false, time.Time{})
	if len(w.queue) != 1 {
		t.Error("the next read does not find it")
	}
}

// A sender that has nothing to do is forgotten once its pacing and its recipients' intervals are over, not when it comes next.
func TestALaneIsForgottenWhenItsLastIntervalIsOver(t *testing.T) {
	p := owning(t)
	now := time.Now()
	l := p.laneOf(1, p.shards[1])
	l.of(&carillon.Sender{UID: 1, PerSecond: 80, PerRecipient: 6 * time.Second})
	l.space.started("34600000000", now)
	l.pace.take()
	l.pace.answered(now)
	for _, at := range []time.Duration{0, 2 * time.Second, 7 * time.Second} {
		p.attend(l, now.Add(at))
		left := at < 6*time.Second
		if _, there := p.lanes[1]; there != left {
			t.Errorf("after %s the lane is there: %v", at, there)
		}
		if left && (len(p.sleep) != 1 || p.sleep[0].at.After(now.Add(6*time.Second+time.Millisecond))) {
			t.Errorf("after %s it is not looked at again in time", at)
		}
	}
}
