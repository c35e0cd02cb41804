package purge

import (
	"testing"
	"time"
)

func TestPaceKeepsStepsShortAndPausesFourTimesAsLongUnderRequests(t *testing.T) {
	p := newPace(true)
	for _, tt := range []struct {
		took       time.Duration
		full       bool
		foreground bool
		rows       int
		pause      time.Duration
	}{
		{500 * time.Microsecond, true, true, 128, 6 * time.Millisecond},
		{500 * time.Microsecond, false, true, 128, 6 * time.Millisecond}, // it had nothing to do
		{1500 * time.Microsecond, true, true, 128, 10 * time.Millisecond},
		{1500 * time.Microsecond, true, false, 128, 2500 * time.Microsecond},
		{4 * time.Millisecond, true, true, 64, 20 * time.Millisecond},
		{time.Minute, true, true, 16, time.Second},
		{time.Minute, true, false, fewest, time.Second},
		{time.Minute, true, true, fewest, time.Second},
	} {
		x := Purged{Took: tt.took}
		if tt.full {
			x.Rows = p.rows
		}
		if pause := p.after(x, tt.took+time.Millisecond, tt.foreground); pause != tt.pause || p.rows != tt.rows {
			t.Errorf("after %s: pauses %s, then %d rows; want %s and %d", tt.took, pause, p.rows, tt.pause, tt.rows)
		}
	}
	for range 20 {
		p.after(Purged{Rows: p.rows}, 0, true)
	}
	if p.rows != most {
		t.Errorf("steps grow to %d rows", p.rows)
	}
}
