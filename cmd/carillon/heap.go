package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapRoom is how much garbage may accumulate between two collections, however small the live heap is: with a few live
	// megabytes and hundreds allocated a second, the program would otherwise collect a hundred times a second.
	heapRoom = 24 << 20
	mostRoom = 800 // GOGC at most, for a tiny live heap
	usual    = 100 // Go's default, once the live heap is larger than heapRoom
	// A heap that large is one under attack, or of very many connections: it stays within a small container rather than save collections.
	large        = 96 << 20
	largePercent = 50
)

// keepHeapRoom sets GOGC after each collection by the size of the live heap, unless the operator set GOGC.
func keepHeapRoom() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(mostRoom)
	runtime.SetFinalizer(&sentinel{percent: mostRoom}, (*sentinel).collected)
}

// sentinel's finalizer runs after each collection and creates the next sentinel. It is too large for the tiny allocator,
// whose blocks are collected only when all their objects are dead.
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

// roomPercent returns heapRoom as a percentage of the live heap, in steps, so that a small change does not change GOGC; of a
// large heap less.
func roomPercent(live uint64) int {
	if live > large {
		return largePercent
	}
	percent := heapRoom * 100 / max(live, 1)
	return int(min(max(percent/50*50, usual), mostRoom))
}
