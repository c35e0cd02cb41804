package httpio

import (
	"sync"
	"time"
)

const (
	maxRefusalLines   = 20   // per second, for each company (or anonymous callers) and error code
	maxRefusalReasons = 1000 // distinct reasons tracked per second
)

// refusals limits the log lines about refused requests, because anyone can send as many of them as the network
// carries.
type refusals struct {
	mu      sync.Mutex
	second  int64
	lines   map[refusalReason]int // lines in the current second
	leftOut map[refusalReason]int // refusals omitted since the last line of the reason
}

type refusalReason struct{ company, code string }

// log reports whether to log a refusal and, if so, the number of refusals with the same reason omitted since the last
// line.
func (x *refusals) log(company, code string) (logged bool, leftOut int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now := time.Now().Unix(); now != x.second || x.lines == nil {
		x.second, x.lines = now, map[refusalReason]int{}
		if len(x.leftOut) >= maxRefusalReasons || x.leftOut == nil {
			x.leftOut = map[refusalReason]int{}
		}
	}
	reason := refusalReason{company, code}
	if _, known := x.lines[reason]; !known && len(x.lines) >= maxRefusalReasons {
		reason = refusalReason{}
	}
	x.lines[reason]++
	if x.lines[reason] > maxRefusalLines {
		x.leftOut[reason]++
		return false, 0
	}
	leftOut = x.leftOut[reason]
	delete(x.leftOut, reason)
	return true, leftOut
}
