package httpio

import (
	"sync"
	"time"
)

const (
	maxRefusalLines   = 20   // a second, of one company or of strangers, and one error code
	maxRefusalReasons = 1000 // that are distinguished in a second
)

// refusals bound the lines about requests that were refused: anybody can send those, as many as the network carries.
type refusals struct {
	mu      sync.Mutex
	second  int64
	lines   map[refusalReason]int // in that second
	leftOut map[refusalReason]int // since the last line of the reason
}

type refusalReason struct{ company, code string }

// log reports whether a refusal is logged, and then how many of the same reason were not since the last one that was.
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
