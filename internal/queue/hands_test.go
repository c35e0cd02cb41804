package queue

import (
	"testing"
	"time"
)

// After a busy moment three are enough: the others go, and those too when there is no work any more.
func TestHandsThatNobodyNeedsGo(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	p := idlePump(t)
	var all []chan *flight
	for range 8 {
		all = append(all, make(chan *flight, 1))
	}
	p.hands.idle = append(p.hands.idle, all...)
	work := func(n int) {
		var busy []chan *flight
		for range n {
			p.send(&flight{}, now)
		}
		for _, in := range all {
			select {
			case f := <-in:
				if f != nil {
					busy = append(busy, in)
				}
			default:
			}
		}
		if len(busy) != n {
			t.Fatalf("%d of %d were called", len(busy), n)
		}
		p.hands.idle = append(p.hands.idle, busy...)
	}
	for _, c := range []struct{ work, left int }{{8, 8}, {8, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}} {
		work(c.work)
		now = now.Add(handsRest / 2)
		work(c.work)
		p.restHands(now)
		now = now.Add(handsRest / 2)
		p.restHands(now)
		if n := len(p.hands.idle); n != c.left {
			t.Fatalf("with work for %d, %d are left", c.work, n)
		}
	}
}
