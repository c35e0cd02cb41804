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

// Stats describes a node's queue at a time, for metrics.
type Stats struct {
	Shards   int // owned
	Kinds    []KindStats
	Breakers []work.Breaker          // not closed, at most MaxBreakers
	Broken   map[BreakerCount]int    // senders by class and state, without closed ones
	Changes  map[BreakerCount]uint64 // total changes of breakers, by class and new state
	Gained   uint64                  // total of shards
	Lost     uint64
}

// KindStats are the figures of one kind of work.
type KindStats struct {
	Name    string
	Lanes   int                   // senders with work waiting or in progress
	Waiting [carillon.Classes]int // read ahead and due; a lane reads at most 512 of a class ahead
	Deep    int                   // lanes with more due work than they have read
	// Oldest is the time that the oldest due work has been due, without senders whose breaker is tripped.
	Oldest    time.Duration
	InFlight  int    // in progress
	Unwritten int    // results waiting for their commit
	Commits   uint64 // total commits of starts and results
}

// BreakerCount is a key for counts of breakers.
type BreakerCount struct {
	Fault provider.Fault
	State work.BreakerState
}

// MaxBreakers limits the list of breakers in Stats.
const MaxBreakers = 100

// Stats gets the figures from the dispatcher. It waits at most as long as ctx allows, and fails while the queue
// does not run.
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

// counts are counters that only rise.
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

func statsOf(k *kind, now time.Time) KindStats {
	s := KindStats{Name: k.Name, Lanes: len(k.lanes), InFlight: k.inFlight, Unwritten: len(k.results), Commits: k.commits}
	for _, l := range k.lanes {
		s.add(l, now)
	}
	return s
}

// add counts the waiting work of a lane. Work of a suspended sender does not count as late.
func (s *KindStats) add(l *lane.Lane, now time.Time) {
	if l.Settings.Suspended {
		return
	}
	deep := false
	for c := range l.Buffers {
		items, since, more := l.Buffers[c].Overdue(now)
		s.Waiting[c] += items
		deep = deep || more
		if !l.Breaker.Tripped() && !since.IsZero() { // otherwise the breaker's state explains the wait
			s.Oldest = max(s.Oldest, now.Sub(since))
		}
	}
	if deep {
		s.Deep++
	}
}
