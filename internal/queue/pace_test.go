package queue

import (
	"testing"
	"time"
)

func TestMessageMayStartInTheSlotItWasGiven(t *testing.T) {
	s := spacer{every: 6 * time.Second}
	begin := time.Date(2026, 3, 1, 9, 0, 0, 99_700_000, time.UTC) // not on a whole millisecond
	s.started("34600111222", begin)
	slot := s.slot("34600111222", begin.Add(time.Second))
	if d := slot.Sub(begin); d < 6*time.Second || d > 6*time.Second+time.Millisecond {
		t.Fatalf("the slot is %s after the first message", d)
	}
	stored := time.UnixMilli(slot.UnixMilli())
	if at := s.slot("34600111222", stored); at.After(stored) {
		t.Errorf("when its slot came it was put off again, by %s", at.Sub(stored))
	}
	other := s.slot("34600999999", begin)
	if other.After(begin) {
		t.Error("another number was put off")
	}
}

func TestSlotsOfManyFollowEachOther(t *testing.T) {
	s := spacer{every: time.Second}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s.started("34600111222", now)
	for i := 1; i < 5; i++ {
		if got, want := s.slot("34600111222", now), now.Add(time.Duration(i)*time.Second); !got.Equal(want) {
			t.Errorf("slot %d is at %s, want %s", i, got, want)
		}
	}
	if s.idle(now) {
		t.Error("reservations were forgotten")
	}
	if !s.idle(now.Add(time.Hour)) {
		t.Error("nothing is forgotten after an hour")
	}
}
