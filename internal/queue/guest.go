package queue

import "time"

// One commit carries what all lanes have to start and what their last sends came to. The larger it is, the less each
// message costs, and the longer whatever comes meanwhile waits: for the commit under way, and then for its own. So as
// long as lanes come that have nothing else under way, while others have much, commits are kept short.

const (
	guestFor  = time.Second          // commits are short for so long after a lane came
	shortRows = 32                   // starts, and results, of a short commit
	shortTook = 2 * time.Millisecond // what it takes then; where the disk takes longer, more rows cost little beside it
)

// guests are the lanes that come with little while others have much.
type guests struct {
	until time.Time     // commits are short
	least time.Duration // about the least that a commit took of late
}

// guest notes that a lane came that has nothing under way.
func (p *pump) guest(now time.Time) {
	if p.active > 0 {
		p.guests.until = now.Add(guestFor)
	}
}

// note takes in what a commit took.
func (g *guests) note(took time.Duration) {
	if g.least == 0 || took < g.least {
		g.least = took
	}
	g.least += (took - g.least) / 64
}

// rows is how many starts, and how many results, the next commit may have.
func (g *guests) rows(now time.Time) int {
	if !now.Before(g.until) {
		return 1 << 30
	}
	return max(shortRows, int(shortRows*g.least/shortTook))
}
