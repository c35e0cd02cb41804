package main

import "testing"

func TestTheHeapGetsRoomByWhatLives(t *testing.T) {
	for live, want := range map[uint64]int{0: 800, 1 << 20: 800, 4 << 20: 600, 8 << 20: 300, 16 << 20: 150, 24 << 20: 100, 1 << 30: 100} {
		if got := roomPercent(live); got != want {
			t.Errorf("with %d bytes alive: %d %%, want %d", live, got, want)
		}
	}
}
