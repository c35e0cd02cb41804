package membership

import (
	"time"

	"carillon/internal/store/work"
)

// When a node is declared dead. Two signs count, and neither compares clocks: its beat stood still for deadAfter of the
// observer's own time; or it stood still for goneAfter while the session that every node keeps open was gone, which the
// database notices at once when a process dies. A node that is stopped or cut off keeps its session for a while, and one
// that merely lost it goes on beating. Declaring a living node dead never sends anything twice, because starts are
// fenced: it makes unknown what that node had in flight. See docs/adr/0007.
const (
	deadAfter = 6 * time.Second
	goneAfter = 2 * time.Second
	// watchGap: an observer that has not looked for this long was stopped or cut off, and begins again.
	watchGap = 5 * time.Second
)

// watch is this node's record of the others' beats.
type watch struct {
	seen map[string]sighting
	last time.Time
}

type sighting struct {
	beat int64
	at   time.Time // when the beat was first seen at this value
	gone time.Time // since when the node has no session; zero: it has one
}

// look takes the nodes as the database has them. It returns those to declare dead, and whether one may be dead soon.
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
