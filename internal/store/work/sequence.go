package work

import (
	"math/rand/v2"
	"sync"
	"time"

	"carillon"
)

// perMillisecond is the number of notifications that a node numbers in a millisecond.
const perMillisecond = 64

// Sequence generates the IDs of the notifications that a node accepts. Their numbers increase and never repeat within
// a process, even if its clock is set back. Another process can only repeat one with the same cell and slot in the same
// millisecond.
type Sequence struct {
	mu   sync.Mutex
	last int64 // milliseconds and counter
	cell int
	slot int
}

// SetCell sets the cell, less than carillon.Cells.
func (s *Sequence) SetCell(cell int) {
	s.mu.Lock()
	s.cell = cell % carillon.Cells
	s.mu.Unlock()
}

// Cell returns the cell.
func (s *Sequence) Cell() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cell
}

// SetSlot sets the node's slot, less than carillon.NodeSlots.
func (s *Sequence) SetSlot(slot int) {
	s.mu.Lock()
	s.slot = slot % carillon.NodeSlots
	s.mu.Unlock()
}

// Next returns the ID of a notification accepted now. After 64 IDs in a millisecond, or after the clock was set back, it
// uses the following milliseconds.
func (s *Sequence) Next(now time.Time) string {
	s.mu.Lock()
	s.last = max(s.last+1, now.UnixMilli()*perMillisecond)
	seq := number(time.UnixMilli(s.last/perMillisecond), s.cell, int(s.last%perMillisecond), s.slot)
	s.mu.Unlock()
	return seq.NewID()
}

// Other returns an ID of the same millisecond with a random number of the cell, for a notification whose number is taken.
func (s *Sequence) Other(now time.Time) string {
	count, slot := rand.IntN(perMillisecond), rand.IntN(carillon.NodeSlots) //nolint:gosec // no secret
	return number(now, s.Cell(), count, slot).NewID()
}

func number(now time.Time, cell, count, slot int) carillon.Seq {
	return carillon.FirstSeq(now) + carillon.Seq((cell*perMillisecond+count)*carillon.NodeSlots+slot)
}
