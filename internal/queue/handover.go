package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon/internal/store"
)

// How a shard goes to another node without making a single outcome unknown: it starts nothing more, what is under way
// lands and is written, and only then the shard is given back. The next owner finds nothing in flight and waits its
// second for the pacing.
//
//	owned ── shed ──▶ closing ── all landed ──▶ given ──▶ another node takes it
//	  ▲                  │
//	  └── handOverMost ──┘ a provider hangs: called off, another shard is tried

const (
	handOverMost = 5 * time.Second  // a shard stands still no longer than this for a hand-over
	handOverRest = 30 * time.Second // and is then left alone
	giveTimeout  = 3 * time.Second
)

// depart counts a start of a shard, arrive its end: a result that is written, or no start at all.
func (p *pump) depart(f *flight) {
	if f.shard = p.shards[f.start.Shard]; f.shard != nil {
		f.shard.air++
	}
}

func (f *flight) arrive() {
	if f.shard != nil {
		f.shard.air--
		f.shard = nil
	}
}

// shed brings the number of shards on their way to other nodes to n: those with the least in flight go first.
func (p *pump) shed(n int, now time.Time) {
	var open, closing []*shardState
	for _, s := range p.shards {
		switch {
		case s.closing:
			closing = append(closing, s)
		case !now.Before(s.keep):
			open = append(open, s)
		}
	}
	for ; len(closing) > n; closing = closing[1:] {
		p.reopen(closing[0], now)
	}
	slices.SortFunc(open, func(a, b *shardState) int { return cmp.Or(cmp.Compare(a.air, b.air), cmp.Compare(a.id, b.id)) })
	for _, s := range open[:min(len(open), n-len(closing))] {
		p.close(s, now.Add(handOverMost))
	}
}

// closeAll begins to hand over everything: the node leaves. Alone there is nobody to take it.
func (p *pump) closeAll() {
	if p.q.alone() {
		return
	}
	for _, s := range p.shards {
		p.close(s, time.Time{})
	}
}

func (p *pump) close(s *shardState, until time.Time) {
	s.closing, s.until, p.stirred = true, until, true
	p.halt(s, true)
}

func (p *pump) halt(s *shardState, halt bool) {
	for _, l := range p.lanes {
		if l.shard == s.id {
			l.halt = halt
		}
	}
}

// reopen calls a hand-over off.
func (p *pump) reopen(s *shardState, now time.Time) {
	s.closing = false
	p.halt(s, false)
	for _, l := range p.lanes {
		if l.shard == s.id {
			p.attend(l, now)
		}
	}
}

// handOver gives the closing shards back of which nothing is under way any more.
func (p *pump) handOver(now time.Time) {
	var quiet []store.Fence
	for _, s := range p.shards {
		switch {
		case !s.closing:
		case p.quiet(s):
			quiet = append(quiet, store.Fence{Shard: s.id, Owner: p.q.id, Epoch: s.epoch})
		case !s.until.IsZero() && now.After(s.until):
			s.keep = now.Add(handOverRest)
			p.reopen(s, now)
		}
	}
	if len(quiet) == 0 {
		return
	}
	for _, f := range quiet {
		p.lose(f.Shard)
	}
	p.q.give(quiet)
}

// quiet tells that nothing which this node began in a shard is still to be told to the database.
func (p *pump) quiet(s *shardState) bool {
	if s.air > 0 || s.busy || s.audit {
		return false
	}
	for _, o := range p.orphans {
		if shardOf(o.wake.SenderUID) == s.id {
			return false
		}
	}
	return true
}

// give hands shards back to the database, beside the pump. Until that is done, and the shards have been looked at after
// it, they are nobody's to this node.
func (q *Queue) give(fences []store.Fence) {
	q.mu.Lock()
	for _, f := range fences {
		delete(q.owned, f.Shard)
		q.giving[f.Shard] = true
	}
	q.mu.Unlock()
	q.gives.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), giveTimeout)
		defer cancel()
		err := q.store.Give(ctx, fences)
		q.mu.Lock()
		for _, f := range fences {
			q.giving[f.Shard] = false
		}
		q.mu.Unlock()
		if err != nil { // the next turn finds them still owned, and takes them up again
			q.o.Log.Warn("give shards to other nodes", "shards", len(fences), "error", err)
			return
		}
		q.moved()
	})
}

// moved tells the other nodes that shards are free.
func (q *Queue) moved() {
	if q.o.Moved != nil {
		q.o.Moved()
	}
}

// settledGives forgets the gives that are over; what the database says from now on holds.
func (q *Queue) settledGives() {
	q.mu.Lock()
	for shard, under := range q.giving {
		if !under {
			delete(q.giving, shard)
		}
	}
	q.mu.Unlock()
}
