package notify

import (
	"testing"
	"time"
)

func TestSearchIsFilledCalmlyUntilItLags(t *testing.T) {
	for _, c := range []struct {
		took, lag time.Duration
		beside    bool
		want      time.Duration
	}{
		{100 * time.Microsecond, 0, true, 2 * time.Millisecond},
		{50 * time.Millisecond, time.Second, true, 200 * time.Millisecond},
		{50 * time.Millisecond, time.Second, false, 50 * time.Millisecond},
		{5 * time.Second, time.Minute, true, 2 * time.Second},
		{50 * time.Millisecond, 3 * time.Minute, true, 2 * time.Millisecond},
	} {
		if got := searchWait(c.took, c.lag, c.beside); got != c.want {
			t.Errorf("after a step of %s, %s behind: %s, want %s", c.took, c.lag, got, c.want)
		}
	}
}
