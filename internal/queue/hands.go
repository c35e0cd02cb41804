package queue

import (
	"slices"
	"time"
)

// hands make the sends, a goroutine each. One that has made a send waits for the next: its stack has grown by then, and a
// new goroutine would copy its own several times on the way down into a channel's client.
type hands struct {
	idle   []chan *flight // the latest used last
	over   chan struct{}  // closed when the pump ends
	spare  int            // so many of the idle, from the first, nobody has needed since restHands looked
	looked time.Time
}

// handsRest is how long hands wait for work that others do not do.
const handsRest = 10 * time.Second

func (p *pump) send(f *flight, now time.Time) {
	h := &p.hands
	if !f.stamp.IsZero() {
		f.wait = f.lane.space.left(f.job.Number, now)
	}
	if n := len(h.idle) - 1; n >= 0 {
		h.idle[n] <- f
		h.idle = h.idle[:n]
		h.spare = min(h.spare, n)
		return
	}
	in := make(chan *flight, 1)
	in <- f
	go p.hand(in)
}

func (p *pump) hand(in chan *flight) {
	for {
		select {
		case f := <-in:
			if f == nil {
				return
			}
			if f.wait > 0 {
				<-time.After(f.wait)
			}
			d := p.q.o.Deliver(p.sendCtx, f.job)
			p.q.land(landed{f, d, time.Now(), in})
		case <-p.hands.over:
			return
		}
	}
}

// restHands lets the hands go that nobody has needed in a while: else the busiest moment would be paid for as long as there
// is work at all.
func (p *pump) restHands(now time.Time) {
	h := &p.hands
	if now.Sub(h.looked) < handsRest {
		return
	}
	for _, in := range h.idle[:h.spare] {
		close(in)
	}
	h.idle = slices.Delete(h.idle, 0, h.spare)
	h.spare, h.looked = len(h.idle), now
}
