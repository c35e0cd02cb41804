package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store"
)

// What a shard needs beside sending: its due index looked through now and then, in case a wake-up was lost; unknown
// outcomes settled when their wait is over; starts found again whose commit ended in uncertainty.

type audit struct {
	shard   int
	wakes   []Wake
	flights []store.Flight
	audited bool
	took    time.Duration // to look through the due index
	err     error
}

// orphan is a start that was committed without this node's being told, so that nothing was sent.
type orphan struct {
	attempt int
	wake    Wake // once it is taken back
}

type doubted struct {
	shard int
	wakes []Wake
	ended []carillon.Seq
	next  time.Time
	err   error
}

const (
	doubtRows  = 500
	tendAtOnce = 2
)

func (p *pump) doubt(shard int, at time.Time) {
	if s := p.shards[shard]; s != nil && (s.doubtAt.IsZero() || at.Before(s.doubtAt)) {
		s.doubtAt = at
	}
}

// tend starts the scans and settlings that are due, a few at a time.
func (p *pump) tend(now time.Time) {
	busy := 0
	for _, s := range p.shards {
		if s.busy {
			busy++
		}
	}
	for _, s := range p.shards {
		if busy >= tendAtOnce {
			return
		}
		switch {
		case s.busy:
		case !s.doubtAt.IsZero() && !s.doubtAt.After(now):
			s.busy, s.doubtAt = true, time.Time{}
			busy++
			go p.settle(s.id, now)
		case s.scanAt.After(now):
		case s.audit && p.committing: // the next turn after the commit
		default:
			s.busy = true
			busy++
			full := s.audit
			if full {
				s.audit = false
				p.auditing++
			}
			go p.scan(store.Fence{Shard: s.id, Owner: p.q.id, Epoch: s.epoch}, full)
		}
	}
}

// scanRest is how long a shard's due index is left alone after a look that took so long. While a snapshot is held, what has
// ended stays in it, and looks take the longer the more there is.
func (p *pump) scanRest(took time.Duration) time.Duration {
	if p.q.alone() {
		return scanEvery
	}
	return min(max(scanOften, scanShare*took), scanEvery)
}

func (p *pump) scan(f store.Fence, full bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	a := audit{shard: f.Shard, audited: full}
	begin := time.Now()
	lanes, err := p.q.store.Lanes(ctx, f.Shard)
	a.took = time.Since(begin)
	for _, l := range lanes {
		a.wakes = append(a.wakes, Wake{SenderUID: l.SenderUID, Class: l.Class, Due: l.Due})
	}
	if err == nil && full {
		a.flights, err = p.q.store.Flights(ctx, f)
	}
	a.err = err
	p.q.post(func(in *inbox) { in.audits = append(in.audits, a) })
}

// audited takes a scan. Flights that the database knows and this node does not were committed by a transaction whose
// end was not told: they have not been sent, and go back to their lanes. A result may have been written since the scan
// read, hence MoveUnsent, which touches nothing but a start. What is known of an earlier attempt says nothing of this one:
// its result too may have been written without this node's being told, and the message been started again.
func (p *pump) audited(a audit, now time.Time) {
	if a.audited {
		p.auditing--
	}
	s := p.shards[a.shard]
	if s == nil {
		return
	}
	s.busy = false
	s.scanAt = now.Add(p.scanRest(a.took))
	if a.err != nil {
		p.q.o.Log.Warn("scan shard", "shard", a.shard, "error", a.err)
		s.scanAt, s.audit = now.Add(retryWait), s.audit || a.audited
		return
	}
	for _, w := range a.wakes {
		p.wake(w, now)
	}
	for _, f := range a.flights {
		k := f.Key
		if x := p.flights[k]; x != nil && x.job.Attempt >= f.Attempt || p.orphans[k].attempt >= f.Attempt {
			continue
		}
		p.unsent(k, f.Attempt, Wake{SenderUID: f.SenderUID, Class: f.Class, Due: now}, "the database did not confirm its start")
	}
}

// unsent has a start taken back of which nothing was sent; then its lane is woken.
func (p *pump) unsent(k carillon.MessageKey, attempt int, w Wake, why string) {
	p.q.o.Log.Warn("queue again what was never sent", "message", int64(k), "reason", why)
	p.results = append(p.results, store.Result{
		Key: k, Attempt: attempt, Move: store.MoveUnsent, Due: w.Due, At: w.Due, Detail: "an attempt was not made: " + why,
	})
	p.orphans[k] = orphan{attempt, w}
}

// settle ends the wait of a shard's unknown outcomes by their senders' policies.
func (p *pump) settle(shard int, now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	d := doubted{shard: shard}
	due, next, err := p.q.store.Doubts(ctx, shard, now, doubtRows)
	var retry, fail []store.Doubt
	for _, x := range due {
		sender, _, serr := p.q.o.Sender(ctx, x.SenderUID)
		if serr != nil {
			err = serr
			break
		}
		if sender.Unknown.Retry[x.Class] {
			retry = append(retry, x)
			d.wakes = append(d.wakes, Wake{SenderUID: x.SenderUID, Class: x.Class, Due: now})
		} else {
			fail = append(fail, x)
			d.ended = append(d.ended, x.Key.Seq())
		}
	}
	if err == nil && len(due) > 0 {
		err = p.q.store.Settle(ctx, retry, fail, now)
		if err == nil && p.q.o.Settled != nil {
			p.q.o.Settled(len(retry), len(fail))
		}
	}
	d.next, d.err = next, err
	p.q.post(func(in *inbox) { in.doubts = append(in.doubts, d) })
}

func (p *pump) doubted(d doubted, now time.Time) {
	if len(d.ended) > 0 && d.err == nil && p.q.o.Closed != nil {
		p.q.o.Closed(d.ended)
	}
	s := p.shards[d.shard]
	if s == nil {
		return
	}
	s.busy = false
	if d.err != nil {
		p.q.o.Log.Warn("settle unknown outcomes", "shard", d.shard, "error", d.err)
		p.doubt(d.shard, now.Add(retryWait))
		return
	}
	if !d.next.IsZero() {
		p.doubt(d.shard, d.next)
	}
	for _, w := range d.wakes {
		p.wake(w, now)
	}
}
