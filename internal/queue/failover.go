package queue

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/store"
)

// After a failover to a server that was replicated to asynchronously the last commits may be gone: starts, and results.
// This node remembers the results of the last minute and knows what it has in flight, and tells the new server all of it
// before it starts anything more: otherwise what was sent in the lost moment would be sent again. Results of other nodes
// come from those; each waits a little for the others before it starts. Receipts of the last minute are told as well: the
// provider was answered that they are kept, and does not repeat them.

const (
	memory     = time.Minute
	memoryMost = 1 << 16          // results, and receipts; past it the oldest are forgotten
	replayRows = 500              // a transaction
	replayMost = 10 * time.Second // it may take
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
	e.recent = kept(append(e.recent, rs...), now, func(r *store.Result) time.Time { return r.At })
}

// kept leaves out what is too old or too much, from time to time.
func kept[T any](all []T, now time.Time, at func(*T) time.Time) []T {
	drop := max(0, len(all)-memoryMost)
	for drop < len(all) && now.Sub(at(&all[drop])) > memory {
		drop++
	}
	if drop > len(all)/2 || len(all) > memoryMost+memoryMost/4 {
		return append([]T(nil), all[drop:]...)
	}
	return all
}

// heard are the receipts that came to this node lately.
type heard struct {
	mu     sync.Mutex
	recent []heardAt
}

type heardAt struct {
	receipt carillon.Receipt
	at      time.Time
}

// Received keeps receipts that are about to be stored, so that they can be told again after a failover.
func (q *Queue) Received(rs []carillon.Receipt) {
	if q.alone() {
		return
	}
	now := time.Now()
	q.heard.mu.Lock()
	defer q.heard.mu.Unlock()
	for i := range rs {
		q.heard.recent = append(q.heard.recent, heardAt{rs[i], now})
	}
	q.heard.recent = kept(q.heard.recent, now, func(h *heardAt) time.Time { return h.at })
}

func (h *heard) all() []carillon.Receipt {
	h.mu.Lock()
	defer h.mu.Unlock()
	rs := make([]carillon.Receipt, len(h.recent))
	for i := range h.recent {
		rs[i] = h.recent[i].receipt
	}
	return rs
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
	last := newest(p.echoes.recent, p.results)
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
		if done.err = p.q.tellAgain(flying, results); done.err != nil {
			<-time.After(replayWait) // the new server may not be ready
		}
		p.q.post(func(in *inbox) { in.replays = append(in.replays, done) })
	}()
}

// newest gives each message's last result: a later attempt's supersedes an earlier one's. But that an attempt was not made
// supersedes nothing that is known of it: an audit of the new server, which has lost the result, may have said so.
func newest(written, waiting []store.Result) map[carillon.MessageKey]store.Result {
	last := make(map[carillon.MessageKey]store.Result, len(written)+len(waiting))
	for _, rs := range [][]store.Result{written, waiting} {
		for _, r := range rs {
			if b, known := last[r.Key]; !known || r.Move != store.MoveUnsent || b.Attempt < r.Attempt {
				last[r.Key] = r
			}
		}
	}
	return last
}

// tellReceipts tells the new server the receipts of the last minute, beside what starts: nothing is sent again for want of
// them. It does so once more when the other nodes have told of their attempts: a receipt that came before that was about
// none that the new server knew.
func (p *pump) tellReceipts() {
	p.q.gives.Go(func() {
		for range 2 {
			if err := p.q.tellAllReceipts(p.hands.over); err != nil {
				p.q.o.Log.Warn("tell the database receipts again", "error", err)
			}
			if p.q.o.Deposed != nil {
				p.q.o.Deposed() // what they ended may be the last of its notification
			}
			select {
			case <-time.After(replayWait):
			case <-p.hands.over:
				return
			}
		}
	})
}

func (q *Queue) tellAllReceipts(over <-chan struct{}) error {
	for rs := range slices.Chunk(q.heard.all(), replayRows) {
		select {
		case <-over:
			return nil
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), replayMost)
		err := q.store.ReplayReceipts(ctx, rs)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) tellAgain(flying []store.Flight, results []store.Result) error {
	for len(flying)+len(results) > 0 {
		f, r := flying[:min(len(flying), replayRows)], results[:min(len(results), replayRows)]
		flying, results = flying[len(f):], results[len(r):]
		ctx, cancel := context.WithTimeout(context.Background(), replayMost)
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
	p.tellReceipts()
	if p.q.o.Deposed != nil {
		p.q.o.Deposed() // what followed the results may be lost as well
	}
	for _, s := range p.shards {
		s.scanAt = now            // what was queued again is found
		s.doubtAt = p.echoes.rest // and what had been settled and is unknown again, once all have told of their receipts
	}
	p.stirred = true
}
