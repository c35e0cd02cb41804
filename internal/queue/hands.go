package queue

import "time"

// hands make the sends, a goroutine each. One that has made a send waits for the next: its stack has grown by then, and a
// new goroutine would copy its own several times on the way down into a channel's client.
type hands struct {
	idle []chan *flight // the latest used last
	over chan struct{}  // closed when the pump ends
	used time.Time      // when one was last called for
}

// handsRest is how long hands wait for work once nothing is in flight any more.
const handsRest = 10 * time.Second

func (p *pump) send(f *flight, now time.Time) {
	h := &p.hands
	h.used = now
	if !f.stamp.IsZero() {
		f.wait = f.lane.space.left(f.job.Number, now)
	}
	if n := len(h.idle) - 1; n >= 0 {
		h.idle[n] <- f
		h.idle = h.idle[:n]
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
			time.Sleep(f.wait)
			d := p.q.o.Deliver(p.sendCtx, f.job)
			p.q.land(landed{f, d, time.Now(), in})
		case <-p.hands.over:
			return
		}
	}
}

// restHands lets the hands go that nobody has called for in a while.
func (p *pump) restHands(now time.Time) {
	h := &p.hands
	if p.active > 0 || len(h.idle) == 0 || now.Sub(h.used) < handsRest {
		return
	}
	for _, in := range h.idle {
		close(in)
	}
	h.idle = nil
}
