package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store"
)

type loaded struct {
	lane  *lane
	class int
	rows  []store.Queued
	full  bool
	next  time.Time
	from  *carillon.Sender
	off   bool // the sender may not send now
	early bool // what is due, before it is known what comes next: the read goes on
	err   error
}

// attend loads what a lane wants to read, and puts it among the ready or to sleep.
func (p *pump) attend(l *lane, now time.Time) {
	p.lend(l, now)
	hungry := false
	for c := range l.class {
		switch {
		case !l.class[c].wantsLoad(now):
		case p.loads < loadsMax:
			p.load(l, c, now)
		default:
			hungry = true
		}
	}
	runnable := false
	for c := range l.class {
		runnable = runnable || l.class[c].due(now)
	}
	if runnable && l.room(now, p.q.o.LaneCap) > 0 {
		p.unsleep(l)
		if !l.inReady {
			l.inReady = true
			p.queueReady(l)
		}
		return
	}
	at := l.attention(now)
	switch {
	case at.IsZero() && l.empty() && l.idle(now):
		if l.breaker != nil && l.breaker.tripped { // of a sender that has had nothing to try since
			p.changed(l, carillon.BreakerClosed, now)
		}
		p.unsleep(l)
		p.dropLane(l)
	case at.IsZero() && l.empty():
		p.sleepUntil(l, l.over(now))
	case at.IsZero():
		p.unsleep(l)
	case hungry && !at.After(now):
		p.unsleep(l)
		p.queueUp(l)
	default:
		p.sleepUntil(l, at)
	}
}

// queueUp has a lane that found no free reader wait for one: a hundred thousand that are due at once must not look for
// one each millisecond.
func (p *pump) queueUp(l *lane) {
	if !l.hungry {
		l.hungry = true
		p.hungry = append(p.hungry, l)
	}
}

// feed gives free readers to the lanes that wait for them, first come, first served.
func (p *pump) feed(now time.Time) {
	for len(p.hungry) > 0 && p.loads < loadsMax {
		l := p.hungry[0]
		p.hungry[0] = nil
		p.hungry = p.hungry[1:]
		l.hungry = false
		if p.lanes[l.uid] == l {
			p.attend(l, now)
		}
	}
}

func (p *pump) load(l *lane, c int, now time.Time) {
	w := &l.class[c]
	w.loading = true
	p.loads++
	floor, until := w.from(), now.Add(readAhead)
	uid, shard := l.uid, l.shard
	go func() {
		res := loaded{lane: l, class: c}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		var active bool
		res.from, active, res.err = p.q.o.Sender(ctx, uid)
		res.off = !active
		id := store.Lane{SenderUID: uid, Class: carillon.Class(c)}
		if res.err == nil {
			res.rows, res.err = p.q.store.Window(ctx, shard, id, floor, until, windowRows)
		}
		res.full = len(res.rows) == windowRows
		if res.err == nil && !res.full && len(res.rows) > 0 {
			early := res
			early.early, res.rows = true, nil
			p.q.post(func(in *inbox) { in.loads = append(in.loads, early) })
		}
		if res.err == nil && !res.full {
			res.next, res.err = p.q.store.NextDue(ctx, shard, id, until.Add(time.Millisecond))
		}
		p.q.post(func(in *inbox) { in.loads = append(in.loads, res) })
	}()
}

func (p *pump) loaded(r loaded, now time.Time) {
	if !r.early {
		p.loads--
	}
	l := r.lane
	w := &l.class[r.class]
	if p.lanes[l.uid] != l {
		return
	}
	if r.err != nil {
		p.q.o.Log.Warn("read lane", "sender", l.uid, "error", r.err)
		w.putOff(now)
		p.attend(l, now)
		return
	}
	l.off = r.off
	l.of(r.from)
	switch {
	case r.off && r.early: // the end of the read puts it off
	case r.off:
		w.putOff(now)
	case r.early:
		w.take(r.rows)
	default:
		w.fill(r.rows, r.full, r.next)
	}
	p.setAside(l, w, now)
	p.attend(l, now)
}
