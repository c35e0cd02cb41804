package stats

import (
	"sync"
	"time"

	"carillon"
)

// Block is a second of notification numbers.
type Block int64

// blockBits are the low bits of a notification's number that are not in its block: 1,024 milliseconds, and the bits
// that distinguish the numbers within one.
const blockBits = 16 + 10

// BlockOf returns the block of a notification.
func BlockOf(seq carillon.Seq) Block { return Block(seq >> blockBits) }

// first is the block's least number.
func (b Block) first() carillon.Seq { return carillon.Seq(b) << blockBits }

const (
	// maxTouched bounds the blocks that wait to be counted. Beyond it everything is counted again.
	maxTouched = 1 << 18
	// unsure is the time for which a write may still be committed after an error.
	unsure = 20 * time.Second
)

// touched holds the changed blocks, each with the time from which it may be counted.
type touched struct {
	mu     sync.Mutex
	blocks map[Block]time.Time
	last   Block // added last, so its lookup can be skipped
	some   bool
	lost   bool // there were too many
}

// Touch marks the block of a notification. It is called after the change was committed. err reports a change whose
// commit is uncertain, or whose caller left before it: it may be committed later.
func (s *Store) Touch(seq carillon.Seq, err error) {
	b, from := BlockOf(seq), time.Time{}
	if err != nil {
		from = time.Now().Add(unsure)
	}
	t := &s.touched
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.some && t.last == b && err == nil {
		return
	}
	t.put(b, from)
	t.last, t.some = b, err == nil
}

// put adds a block, keeping the later of two times, because earlier changes are counted then too.
func (t *touched) put(b Block, from time.Time) {
	at, there := t.blocks[b]
	switch {
	case there && !from.After(at):
		return
	case !there && len(t.blocks) >= maxTouched:
		t.lost = true
		return
	case t.blocks == nil:
		t.blocks = map[Block]time.Time{}
	}
	t.blocks[b] = from
}

// take removes the blocks that may be counted now. left reports whether others remain.
func (t *touched) take(now time.Time) (blocks []Block, left, lost bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for b, from := range t.blocks {
		if !from.After(now) {
			blocks = append(blocks, b)
			delete(t.blocks, b)
		}
	}
	lost, t.lost, t.some = t.lost, false, false
	return blocks, len(t.blocks) > 0, lost
}

// back returns blocks that could not be counted.
func (t *touched) back(blocks []Block) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range blocks {
		t.put(b, time.Time{})
	}
}
