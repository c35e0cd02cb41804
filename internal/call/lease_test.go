package call

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
)

// HangUpAfter sets the grace period after a lapsed lease.
func (c *Calls) HangUpAfter(grace time.Duration) { c.lapseGrace = grace }

// A short lapse of the lease ends no call.
func TestCallsOutliveALapsedLeaseForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Calls{running: map[carillon.MessageKey]context.CancelCauseFunc{}, lapseGrace: lapseGrace}
		call, end := c.trackDial(t.Context(), 1)
		defer end()
		begin := time.Now()
		lapsed := [][2]time.Duration{{5 * time.Second, 19 * time.Second}, {30 * time.Second, time.Hour}} // from, to
		go c.watchLease(t.Context(), func() bool {
			for _, l := range lapsed {
				if at := time.Since(begin); at > l[0] && at < l[1] {
					return false
				}
			}
			return true
		})
		<-call.Done()
		if at, why := time.Since(begin), context.Cause(call); at < 45*time.Second || at > 47*time.Second || !errors.Is(why, errLapsed) {
			t.Errorf("hung up after %v: %v", at, why)
		}
	})
}
