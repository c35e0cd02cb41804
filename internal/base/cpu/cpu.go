// Package cpu detects whether this process has more work than its processors can handle.
package cpu

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	waitsMetric = "/sched/latencies:seconds" // how long runnable goroutines waited for a processor

	slowWait  = 250e-6 // seconds; a wait this long counts as late
	lateShare = 10     // busy if one wait in ten is late
	minWaits  = 100    // with fewer waits, their share says nothing
	sampling  = 8      // the runtime records one wait in eight
)

// Watch measures how long goroutines wait for a processor. It is not safe for concurrent use.
type Watch struct {
	sample [1]metrics.Sample
	before []uint64
	at     time.Time
}

// Busy reports whether, since the last call, at least one in ten runnable goroutines waited a quarter of a millisecond
// or longer. A process with enough processors stays far below that; an overloaded one is far above. If goroutines
// computed for long and there were few waits, Busy reports whether on average at least one goroutine per processor was
// waiting.
func (w *Watch) Busy() bool {
	now := time.Now()
	elapsed := now.Sub(w.at)
	w.at = now
	w.sample[0].Name = waitsMetric
	metrics.Read(w.sample[:])
	if w.sample[0].Value.Kind() != metrics.KindFloat64Histogram { // this runtime does not record the waits
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
		if h.Buckets[i] >= slowWait {
			late += n
			total += float64(n) * min(h.Buckets[i], math.MaxFloat32)
		}
	}
	switch {
	case first:
		return false
	case all >= minWaits:
		return late*lateShare >= all
	}
	return total*sampling >= elapsed.Seconds()*float64(runtime.GOMAXPROCS(0))
}
