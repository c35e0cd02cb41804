// Package cpu finds out whether this process has more to do than its processors can.
package cpu

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	waits = "/sched/latencies:seconds" // how long goroutines that could run waited for a processor

	long    = 250e-6 // seconds
	share   = 10     // busy: one wait in ten is that long
	least   = 100    // waits from which on that says something
	sampled = 8      // the runtime counts one wait in eight
)

// Watch looks at how long goroutines wait for a processor. It is not safe for concurrent use.
type Watch struct {
	sample [1]metrics.Sample
	before []uint64
	at     time.Time
}

// Busy reports whether, since it was last called, one in ten goroutines that could run waited for a quarter of a millisecond or longer.
// A process that has the processors that it needs stays far below that, and one that does not far above. Where goroutines computed for
// long and there were few waits, it is whether one goroutine a processor waited all the time.
func (w *Watch) Busy() bool {
	now := time.Now()
	elapsed := now.Sub(w.at)
	w.at = now
	w.sample[0].Name = waits
	metrics.Read(w.sample[:])
	if w.sample[0].Value.Kind() != metrics.KindFloat64Histogram { // a runtime that does not count them
		return false
	}
	h := w.sample[0].Value.Float64Histogram()
	first := w.before == nil
	if first {
		w.before = make([]uint64, len(h.Counts))
	}
	var all, late uint64
	var total float64 // seconds
	for i, n := range h.Counts {
		n, w.before[i] = n-w.before[i], n
		all += n
		if h.Buckets[i] >= long {
			late += n
			total += float64(n) * min(h.Buckets[i], math.MaxFloat32)
		}
	}
	switch {
	case first:
		return false
	case all >= least:
		return late*share >= all
	}
	return total*sampled >= elapsed.Seconds()*float64(runtime.GOMAXPROCS(0))
}
