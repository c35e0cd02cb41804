package queue

import (
	"context"
	"maps"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// Stats is what a node's queue holds at an instant, for metrics.
type Stats struct {
	Shards   int // owned
	Kinds    []KindStats
	Breakers []work.Breaker          // not closed, at most MaxBreakers
	Broken   map[BreakerCount]int    // senders by class and state, closed ones left out
	Changes  map[BreakerCount]uint64 // of breakers, ever: by class and the state they came to
	Gained   uint64                  // shards, ever
	Lost     uint64
}

// KindStats are the figures of one kind of work.
type KindStats struct {
	Name      string
	Lanes     int                   // senders with something waiting or under way
	Waiting   [carillon.Classes]int // read ahead and due; a lane reads at most 512 of a class ahead
	Deep      int                   // lanes that have more due than they have read
	Oldest    time.Duration         // how long the oldest work that is due has been so, of senders that do not rest
	InFlight  int                   // under way
	Unwritten int                   // results that wait for their commit
	Commits   uint64                // of starts and results, ever
}

// BreakerCount names what is counted about breakers.
type BreakerCount struct {
	Fault provider.Fault
	State work.BreakerState
}

// MaxBreakers bounds the breakers that Stats lists one by one.
const MaxBreakers = 100

// Stats asks the dispatcher. It takes no longer than ctx allows; while the queue does not run it fails.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	response := make(chan Stats, 1)
	q.post(statsAsked(response))
	select {
	case s := <-response:
		return s, nil
	case <-ctx.Done():
		return Stats{}, ctx.Err()
	}
}

// counts are what only rises.
type counts struct {
	gained, lost uint64
	changes      map[BreakerCount]uint64
}

func (c *counts) change(b work.Breaker) {
	if c.changes == nil {
		c.changes = map[BreakerCount]uint64{}
	}
	c.changes[BreakerCount{b.Fault, b.State}]++
}

func (d *dispatcher) stats(now time.Time) Stats {
	s := Stats{
		Shards: len(d.shards), Gained: d.counts.gained, Lost: d.counts.lost, Broken: map[BreakerCount]int{},
		Changes: make(map[BreakerCount]uint64, len(d.counts.changes)),
	}
	maps.Copy(s.Changes, d.counts.changes)
	for _, k := range d.kinds {
		s.Kinds = append(s.Kinds, statsOf(k, now))
		for _, l := range k.lanes {
			if !l.Breaker.Tripped() {
				continue
			}
			b := k.breakers.view(l, l.Breaker, now)
			s.Broken[BreakerCount{b.Fault, b.State}]++
			if len(s.Breakers) < MaxBreakers {
				s.Breakers = append(s.Breakers, b)
			}
		}
	}
	return s
}

func statsOf(k *lanes, now time.Time) KindStats {
	s := KindStats{Name: k.Name, Lanes: len(k.lanes), InFlight: k.inFlight, Unwritten: len(k.results), Commits: k.commits}
	for _, l := range k.lanes {
		s.add(l, now)
	}
	return s
}

// add counts what waits in a lane. Of a suspended sender nothing is late.
func (s *KindStats) add(l *lane.Lane, now time.Time) {
	if l.Settings.Suspended {
		return
	}
	deep := false
	for c := range l.Buffers {
		items, since, more := l.Buffers[c].Overdue(now)
		s.Waiting[c] += items
		deep = deep || more
		if !l.Breaker.Tripped() && !since.IsZero() { // else that its work waits shows as its breaker's state
			s.Oldest = max(s.Oldest, now.Sub(since))
		}
	}
	if deep {
		s.Deep++
	}
}
