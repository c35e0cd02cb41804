package queue

import (
	"context"
	"maps"
	"time"

	"carillon"
)

// Stats is what a node's queue holds at an instant, for metrics.
type Stats struct {
	Shards    int                     // owned
	Lanes     int                     // senders with something waiting or under way
	Waiting   [carillon.Classes]int   // messages read ahead that are due; a lane reads at most 512 of a class ahead
	Deep      int                     // lanes that have more due than they have read
	Oldest    time.Duration           // how long the oldest message that is due has been so, of senders that do not rest
	Sending   int                     // sends whose answer is awaited
	Unwritten int                     // results that wait for their commit
	Breakers  []carillon.Breaker      // not closed, at most BreakersMost
	Broken    map[BreakerCount]int    // senders by class and state, closed ones left out
	Changes   map[BreakerCount]uint64 // of breakers, ever: by class and the state they came to
	Gained    uint64                  // shards, ever
	Lost      uint64
	Commits   uint64 // of deliveries, ever
}

// BreakerCount names what is counted about breakers.
type BreakerCount struct {
	Fault carillon.Fault
	State carillon.BreakerState
}

// BreakersMost bounds the breakers that Stats lists one by one.
const BreakersMost = 100

// Stats asks the pump. It takes no longer than ctx allows; while the queue does not run it fails.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	answer := make(chan Stats, 1)
	q.post(func(in *inbox) { in.asks = append(in.asks, answer) })
	select {
	case s := <-answer:
		return s, nil
	case <-ctx.Done():
		return Stats{}, ctx.Err()
	}
}

// counts are what only rises.
type counts struct {
	gained, lost, commits uint64
	changes               map[BreakerCount]uint64
}

func (c *counts) change(b carillon.Breaker) {
	if c.changes == nil {
		c.changes = map[BreakerCount]uint64{}
	}
	c.changes[BreakerCount{b.Fault, b.State}]++
}

func (p *pump) stats(now time.Time) Stats {
	s := Stats{
		Shards: len(p.shards), Lanes: len(p.lanes), Sending: p.active, Unwritten: len(p.results), Gained: p.gained, Lost: p.lost,
		Commits: p.commits, Broken: map[BreakerCount]int{}, Changes: make(map[BreakerCount]uint64, len(p.changes)),
	}
	maps.Copy(s.Changes, p.changes)
	for _, l := range p.lanes {
		l.count(&s, now)
		if !l.breaker.probing() {
			continue
		}
		b := l.breaker.told(l, now)
		s.Broken[BreakerCount{b.Fault, b.State}]++
		if len(s.Breakers) < BreakersMost {
			s.Breakers = append(s.Breakers, b)
		}
	}
	return s
}

func (l *lane) count(s *Stats, now time.Time) {
	if l.off { // nobody is late where nothing may be sent
		return
	}
	deep := false
	for c := range l.class {
		w := &l.class[c]
		for i := range w.queue {
			if w.queue[i].Due.After(now) {
				break
			}
			s.Waiting[c]++
		}
		deep = deep || w.more && !w.tail.After(now)
		if l.breaker.probing() {
			continue // that its messages wait is told as its breaker's state
		}
		if len(w.queue) > 0 {
			s.Oldest = max(s.Oldest, now.Sub(w.queue[0].Due))
		}
		if !w.next.IsZero() && w.next.UnixMilli() > 0 {
			s.Oldest = max(s.Oldest, now.Sub(w.next))
		}
	}
	if deep {
		s.Deep++
	}
}
