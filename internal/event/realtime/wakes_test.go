package realtime

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/queue"
)

func TestWakesAreUnderstoodByTheOtherNode(t *testing.T) {
	due := time.UnixMilli(1_780_000_000_123)
	var wakes []queue.Wake
	for _, kind := range []string{queue.Messages, queue.Calls} {
		for class := range carillon.Class(carillon.Classes) {
			wakes = append(wakes, queue.Wake{Kind: kind, SenderUID: 1<<53 + 7, Class: class, Due: due})
		}
	}
	sent := itemsOf(wakes)
	if diff := cmp.Diff(wakes, wakesOf(sent)); diff != "" {
		t.Error(diff)
	}
	keys := map[string]bool{} // the bus merges wake-ups with the same key
	for _, x := range sent {
		keys[x.Key] = true
	}
	if len(keys) != len(wakes) {
		t.Errorf("%d wake-ups have %d keys", len(wakes), len(keys))
	}
	unknown := []Item{{Key: "call/7/99"}, {Key: "call/x/0"}, {Key: "call"}, {Key: ""}}
	if got := wakesOf(unknown); len(got) != 0 || got == nil {
		t.Errorf("of what it does not understand it reads %v", got)
	}
	if wakesOf(nil) != nil {
		t.Error("nil, which says that wake-ups may have been lost, became a list")
	}
}
