//go:build !linux

package load

import "time"

// clock waits for instants by the runtime's timers.
type clock struct{ t *time.Timer }

func newClock() clock { return clock{time.NewTimer(0)} }

func (c clock) close() { c.t.Stop() }

func (c clock) until(t time.Time) {
	if left := time.Until(t); left > 0 {
		c.t.Reset(left)
		<-c.t.C
	}
}
