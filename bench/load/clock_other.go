//go:build !linux

package load

import "time"

// clock waits for instants with the runtime's timers.
type clock struct{}

func newClock() clock { return clock{} }

func (clock) close() {}

func (clock) until(t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	<-timer.C
}
