package membership

import (
	"context"
	"slices"
	"sync"
	"time"

	"carillon/internal/store/work"
)

// ClockTolerance is the difference of clocks above which a node warns, and above which a node that is ahead of the others
// leaves its shards to them. It is only a check, never a source of time.
const ClockTolerance = 500 * time.Millisecond

// clock compares this node's clock with the database's, and with those of the other nodes.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration // of the database's clock
	off   bool          // by more than the tolerance
	early bool          // and so far ahead of the other nodes' that work would start early
}

// read compares the clocks. nodes are those of the last turn.
func (c *clock) read(ctx context.Context, m *Membership, nodes []work.Node) (ahead time.Duration, err error) {
	behind, err := m.store.DB.Health.ClockOffset(ctx)
	if err != nil {
		return 0, err
	}
	ahead = -behind
	off, early := ahead.Abs() > ClockTolerance, early(ahead, nodes, m.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case early && !c.early:
		m.o.Log.ErrorContext(ctx, "the clock of this node is ahead of the other nodes'; they deliver instead", "ahead", ahead.String())
	case off && !c.off && !early:
		m.o.Log.WarnContext(ctx, "the clock of this node differs from the database's", "ahead", ahead.String())
	case !off && c.off:
		m.o.Log.InfoContext(ctx, "the clock of this node agrees with the database's again", "ahead", ahead.String())
	}
	c.ahead, c.off, c.early = ahead, off, early
	return ahead, nil
}

// Early reports whether this node would start work early.
func (c *clock) Early() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.early
}

// early reports whether a clock is ahead of the middle of all clocks: the nodes', and the database's. If the nodes agree,
// the database's clock is wrong; a node alone cannot know.
func early(ahead time.Duration, nodes []work.Node, self string) bool {
	all := []time.Duration{ahead, 0}
	for _, n := range nodes {
		if n.ID != self && n.Fit != work.Leaving {
			all = append(all, n.Ahead)
		}
	}
	slices.Sort(all)
	return len(all) > 2 && ahead-all[(len(all)-1)/2] > ClockTolerance
}
