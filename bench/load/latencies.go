package load

import (
	"slices"
	"sync"
	"time"
)

// Latencies collects durations. Its methods are safe for concurrent use; the zero value is empty.
type Latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

// Add adds one duration.
func (l *Latencies) Add(d time.Duration) {
	l.mu.Lock()
	l.all = append(l.all, d)
	l.mu.Unlock()
}

// Count returns how many durations were added.
func (l *Latencies) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// Milliseconds returns quantile q in milliseconds, or 0 if there are no durations.
func (l *Latencies) Milliseconds(q float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return 0
	}
	slices.Sort(l.all)
	rank := max(1, int(q*float64(len(l.all))+0.999999))
	return float64(l.all[rank-1]) / float64(time.Millisecond)
}
