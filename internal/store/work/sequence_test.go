package work_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/work"
)

func TestTheIDsOfASequenceRise(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var s work.Sequence
	s.SetSlot(37)
	id, seq := "", carillon.NoSeq
	for i := range 5000 {
		now := at
		if i > 3000 {
			now = at.Add(-time.Hour) // the clock was set back
		}
		next := s.Next(now)
		if next <= id || carillon.SeqOf(next) <= seq || !carillon.ValidUUID(next) {
			t.Fatalf("%s, number %d, does not come after %s, number %d", next, carillon.SeqOf(next), id, seq)
		}
		id, seq = next, carillon.SeqOf(next)
		if slot := seq % carillon.NodeSlots; slot != 37 {
			t.Fatalf("%s is of slot %d", id, slot)
		}
	}
	end := at.Add(79 * time.Millisecond)
	if seq := carillon.SeqOf(id); seq < carillon.FirstSeq(end.Add(-time.Millisecond)) || seq >= carillon.FirstSeq(end) {
		t.Errorf("5000 ids take 79 milliseconds, and the last is %s", id)
	}
	if later := carillon.SeqOf(s.Next(at.Add(time.Second))); later != carillon.FirstSeq(at.Add(time.Second))+37 {
		t.Errorf("an id of a new millisecond has the number %d", later)
	}
}

// Two cells number from the same clock, which is set back and stands still, with the same slots.
func TestCellsNeverMakeTheSameNumber(t *testing.T) {
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	cells := map[carillon.Seq]int{}
	var all [carillon.Cells]work.Sequence
	for cell := range all {
		all[cell].SetCell(cell)
		all[cell].SetSlot(5)
	}
	last := [carillon.Cells]carillon.Seq{}
	for range 4000 {
		now := at.Add(time.Duration(random.IntN(200)-100) * time.Millisecond)
		for range 1 + random.IntN(100) {
			cell := random.IntN(carillon.Cells)
			id := all[cell].Next(now)
			seq := carillon.SeqOf(id)
			if random.IntN(10) == 0 {
				seq = carillon.SeqOf(all[cell].Other(now))
				if seq < carillon.FirstSeq(now) || seq >= carillon.FirstSeq(now.Add(time.Millisecond)) {
					t.Fatalf("%d is not of its millisecond", seq)
				}
			} else if seq <= last[cell] {
				t.Fatalf("%d does not come after %d", seq, last[cell])
			} else {
				last[cell] = seq
			}
			if owner, taken := cells[seq]; taken && owner != cell || seq.Cell() != cell || seq.Message(99).Seq().Cell() != cell {
				t.Fatalf("cell %d makes the number %d, of cell %d", cell, seq, seq.Cell())
			}
			cells[seq] = cell
		}
	}
}
