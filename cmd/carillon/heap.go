package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapRoom is the garbage allowed between two collections, however small the live heap is. With a few live
	// megabytes and hundreds allocated per second, Go's default would collect a hundred times a second.
	heapRoom       = 32 << 20
	maxPercent     = 800 // upper bound of GOGC, for a tiny live heap
	defaultPercent = 100 // Go's default, once the live heap exceeds heapRoom
	// A live heap above largeHeap means an attack or very many connections. GOGC then drops to largePercent: staying
	// within a small container matters more than saving collections.
	largeHeap    = 96 << 20
	largePercent = 50
)

// keepHeapRoom adjusts GOGC after each collection to the size of the live heap, unless the operator set GOGC.
func keepHeapRoom() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(maxPercent)
	runtime.SetFinalizer(&sentinel{percent: maxPercent}, (*sentinel).collected)
}

// sentinel's finalizer runs after each collection and re-arms itself. The struct is too large for the tiny allocator,
// whose blocks are freed only when all their objects are dead.
type sentinel struct {
	percent int
	_       [64]byte
}

func (s *sentinel) collected() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := roomPercent(live[0].Value.Uint64()); percent != s.percent {
		s.percent = percent
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(s, (*sentinel).collected)
}

// roomPercent returns heapRoom as a percentage of the live heap, rounded to steps of 50 so that GOGC changes rarely.
// Above largeHeap it returns largePercent.
func roomPercent(live uint64) int {
	if live > largeHeap {
		return largePercent
	}
	percent := heapRoom * 100 / max(live, 1)
	return int(min(max(percent/50*50, defaultPercent), maxPercent))
}
