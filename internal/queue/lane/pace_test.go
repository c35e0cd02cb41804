package lane

import (
	"testing"
	"time"
)

func TestMessageMayStartInTheSlotItWasGiven(t *testing.T) {
	s := Spacer{every: 6 * time.Second}
	begin := time.Date(2026, 3, 1, 9, 0, 0, 99_700_000, time.UTC) // not a whole millisecond
	s.Started("34600111222", begin)
	slot := s.Slot("34600111222", begin, begin.Add(time.Second))
	if d := slot.Sub(begin); d < 6*time.Second || d > 6*time.Second+time.Millisecond {
		t.Fatalf("the slot is %s after the first message", d)
	}
	stored := time.UnixMilli(slot.UnixMilli())
	if at := s.Slot("34600111222", stored, stored); at.After(stored) {
		t.Errorf("when its slot came it was put off again, by %s", at.Sub(stored))
	}
	other := s.Slot("34600999999", begin, begin)
	if other.After(begin) {
		t.Error("another number was put off")
	}
}

func TestSlotsOfManyFollowEachOther(t *testing.T) {
	s := Spacer{every: time.Second}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s.Started("34600111222", now)
	for i := 1; i < 5; i++ {
		if got, want := s.Slot("34600111222", now, now), now.Add(time.Duration(i)*time.Second); !got.Equal(want) {
			t.Errorf("slot %d is at %s, want %s", i, got, want)
		}
	}
	if s.Idle(now) {
		t.Error("reservations were forgotten")
	}
	if !s.Idle(now.Add(time.Hour)) {
		t.Error("nothing is forgotten after an hour")
	}
}

func TestMessageKeepsItsSlotWhenTheOneBeforeStartedLate(t *testing.T) {
	s := Spacer{every: 6 * time.Second}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s.Started("34600111222", now)
	second := s.Slot("34600111222", now, now)
	third := s.Slot("34600111222", now, now)
	s.Slot("34600111222", now, now) // and the one behind it
	s.Started("34600111222", second.Add(300*time.Microsecond))
	if at := s.Slot("34600111222", third, third); at.Sub(third) > time.Millisecond {
		t.Errorf("it was put off by %s, behind all others of its number", at.Sub(third))
	}
}

// Two messages wait for one number: the commit of the first takes long, or fails.
func TestTheIntervalHoldsAlsoWhereOneWaits(t *testing.T) {
	const every, number = 6 * time.Second, "34600111222"
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return begin.Add(d) }
	s := &Spacer{}
	s.SetInterval(every)
	s.Started(number, begin)
	second := s.Slot(number, begin, begin)
	s.Left(number, after(3*time.Second))
	if !second.Equal(after(every)) {
		t.Fatalf("the second is given %s", second.Sub(begin))
	}
	if at := s.Slot(number, second, second); at.Before(after(9 * time.Second)) {
		t.Errorf("the first left after 3 s, the second may start after %s", at.Sub(begin))
	}

	s = &Spacer{}
	s.SetInterval(every)
	stamp := s.Started(number, begin)
	second = s.Slot(number, begin, begin)
	s.Undo(number, stamp)
	s.Started(number, after(time.Second))
	s.Left(number, after(time.Second))
	if at := s.Slot(number, second, second); !at.Equal(after(7 * time.Second)) {
		t.Errorf("the first left after 1 s, the second may start after %s", at.Sub(begin))
	}
}

// Messages are sent a little after their slots: none comes too soon after the previous one, and the delays do not add
// up.
func TestALittleLatenessNeitherShortensAnIntervalNorAddsUp(t *testing.T) {
	const every, number, row = 2 * time.Second, "34600111222", 200
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := &Spacer{}
	s.SetInterval(every)
	slots := make([]time.Time, row)
	for i := range slots {
		if i == 0 {
			s.Started(number, begin)
			slots[i] = begin
			continue
		}
		slots[i] = s.Slot(number, begin, begin)
	}
	before := time.Time{}
	for i, at := range slots {
		if i > 0 {
			if again := s.Slot(number, at, at); !again.Equal(at) {
				t.Fatalf("the turn of %d moved by %s", i, again.Sub(at))
			}
			s.Started(number, at)
		}
		ready := at.Add(time.Duration(i*i%41) * time.Millisecond) // varies up to 40 ms
		left := ready.Add(s.Left(number, ready))
		if left.Sub(before) < every {
			t.Errorf("%d left %s after the one before", i, left.Sub(before))
		}
		if late := left.Sub(at); late > leaveLate {
			t.Errorf("%d left %s behind its slot", i, late)
		}
		before = left
	}
}
