package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store"
)

// After a failover to a server that was replicated to asynchronously the last commits may be gone: starts, and results.
// This node remembers the results of the last minute and knows what it has in flight, and tells the new server all of it
// before it starts anything more: otherwise what was sent in the lost moment would be sent again. Results of other nodes
// come from those; each waits a little for the others before it starts.

const (
	memory     = time.Minute
	memoryMost = 1 << 16 // results; past it the oldest are forgotten
	replayRows = 500     // a transaction
	replayWait = 2 * time.Second
)

// echoes are what a node could tell again.
type echoes struct {
	timeline  uint32 // that this node's starts and results are made for
	recent    []store.Result
	replaying bool
	rest      time.Time // nothing starts before, so that other nodes have replayed too
}

type replayed struct {
	timeline uint32
	waiting  []store.Result // of them, those that had not been committed before
	err      error
}

// remember keeps results that were written.
func (e *echoes) remember(rs []store.Result, now time.Time) {
	e.recent = append(e.recent, rs...)
	drop := max(0, len(e.recent)-memoryMost)
	for drop < len(e.recent) && now.Sub(e.recent[drop].At) > memory {
		drop++
	}
	if drop > len(e.recent)/2 || len(e.recent) > memoryMost+memoryMost/4 {
		e.recent = append([]store.Result(nil), e.recent[drop:]...)
	}
}

// holdBack tells whether nothing may be committed or started now: a failover is being made good.
func (p *pump) holdBack(now time.Time) bool {
	switch t := p.q.store.Timeline(); {
	case p.echoes.replaying:
		return true
	case t == p.echoes.timeline || p.committing:
	case p.echoes.timeline == 0:
		p.echoes.timeline = t
	default:
		p.replay(t, now)
		return true
	}
	return now.Before(p.echoes.rest)
}

// replay tells the new server what this node knows, beside the pump.
func (p *pump) replay(timeline uint32, now time.Time) {
	p.q.o.Log.Warn("the database has failed over; telling it again what may be lost", "timeline", timeline,
		"results", len(p.echoes.recent)+len(p.results), "in_flight", len(p.flights))
	p.echoes.replaying = true
	last := map[carillon.MessageKey]store.Result{} // a later attempt's result supersedes an earlier one's
	for _, rs := range [][]store.Result{p.echoes.recent, p.results} {
		for _, r := range rs {
			last[r.Key] = r
		}
	}
	var flying []store.Flight
	for k, f := range p.flights {
		if r, ended := last[k]; !ended || r.Attempt < f.job.Attempt {
			delete(last, k)
			flying = append(flying, store.Flight{Key: k, Attempt: f.job.Attempt})
		}
	}
	results := make([]store.Result, 0, len(last))
	for _, r := range last {
		results = append(results, r)
	}
	slices.SortFunc(results, func(a, b store.Result) int {
		return cmp.Compare(a.Key, b.Key)
	})
	slices.SortFunc(flying, func(a, b store.Flight) int {
		return cmp.Compare(a.Key, b.Key)
	})
	done := replayed{timeline: timeline, waiting: p.results}
	p.results = nil
	go func() {
		done.err = p.q.tellAgain(flying, results)
		if done.err != nil {
			<-time.After(replayWait) // the new server may not be ready
		}
		p.q.post(func(in *inbox) { in.replays = append(in.replays, done) })
	}()
}

func (q *Queue) tellAgain(flying []store.Flight, results []store.Result) error {
	for len(flying)+len(results) > 0 {
		f, r := flying[:min(len(flying), replayRows)], results[:min(len(results), replayRows)]
		flying, results = flying[len(f):], results[len(r):]
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := q.store.Replay(ctx, f, r)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// replayed takes the end of a replay; one that failed begins again with what has come since.
func (p *pump) replayed(r replayed, now time.Time) {
	p.echoes.replaying = false
	if r.err != nil {
		p.q.o.Log.Warn("tell the database again", "error", r.err)
		p.results = append(r.waiting, p.results...)
		return
	}
	p.echoes.timeline, p.echoes.rest = r.timeline, now.Add(replayWait)
	p.written(r.waiting, now)
	if p.q.o.Deposed != nil {
		p.q.o.Deposed() // what followed the results may be lost as well
	}
	for _, s := range p.shards {
		s.scanAt = now // what was queued again is found
	}
	p.stirred = true
}
