package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapRoom is the garbage that may gather between two collections, however little lives: a program that holds a few
	// megabytes and makes hundreds a second would otherwise collect a hundred times a second.
	heapRoom = 24 << 20
	mostRoom = 800 // percent of what lives, where next to nothing does
	usual    = 100 // percent, Go's own: past heapRoom of live memory nothing changes
)

// keepHeapRoom sets the collector's pace after each collection by what was found to live. GOGC, where an operator set
// it, stands.
func keepHeapRoom() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(mostRoom)
	runtime.SetFinalizer(&sentinel{percent: mostRoom}, (*sentinel).collected)
}

// sentinel is garbage that comes back: its finalizer runs once after each collection. It is too large to share its place
// in memory with anything: what does is collected only when all of them are dead.
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

// roomPercent returns heapRoom as a percentage of the live heap, in steps, so that a small change does not change GOGC.
func roomPercent(live uint64) int {
	percent := heapRoom * 100 / max(live, 1)
	return int(min(max(percent/50*50, usual), mostRoom))
}
