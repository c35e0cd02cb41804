package hook

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/time/rate"
)

const (
	paceWindow = 25 * time.Millisecond // after which the pace is looked at again
	paceAfresh = time.Second           // without events
	maxPace    = 20_000                // events a second
	paceBurst  = 10 * time.Millisecond // of events that are sent at once
)

// pace is how fast a node sends events. They come last: while what else the node does waits for a processor, they become fewer, down to
// paceLeast. It is the congestion control of TCP with the processors for the network: begin slowly, grow as long as there is room, and
// halve when there is none.
type pace struct {
	busy   func() bool
	turn   chan struct{} // held by whoever waits next: the order of the lanes, and what guards the rest
	limit  *rate.Limiter
	looked time.Time
	waited bool // somebody had to, since it was looked at
}

func newPace(busy func() bool) *pace {
	p := &pace{busy: busy, turn: make(chan struct{}, 1), limit: rate.NewLimiter(0, 1)}
	p.set(paceFirst())
	return p
}

// paceLeast takes less than a hundredth of the processors.
func paceLeast() float64 { return 20 * float64(runtime.GOMAXPROCS(0)) }

func paceFirst() float64 { return 10 * paceLeast() }

// wait returns when one more event may be sent, or ctx ends.
func (p *pace) wait(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	now := time.Now()
	p.look(now)
	p.waited = p.waited || p.limit.TokensAt(now) < 1
	return p.limit.Wait(ctx)
}

// look makes the pace fit what the node does.
func (p *pace) look(now time.Time) {
	since := now.Sub(p.looked)
	if since < paceWindow {
		return
	}
	busy, waited, r := p.busy(), p.waited, float64(p.limit.Limit())
	p.looked, p.waited = now, false
	switch {
	case since > paceAfresh:
		p.set(paceFirst())
	case busy:
		p.set(max(paceLeast(), r/2))
	case waited: // else it is not the pace that bounds them
		p.set(min(maxPace, r*1.25))
	}
}

func (p *pace) set(r float64) {
	p.limit.SetLimit(rate.Limit(r))
	p.limit.SetBurst(max(1, int(r*paceBurst.Seconds())))
}

// perSecond is how many events a second the node sends at most now.
func (p *pace) perSecond() float64 { return float64(p.limit.Limit()) }
