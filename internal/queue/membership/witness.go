package membership

import (
	"fmt"

	"carillon"
	"carillon/internal/store/work"
)

// witness remembers counters of the database that only rise. If one is lower than before, the database lost commits
// that it had confirmed: after a failover to a standby that lacked them, or because it was restored under way.
type witness struct {
	beat   int64 // of this node; 0 before it has joined
	epochs [carillon.Shards]int64
}

// look returns the evidence of lost commits; empty if there is none.
func (w *witness) look(nodes []work.Node, shards []work.Shard, self string) string {
	for _, n := range nodes {
		if n.ID != self {
			continue
		}
		if n.Beat < w.beat {
			return fmt.Sprintf("this node's heartbeat %d is followed by %d", w.beat, n.Beat)
		}
		w.beat = n.Beat
	}
	for _, s := range shards {
		if s.ID < 0 || s.ID >= len(w.epochs) {
			continue
		}
		if s.Epoch < w.epochs[s.ID] {
			return fmt.Sprintf("epoch %d of shard %d is followed by %d", w.epochs[s.ID], s.ID, s.Epoch)
		}
		w.epochs[s.ID] = s.Epoch
	}
	return ""
}
