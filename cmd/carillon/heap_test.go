package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestTheHeapGetsRoomByWhatLives(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{
		0: 800, 4 << 20: 800, 8 << 20: 400, 16 << 20: 200, 24 << 20: 100, 96 << 20: 100, 97 << 20: 50, 1 << 30: 50,
	} {
		if got := roomPercent(live); got != want {
			t.Errorf("with %d bytes alive: %d %%, want %d", live, got, want)
		}
	}
}

// GOGC follows the live heap while the program runs. If the sentinel were small, it would share a block with the small
// allocations here, which would keep it alive.
func TestTheHeapsPaceFollowsWhatLives(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "")
	var small [1000]*int
	neighbours := func() {
		for i := range small {
			small[i] = new(int)
		}
	}
	neighbours()
	keepHeapRoom()
	neighbours()
	much := make([]byte, 64<<20)
	eventually(t, "with 64 MB alive the heap grows as usual", func() bool {
		runtime.GC()
		pace := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(pace)
		return pace[0].Value.Uint64() == defaultPercent
	})
	runtime.KeepAlive(much)
	runtime.KeepAlive(small)
}
