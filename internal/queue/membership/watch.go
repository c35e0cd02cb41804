package membership

import (
	"time"

	"carillon/internal/store/work"
)

// The two criteria for declaring a node dead. Neither compares clocks. Its beat stood still for deadAfter of the
// observer's time, or it stood still for goneAfter while the node's permanent session was gone, which the database
// notices immediately when a process dies. A stopped or disconnected node keeps its session for a while, and a node
// that merely lost its session continues to beat. Declaring a living node dead never causes duplicate sends, because
// starts are fenced; it makes the node's sends in flight unknown. See docs/adr/0007.
const (
	deadAfter = 6 * time.Second
	goneAfter = 2 * time.Second
	// watchGap is the pause after which an observer starts over, because it was stopped or disconnected itself.
	watchGap = 5 * time.Second
)

// watch is this node's record of the others' beats.
type watch struct {
	seen map[string]sighting
	last time.Time
}

type sighting struct {
	beat int64
	at   time.Time // when this value of the beat was first seen
	gone time.Time // time since which the node has no session; zero means it has one
}

// look evaluates the nodes as the database lists them. It returns those to declare dead, and whether another may be
// dead soon.
func (w *watch) look(nodes []work.Node, self string, now time.Time) (dead []work.Node, suspicious bool) {
	if now.Sub(w.last) > watchGap {
		w.seen = nil
	}
	seen := make(map[string]sighting, len(nodes))
	for _, n := range nodes {
		if n.ID == self {
			continue
		}
		s, known := w.seen[n.ID]
		if !known || s.beat != n.Beat {
			s.beat, s.at = n.Beat, now
		}
		switch {
		case n.Session:
			s.gone = time.Time{}
		case s.gone.IsZero():
			s.gone = now
		}
		seen[n.ID] = s
		still := now.Sub(s.at)
		if still >= deadAfter || !n.Session && still >= goneAfter && now.Sub(s.gone) >= goneAfter {
			dead = append(dead, n)
		}
		suspicious = suspicious || !n.Session && still > 0
	}
	w.seen, w.last = seen, now
	return dead, suspicious
}
