package queue

import (
	"testing"
	"time"
)

func TestMessageMayStartInTheSlotItWasGiven(t *testing.T) {
	s := spacer{every: 6 * time.Second}
	begin := time.Date(2026, 3, 1, 9, 0, 0, 99_700_000, time.UTC) // not on a whole millisecond
	s.started("34600111222", begin)
	slot := s.slot("34600111222", begin, begin.Add(time.Second))
	if d := slot.Sub(begin); d < 6*time.Second || d > 6*time.Second+time.Millisecond {
		t.Fatalf("the slot is %s after the first message", d)
	}
	stored := time.UnixMilli(slot.UnixMilli())
	if at := s.slot("34600111222", stored, stored); at.After(stored) {
		t.Errorf("when its slot came it was put off again, by %s", at.Sub(stored))
	}
	other := s.slot("34600999999", begin, begin)
	if other.After(begin) {
		t.Error("another number was put off")
	}
}

func TestSlotsOfManyFollowEachOther(t *testing.T) {
	s := spacer{every: time.Second}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s.started("34600111222", now)
	for i := 1; i < 5; i++ {
		if got, want := s.slot("34600111222", now, now), now.Add(time.Duration(i)*time.Second); !got.Equal(want) {
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

func TestMessageKeepsItsSlotWhenTheOneBeforeStartedLate(t *testing.T) {
	s := spacer{every: 6 * time.Second}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s.started("34600111222", now)
	second := s.slot("34600111222", now, now)
	third := s.slot("34600111222", now, now)
	s.slot("34600111222", now, now) // and one behind it
	s.started("34600111222", second.Add(300*time.Microsecond))
	if at := s.slot("34600111222", third, third); at.Sub(third) > time.Millisecond {
		t.Errorf("it was put off by %s, behind all others of its number", at.Sub(third))
	}
}
