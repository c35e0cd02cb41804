package purge

import (
	"time"

	"carillon/internal/store"
)

// pace keeps steps near a length by changing how many rows they delete, and rests after each: beside what this node accepts and delivers so that
// purging works at most a fifth of the time, and less the longer its steps wait for other writes; else half the time.
type pace struct {
	rows   int // of the next step
	target time.Duration
}

const (
	fewest = 8
	most   = 4096
	begin  = 64

	restsPerStep = 4 // beside requests and deliveries
	leastRest    = 2 * time.Millisecond
	longestRest  = time.Second
)

// newPace aims at steps that a request on SQLite does not notice, since it shares the one writer with them; on PostgreSQL
// they have a transaction of their own, which takes a processor from requests and no turn.
func newPace(oneWriter bool) pace {
	if oneWriter {
		return pace{rows: begin, target: 2 * time.Millisecond}
	}
	return pace{rows: begin, target: 5 * time.Millisecond}
}

// after learns from a step, which took so long with what it looked up and waited for, and tells how long to rest; beside
// says that requests or deliveries came meanwhile.
func (p *pace) after(x store.Purged, whole time.Duration, beside bool) time.Duration {
	switch {
	case x.Took > p.target:
		p.rows = max(int(int64(p.rows)*int64(p.target)/int64(x.Took)), p.rows/4, fewest)
	case x.Took < p.target/2 && x.Rows >= p.rows/2:
		p.rows = min(2*p.rows, most)
	}
	if !beside {
		return min(whole, longestRest)
	}
	return min(max(restsPerStep*whole, leastRest), longestRest)
}
