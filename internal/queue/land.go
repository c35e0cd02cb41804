package queue

import (
	"slices"
	"time"

	"carillon"
	"carillon/internal/store"
)

type landed struct {
	f    *flight
	done Done
	at   time.Time
}

type committed struct {
	d       *store.Delivery
	flights []*flight
	later   []postponed
	took    time.Duration
	err     error
}

func (p *pump) committed(c committed, now time.Time) {
	p.committing = false
	if c.err != nil {
		p.commitFailed(c, now)
		return
	}
	p.backoff = 0
	p.commits++
	p.written(c.d.Results, now)
	for _, x := range c.later {
		x.w.forget(x.m.Key)
		x.w.wake(x.m.Due)
		p.attendLater(x.lane, now)
	}
	for _, f := range c.d.Fences {
		if slices.Contains(c.d.Lost, f.Shard) {
			p.q.disown(f.Shard, f.Epoch)
			p.loseOf(f.Shard, f.Epoch)
		}
	}
	for _, f := range c.flights {
		k := f.job.Key
		f.lane.class[f.class].forget(k)
		if f.start.Attempt == 0 { // canceled, moved, or started by another owner
			f.lane.class[f.class].wake(now)
			p.unstart(f, now)
			continue
		}
		f.job.Attempt = f.start.Attempt
		if before := p.flights[k]; before != nil {
			before.arrive() // its result was committed, and the answer lost
		}
		p.flights[k] = f
		p.send(f, now)
	}
}

// commitFailed keeps the results for the next try. Whether the starts were committed is not known: they are not sent,
// and an audit finds those that were and queues them again.
func (p *pump) commitFailed(c committed, now time.Time) {
	p.q.o.Log.Error("commit deliveries", "error", c.err, "results", len(c.d.Results), "starts", len(c.flights))
	p.backoff = min(max(2*p.backoff, 50*time.Millisecond), time.Second)
	p.commitWait = now.Add(p.backoff)
	p.results = append(c.d.Results, p.results...)
	p.later = append(c.later, p.later...)
	for _, f := range c.flights {
		f.lane.class[f.class].forget(f.job.Key)
		f.lane.class[f.class].wake(f.job.Due)
		p.unstart(f, now)
		if s := p.shards[f.start.Shard]; s != nil {
			s.audit, s.scanAt = true, now
		}
	}
}

func (p *pump) unstart(f *flight, now time.Time) {
	f.arrive()
	p.active--
	f.lane.flying--
	f.lane.pace.untake()
	f.lane.space.unstarted(f.job.Number, f.stamp)
	p.attendLater(f.lane, now)
}

// landed takes a response: its slot is free for the next start, its result goes with the next commit.
func (p *pump) landed(r landed, now time.Time) {
	l := r.f.lane
	p.active--
	l.flying--
	l.pace.answered(r.at)
	p.heed(l, &r, now)
	p.results = append(p.results, r.done.Result)
	if p.q.o.Observe != nil {
		p.q.o.Observe(r.f.job, r.at.Sub(r.f.job.Due), &r.done)
	}
	p.attendLater(l, now)
}

// written follows results that are in the database now.
func (p *pump) written(results []store.Result, now time.Time) {
	var closed []carillon.Seq
	for i := range results {
		r := &results[i]
		k := r.Key
		f := p.flights[k]
		if f != nil && f.job.Attempt == r.Attempt {
			delete(p.flights, k)
			f.arrive()
		}
		if o, ok := p.orphans[k]; ok && o.attempt == r.Attempt && (r.Move == store.MoveUnsent || r.Move == store.MoveRetry) {
			delete(p.orphans, k)
			p.wakeAnywhere(o.wake, now)
		}
		switch r.Move {
		case store.MoveDone:
			closed = append(closed, r.Key.Seq())
		case store.MoveRetry:
			if f != nil {
				p.wakeAnywhere(Wake{SenderUID: f.lane.uid, Class: f.class, Due: r.Due}, now)
			}
		case store.MoveUnknown:
			if f != nil {
				p.doubt(f.lane.shard, r.Due)
			}
		case store.MoveHold, store.MoveUnsent:
		}
	}
	if len(closed) > 0 && p.q.o.Closed != nil {
		p.q.o.Closed(closed)
	}
}
