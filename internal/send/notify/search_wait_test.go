package notify

import (
	"testing"
	"time"
)

func TestSearchIsFilledCalmlyUntilItLags(t *testing.T) {
	for _, c := range []struct {
		took, lag, want time.Duration
	}{
		{100 * time.Microsecond, 0, 2 * time.Millisecond},
		{50 * time.Millisecond, time.Second, 200 * time.Millisecond},
		{5 * time.Second, time.Minute, 2 * time.Second},
		{50 * time.Millisecond, 3 * time.Minute, 2 * time.Millisecond},
	} {
		if got := searchWait(c.took, c.lag); got != c.want {
			t.Errorf("after a step of %s, %s behind: %s, want %s", c.took, c.lag, got, c.want)
		}
	}
}

func TestCountsTakeATenthOfTheTime(t *testing.T) {
	for _, c := range []struct {
		took, least, want time.Duration
	}{
		{100 * time.Microsecond, statsPause, statsPause},
		{50 * time.Millisecond, statsPause, 450 * time.Millisecond},
		{50 * time.Millisecond, statsEvery, statsEvery},
		{400 * time.Millisecond, statsEvery, 3600 * time.Millisecond},
		{10 * time.Second, statsPause, statsRest},
	} {
		if got := statsWait(c.took, c.least); got != c.want {
			t.Errorf("after a step of %s: %s, want %s", c.took, got, c.want)
		}
	}
}
