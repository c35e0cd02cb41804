package voice

import (
	"testing"
	"time"
)

func TestTheSilenceFollowsThePersonsPauses(t *testing.T) {
	const text = "I would like to come tomorrow"
	var slow, quick pauses
	for range 3 * maxPauses {
		slow.add(3 * time.Second)
		quick.add(260 * time.Millisecond)
	}
	usual := need(text, expected{}, "en", &pauses{})
	longer, shorter := need(text, expected{}, "en", &slow), need(text, expected{}, "en", &quick)
	if usual != needSentence || longer <= needSlot || longer > maxAdapted || shorter >= usual || shorter < minAdapted {
		t.Errorf("usual %v, slow %v, quick %v", usual, longer, shorter)
	}
	if got := need("Yes", expected{slot: slotChoice}, "en", &slow); got != needShort {
		t.Errorf("a short answer waits %v", got)
	}
	var first pauses
	first.add(3 * time.Second)
	if got := need(text, expected{}, "en", &first); got <= usual || got > needSlot {
		t.Errorf("one pause: %v", got)
	}
}
