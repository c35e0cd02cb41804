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
	late   bool // its time was over before it had an answer
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

// readTogether is how many lanes that wait for a reader are read at once: of each of their classes a window.
const readTogether = 16

// feed gives free readers to the lanes that wait for them, first come, first served.
func (p *pump) feed(now time.Time) {
	for len(p.hungry) > 0 && p.loads < loadsMax {
		free := loadsMax - p.loads
		most := min((len(p.hungry)+free-1)/free, readTogether)
		var rs []*reading
		for range most {
			l := p.hungry[0]
			if l.alone() && len(rs) > 0 {
				break
			}
			p.hungry[0] = nil
			p.hungry = p.hungry[1:]
			l.hungry = false
			if p.lanes[l.uid] != l {
				continue
			}
			rs = l.wants(rs, now)
			p.place(l, now)
			if l.alone() {
				break
			}
		}
		p.load(rs, now)
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

// alone tells whether the lane is read by itself: a read of it took too long, and shall not keep others from theirs.
func (l *lane) alone() bool {
	for c := range l.class {
		if l.class[c].alone {
			return true
		}
	}
	return false
}

// load has a reader read windows.
func (p *pump) load(rs []*reading, now time.Time) {
	if len(rs) == 0 {
		return
	}
	p.loads++
	go func() {
		left := p.read(rs, now.Add(readAhead))
		p.q.post(func(in *inbox) { in.loads = append(in.loads, loaded{readings: left, ended: true}) })
	}()
}

// read reads windows. What is due starts while the database is asked what comes next: it is posted at once, and what is left
// is given back.
func (p *pump) read(rs []*reading, until time.Time) (left []*reading) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var asked []*reading
	for _, r := range rs {
		var active bool
		r.sender, active, r.err = p.q.o.Sender(ctx, r.lane.uid)
		r.off = !active
		if r.err == nil {
			asked = append(asked, r)
		} else {
			left = append(left, r)
		}
	}
	rows, err := p.q.store.Windows(ctx, lanesOf(asked, time.Time{}), until, windowRows)
	if err != nil {
		fail(ctx, asked, err)
		return rs
	}
	var due, more []*reading
	for i, r := range asked {
		r.rows, r.full = rows[i], len(rows[i]) == windowRows
		if r.full {
			due = append(due, r)
			continue
		}
		if len(r.rows) > 0 {
			first := *r
			first.early, r.rows = true, nil
			due = append(due, &first)
		}
		more = append(more, r)
	}
	if len(more) == 0 {
		return append(left, due...)
	}
	if len(due) > 0 {
		p.q.post(func(in *inbox) { in.loads = append(in.loads, loaded{readings: due}) })
	}
	next, err := p.q.store.NextDues(ctx, lanesOf(more, until.Add(time.Millisecond)))
	if err != nil {
		fail(ctx, more, err)
		return append(left, more...)
	}
	for i, r := range more {
		r.next = next[i]
	}
	return append(left, more...)
}

// lanesOf are the lanes of readings, from an instant on, or each from its own.
func lanesOf(rs []*reading, from time.Time) []store.LaneFrom {
	all := make([]store.LaneFrom, len(rs))
	for i, r := range rs {
		all[i] = store.LaneFrom{Lane: store.Lane{SenderUID: r.lane.uid, Class: carillon.Class(r.class)}, Shard: r.lane.shard, From: r.from}
		if !from.IsZero() {
			all[i].From = from
		}
	}
	return all
}

func fail(ctx context.Context, rs []*reading, err error) {
	for _, r := range rs {
		r.err, r.late = err, ctx.Err() != nil
	}
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
		w.alone = r.late
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
