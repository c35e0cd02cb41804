package convai

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestMessagesComeInABurstAndThenAtTheirPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPace(burst, perSecond)
		allowed := func() (n int) {
			for p.allow() {
				n++
			}
			return n
		}
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{0, burst}, {time.Second, perSecond}, {10 * time.Second, 10 * perSecond}, {time.Hour, burst}} {
			time.Sleep(c.after) // fake time
			if got := allowed(); got != c.want {
				t.Errorf("%d messages after %s, want %d", got, c.after, c.want)
			}
		}
	})
}
