package stats

import (
	"sync"
	"time"

	"carillon"
)

// Block is a second of notification numbers.
type Block int64

// blockBits are the low bits of a notification's number that its block leaves out: 1,024 milliseconds, and what keeps the
// numbers of one millisecond apart.
const blockBits = 16 + 10

// BlockOf returns the block of a notification.
func BlockOf(seq carillon.Seq) Block { return Block(seq >> blockBits) }

// first is the block's least number.
func (b Block) first() carillon.Seq { return carillon.Seq(b) << blockBits }

const (
	// maxTouched bounds the blocks that wait to be counted. Past it everything is counted again.
	maxTouched = 1 << 18
	// unsure is how long after an error a write may still be committed.
	unsure = 20 * time.Second
)

// touched are the blocks in which something changed, each with the time from which on it may be counted.
type touched struct {
	mu     sync.Mutex
	blocks map[Block]time.Time
	last   Block // was put in last, and need not be looked up
	some   bool
	lost   bool // there were too many
}

// Touch has the block of a notification counted. It is called after the change was committed. A change whose commit is in doubt,
// or whose caller left before it, may come later: err says so.
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

// put adds a block. Of two times the later one holds: what changed before is counted then too.
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

// back puts blocks in again that could not be counted.
func (t *touched) back(blocks []Block) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range blocks {
		t.put(b, time.Time{})
	}
}
