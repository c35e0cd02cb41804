package telephone

import (
	"testing"
	"time"
)

func TestWhatHappensAgainIsLoggedSeldom(t *testing.T) {
	t.Parallel()
	var s seldom
	now := time.UnixMilli(1_800_000_000_000)
	if !s.due("a", now) || s.due("a", now.Add(saidAgain-1)) || !s.due("b", now) || !s.due("a", now.Add(saidAgain)) {
		t.Error("it is logged at the wrong time")
	}
	for i := range 3 * maxSaid {
		s.due(string(rune(i)), now)
	}
	if len(s.said) > maxSaid {
		t.Errorf("%d are kept", len(s.said))
	}
}
