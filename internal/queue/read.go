package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store"
)

// reading is a window that is being read.
type reading struct {
	lane   *lane
	class  int
	from   time.Time
	rows   []store.Queued
	full   bool
	next   time.Time
	sender *carillon.Sender
	off    bool // the sender may not send now
	early  bool // what is due, before it is known what comes next: the read goes on
	err    error
}

// loaded is what a reader found.
type loaded struct {
	readings []*reading
	ended    bool // the reader is free again
}

// attend loads what a lane wants to read, and puts it among the ready or to sleep.
func (p *pump) attend(l *lane, now time.Time) {
	if p.loads < loadsMax && len(p.hungry) == 0 {
		p.load(l.wants(nil, now), now)
	}
	p.place(l, now)
}

// place puts a lane among the ready or to sleep, or has it wait for a reader.
func (p *pump) place(l *lane, now time.Time) {
	hungry := false
	for c := range l.class {
		hungry = hungry || l.class[c].wantsLoad(now)
	}
	runnable := false
	for c := range l.class {
		runnable = runnable || l.class[c].due(now)
	}
	if runnable && l.room(now, p.q.o.LaneCap) > 0 {
		p.unsleep(l)
		if !l.inReady {
			l.inReady = true
			p.ready = append(p.ready, l)
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
		delete(p.lanes, l.uid)
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
			rs := l.wants(nil, now)
			p.place(l, now)
			p.load(rs, now)
		}
	}
}

// wants adds what a lane wants to read now.
func (l *lane) wants(rs []*reading, now time.Time) []*reading {
	for c := range l.class {
		if w := &l.class[c]; w.wantsLoad(now) {
			w.loading = true
			rs = append(rs, &reading{lane: l, class: c, from: w.from()})
		}
	}
	return rs
}

// load has a reader read windows.
func (p *pump) load(rs []*reading, now time.Time) {
	if len(rs) == 0 {
		return
	}
	p.loads++
	go func() {
		p.read(rs, now.Add(readAhead))
		p.q.post(func(in *inbox) { in.loads = append(in.loads, loaded{readings: rs, ended: true}) })
	}()
}

// read reads the windows of one lane. What is due starts while the database is asked what comes next: it is posted at once.
func (p *pump) read(rs []*reading, until time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	sender, active, err := p.q.o.Sender(ctx, rs[0].lane.uid)
	for _, r := range rs {
		r.sender, r.off, r.err = sender, !active, err
		if err == nil {
			p.readWindow(ctx, r, until)
		}
	}
}

func (p *pump) readWindow(ctx context.Context, r *reading, until time.Time) {
	at := store.Lane{SenderUID: r.lane.uid, Class: carillon.Class(r.class)}
	if r.rows, r.err = p.q.store.Window(ctx, r.lane.shard, at, r.from, until, windowRows); r.err != nil {
		return
	}
	if r.full = len(r.rows) == windowRows; r.full {
		return
	}
	if len(r.rows) > 0 {
		first := *r
		first.early, r.rows = true, nil
		p.q.post(func(in *inbox) { in.loads = append(in.loads, loaded{readings: []*reading{&first}}) })
	}
	r.next, r.err = p.q.store.NextDue(ctx, r.lane.shard, at, until.Add(time.Millisecond))
}

func (p *pump) loaded(x loaded, now time.Time) {
	if x.ended {
		p.loads--
	}
	for _, r := range x.readings {
		p.take(r, now)
	}
}

func (p *pump) take(r *reading, now time.Time) {
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
	l.of(r.sender)
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
