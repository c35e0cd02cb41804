package queue

import "time"

// One commit carries what all lanes have to start and what their last sends came to. The larger it is, the less each
// message costs, and the longer whatever comes meanwhile waits: for the commit under way, and then for its own. So as
// long as lanes come that have nothing else under way, while others have much, commits are kept short.

const (
	guestFor    = time.Second          // commits are short for so long after a lane came
	shortRows   = 32                   // starts of a short commit, and results unless many wait
	resultsMost = 4096                 // results of any commit
	shortTook   = 2 * time.Millisecond // what it takes then; where the disk takes longer, more rows cost little beside it
)

// guests are the lanes that come with little while others have much.
type guests struct {
	until time.Time     // commits are short
	least time.Duration // about the least that a commit took of late
	alone bool          // the commit that is being made is for them alone
	had   bool          // the last one was
	crowd bool          // too many came for short commits to serve them
	odd   int           // 0 and 1 in turn: who has the odd place of a commit
}

// guest notes that a lane came that has nothing under way.
func (p *pump) guest(now time.Time) {
	if p.active > 0 {
		p.guests.until = now.Add(guestFor)
	}
}

// queueReady puts a lane among the ready. Where it came with nothing under way, its first turn comes before those of lanes
// that have had theirs; after it, it stands behind them, until nothing of it is under way once more.
func (p *pump) queueReady(l *lane) {
	if l.flying == 0 && p.active > 0 {
		p.newly = append(p.newly, l)
		return
	}
	p.ready = append(p.ready, l)
}

// come decides whether the next commit is for the lanes alone that came newly, so many of them: it is over soon. Never two
// commits in a row are, so that the others go on.
func (g *guests) come(newly int, now time.Time) {
	g.crowd = newly > shortRows
	g.odd ^= 1
	g.alone = !g.had && newly > 0 && !g.crowd && now.Before(g.until)
}

// made ends the making of a commit.
func (g *guests) made() { g.had, g.alone = g.alone, false }

// results is how many of the results that wait the next commit may have: as many as it may have starts, and after one
// without results those of two, but half of them at least. So they are written as fast as they come, those too of messages
// that were started with their accepts, which no commit of ours counted.
func (g *guests) results(waiting int, now time.Time) int {
	n := g.rows(now)
	switch {
	case g.alone:
		return 0
	case g.had:
		n *= 2
	}
	return min(max(n, waiting/2), resultsMost)
}

// note takes in what a commit took.
func (g *guests) note(took time.Duration) {
	if g.least == 0 || took < g.least {
		g.least = took
	}
	g.least += (took - g.least) / 64
}

// rows is how many starts the next commit may have.
func (g *guests) rows(now time.Time) int {
	if !now.Before(g.until) || g.crowd {
		return 1 << 30
	}
	return max(shortRows, int(shortRows*g.least/shortTook))
}
