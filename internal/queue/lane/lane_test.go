package lane

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/work"
)

// due returns a lane with perClass[c] due messages of each class c.
func due(now time.Time, perClass ...int) *Lane {
	l := New(1, 1, time.Time{})
	l.Set(Settings{})
	for c, n := range perClass {
		rows := make([]work.Queued, n)
		for i := range rows {
			rows[i] = work.Queued{Key: work.Key(carillon.Seq(c).Message(i)), Number: "34600111222", Due: now.Add(-time.Second)}
		}
		l.Buffers[c].Fill(rows, false, time.Time{})
	}
	return l
}

// picks takes n turns and counts them by class.
func (l *Lane) picks(now time.Time, n int) (got [carillon.Classes]int) {
	for range n {
		c, ok := l.Pick(now)
		if !ok {
			return got
		}
		l.Buffers[c].Pop()
		got[c]++
	}
	return got
}

func TestClassesAreServedEightToThreeToOne(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := due(now, 100, 100, 100)
	for round := range 8 {
		if d := cmp.Diff([carillon.Classes]int{8, 3, 1}, l.picks(now, 12)); d != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, d)
		}
	}
}

func TestTurnsThatAClassDoesNotUsePassOn(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		due  []int
		n    int
		want [carillon.Classes]int
	}{
		{[]int{0, 100, 100}, 40, [carillon.Classes]int{0, 30, 10}},
		{[]int{0, 0, 100}, 50, [carillon.Classes]int{0, 0, 50}},
		{[]int{100, 0, 100}, 45, [carillon.Classes]int{40, 0, 5}},
		// The three are served first, and the turns of the class go to the others.
		{[]int{3, 100, 100}, 7, [carillon.Classes]int{3, 3, 1}},
	} {
		if d := cmp.Diff(c.want, due(now, c.due...).picks(now, c.n)); d != "" {
			t.Errorf("%v due (-want +got):\n%s", c.due, d)
		}
	}
}

func TestReadThatFailedIsRepeatedFromWhereItBegan(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	due := now.Add(-time.Minute)
	var w Buffer
	w.Wake(due)
	if !w.WantsRead(now) {
		t.Fatal("a message that is due is not read")
	}
	w.Reading = true
	w.Wake(due.Add(-time.Minute)) // arrived meanwhile
	w.ReadFailed(now)
	if w.WantsRead(now) {
		t.Error("it is read again at once")
	}
	later := now.Add(ReadRetry)
	if !w.WantsRead(later) || !w.ReadFrom().Equal(due.Add(-time.Minute)) {
		t.Errorf("wants to be read: %v, from %s", w.WantsRead(later), w.ReadFrom())
	}
	l := New(1, 1, time.Time{})
	l.Buffers[0] = w
	if at := l.Attention(now); !at.Equal(later) {
		t.Errorf("the lane looks again at %s, want %s", at, later)
	}
}

func TestSuspendedSenderStartsNothingOfWhatWasReadAhead(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := New(1, 1, time.Time{})
	l.Set(Settings{})
	l.Buffers[0].Fill([]work.Queued{{Key: 1, Due: now}}, false, time.Time{})
	if l.Room(now, 64) == 0 {
		t.Fatal("no room before")
	}
	l.Settings.Suspended = true
	if n := l.Room(now.Add(time.Hour), 64); n != 0 {
		t.Errorf("it may start %d messages", n)
	}
}

func TestReadThatBeganBeforeAMessageMovedDoesNotBringItBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	moved := work.Queued{Key: 1, Due: now}
	var w Buffer
	w.Fill([]work.Queued{moved}, false, time.Time{})
	w.Items = nil // on its way to a later time
	w.Reading = true
	w.Forget(1) // the later time is committed
	w.Wake(now.Add(time.Minute))
	w.Fill([]work.Queued{moved}, false, time.Time{})
	if len(w.Items) > 0 {
		t.Error("it is in the queue with its old time")
	}
	w.Reading = true
	moved.Due = now.Add(time.Minute)
	w.Fill([]work.Queued{moved}, false, time.Time{})
	if len(w.Items) != 1 {
		t.Error("the next read does not find it")
	}
}
