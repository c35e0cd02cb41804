package hook

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/time/rate"
)

const (
	paceWindow = 25 * time.Millisecond // interval at which the pace is adjusted
	paceIdle   = time.Second           // idle time after which the pace starts over
	maxPace    = 20_000                // events per second
	paceBurst  = 10 * time.Millisecond // duration whose events may be sent as a burst
)

// pace limits the rate at which a node sends events. Events have the lowest priority: while other work waits for a
// processor, the rate falls, down to minPace. It works like TCP congestion control, with processors in place of the
// network: start slowly, grow while there is capacity, halve when there is none.
type pace struct {
	busy     func() bool
	turn     chan struct{} // held by the lane that waits next; it orders the lanes and guards the other fields
	limit    *rate.Limiter
	adjusted time.Time
	waited   bool // an event had to wait since the last adjustment
}

func newPace(busy func() bool) *pace {
	p := &pace{busy: busy, turn: make(chan struct{}, 1), limit: rate.NewLimiter(0, 1)}
	p.set(paceFirst())
	return p
}

// minPace uses less than a hundredth of the processors.
func minPace() float64 { return 20 * float64(runtime.GOMAXPROCS(0)) }

func paceFirst() float64 { return 10 * minPace() }

// wait returns when one more event may be sent, or ctx ends.
func (p *pace) wait(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	now := time.Now()
	p.adjust(now)
	p.waited = p.waited || p.limit.TokensAt(now) < 1
	return p.limit.Wait(ctx)
}

// adjust adapts the pace to the load of the node.
func (p *pace) adjust(now time.Time) {
	since := now.Sub(p.adjusted)
	if since < paceWindow {
		return
	}
	busy, waited, r := p.busy(), p.waited, float64(p.limit.Limit())
	p.adjusted, p.waited = now, false
	switch {
	case since > paceIdle:
		p.set(paceFirst())
	case busy:
		p.set(max(minPace(), r/2))
	case waited: // otherwise the pace is not the limit
		p.set(min(maxPace, r*1.25))
	}
}

func (p *pace) set(r float64) {
	p.limit.SetLimit(rate.Limit(r))
	p.limit.SetBurst(max(1, int(r*paceBurst.Seconds())))
}

// perSecond returns the current maximum number of events per second.
func (p *pace) perSecond() float64 { return float64(p.limit.Limit()) }
