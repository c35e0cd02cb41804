package purge

import (
	"time"
)

// pace adapts the number of rows that a step deletes to a target duration, and pauses after each step. While this node accepts
// or delivers, purging works at most a fifth of the time, and less the longer its steps wait for other writes; else half.
type pace struct {
	rows   int // of the next step
	target time.Duration
}

const (
	fewest = 8
	most   = 4096
	begin  = 64

	pausesPerStep = 4 // under foreground work
	shortestPause = 2 * time.Millisecond
	longestPause  = time.Second
)

// newPace aims at steps that a request on SQLite does not notice, since they share one writer. On PostgreSQL steps have a
// transaction of their own and cost requests only processor time.
func newPace(oneWriter bool) pace {
	if oneWriter {
		return pace{rows: begin, target: 2 * time.Millisecond}
	}
	return pace{rows: begin, target: 5 * time.Millisecond}
}

// after adapts to a step and returns how long to pause. whole is the step's duration with lookups and waits; foreground
// reports whether requests or deliveries came meanwhile.
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
