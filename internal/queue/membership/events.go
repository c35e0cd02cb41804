package membership

import (
	"slices"
	"sync"

	"carillon/internal/store/work"
)

// eventNodes are the nodes that an operator set apart for events, sorted by id.
type eventNodes struct {
	mu  sync.Mutex
	ids []string
}

func (e *eventNodes) set(nodes []work.Node) {
	var ids []string
	for _, n := range nodes {
		if n.Events && n.Fit != work.Leaving {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ids = ids
}

// of returns the node for events that delivers those of a shard; empty if no node is set apart.
func (e *eventNodes) of(shard int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.ids) == 0 {
		return ""
	}
	return e.ids[shard%len(e.ids)]
}

// OwnsEvents reports whether this node delivers the events of a shard: the shard's owner does, unless nodes are set apart
// for events. Two nodes may believe so for a moment.
func (m *Membership) OwnsEvents(shard int) bool {
	if node := m.event.of(shard); node != "" {
		return node == m.id && m.lease.valid()
	}
	return m.Owns(shard)
}
