package membership

import (
	"context"
	"slices"
	"sync"
	"time"

	"carillon/internal/store/work"
)

// ClockTolerance is the difference of clocks above which a node warns; a node that is ahead of the others by more is not
// ready, and leaves its shards to them. It is only a check, never a source of time.
const ClockTolerance = 500 * time.Millisecond

// maxLate is the delay of a clock behind the others above which the other nodes deliver instead: work would start that late.
const maxLate = 5 * time.Second

// clock compares this node's clock with the database's, and with those of the other nodes.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration // of the database's clock
	off   bool          // by more than the tolerance
	early bool          // and so far ahead of the other clocks that work would start early
	late  bool          // or so far behind that it would start late
}

// read compares the clocks. nodes are those of the last turn.
func (c *clock) read(ctx context.Context, m *Membership, nodes []work.Node) (ahead time.Duration, err error) {
	behind, err := m.store.DB.Health.ClockOffset(ctx)
	if err != nil {
		return 0, err
	}
	ahead = -behind
	apart := apart(ahead, nodes, m.id)
	off, early, late := ahead.Abs() > ClockTolerance, apart > ClockTolerance, apart < -maxLate
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case early && !c.early, late && !c.late:
		m.o.Log.ErrorContext(ctx, "the clock of this node differs from the others; the other nodes deliver instead",
			"ahead", apart.String())
	case off && !c.off && !early && !late:
		m.o.Log.WarnContext(ctx, "the clock of this node differs from the database's", "ahead", ahead.String())
	case !off && c.off:
		m.o.Log.InfoContext(ctx, "the clock of this node agrees with the database's again", "ahead", ahead.String())
	}
	c.ahead, c.off, c.early, c.late = ahead, off, early, late
	return ahead, nil
}

// fit reports whether this node starts its work on time.
func (c *clock) fit() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.early && !c.late
}

// apart returns by how much a clock is ahead of the middle of all clocks: the nodes', and the database's. If the nodes
// agree, the database's clock is wrong; a node alone cannot know, and gets 0.
func apart(ahead time.Duration, nodes []work.Node, self string) time.Duration {
	all := []time.Duration{ahead, 0}
	for _, n := range nodes {
		if n.ID != self && n.Fit != work.Leaving {
			all = append(all, n.Ahead)
		}
	}
	if len(all) == 2 {
		return 0
	}
	slices.Sort(all)
	return ahead - all[(len(all)-1)/2]
}
