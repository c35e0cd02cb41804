package purge

import (
	"time"
)

// pace adapts the number of rows deleted in a step to a target duration, and pauses after each step. While this node
// accepts or delivers, purging takes at most a fifth of the time, and less if its steps wait for other writes;
// otherwise half.
type pace struct {
	rows   int // rows of the next step
	target time.Duration
}

const (
	fewest = 8
	most   = 4096
	begin  = 64

	pausesPerStep = 4 // during requests or deliveries
	shortestPause = 2 * time.Millisecond
	longestPause  = time.Second
)

// newPace returns a pace whose steps a request on SQLite does not notice, because they share one writer. On PostgreSQL
// steps have their own transaction and cost requests only processor time.
func newPace(oneWriter bool) pace {
	if oneWriter {
		return pace{rows: begin, target: 2 * time.Millisecond}
	}
	return pace{rows: begin, target: 5 * time.Millisecond}
}

// after adapts to a step and returns the pause after it. whole is the step's duration with lookups and waits;
// foreground reports whether there were requests or deliveries meanwhile.
func (p *pace) after(x Purged, whole time.Duration, foreground bool) time.Duration {
	switch {
	case x.Took > p.target:
		p.rows = max(int(int64(p.rows)*int64(p.target)/int64(x.Took)), p.rows/4, fewest)
	case x.Took < p.target/2 && x.Rows >= p.rows/2:
		p.rows = min(2*p.rows, most)
	}
	if !foreground {
		return min(whole, longestPause)
	}
	return min(max(pausesPerStep*whole, shortestPause), longestPause)
}
