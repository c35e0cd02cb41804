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
	err    error
}

// loaded is what a reader found.
type loaded struct {
	readings []*reading
	early    bool // what is due, before it is known what comes next: the read goes on
}

// attend loads what a lane wants to read, and puts it among the ready or to sleep.
func (p *pump) attend(l *lane, now time.Time) {
	p.lend(l, now)
	if p.loads < loadsMax {
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

// readTogether is how many lanes that wait for a reader are read at once. Of each at most a window is read.
const readTogether = 64

// feed gives free readers to the lanes that wait for them, first come, first served.
func (p *pump) feed(now time.Time) {
	for len(p.hungry) > 0 && p.loads < loadsMax {
		var rs []*reading
		for n := 0; n < readTogether && len(p.hungry) > 0; n++ {
			l := p.hungry[0]
			if l.alone && n > 0 {
				break
			}
			p.hungry[0] = nil
			p.hungry = p.hungry[1:]
			l.hungry = false
			if p.lanes[l.uid] != l {
				continue
			}
			p.lend(l, now)
			rs = l.wants(rs, now)
			p.place(l, now)
			if l.alone {
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

// load has a reader read windows.
func (p *pump) load(rs []*reading, now time.Time) {
	if len(rs) == 0 {
		return
	}
	p.loads++
	go func() {
		p.read(rs, now.Add(readAhead))
		p.q.post(func(in *inbox) { in.loads = append(in.loads, loaded{readings: rs}) })
	}()
}

func (p *pump) read(rs []*reading, until time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var asked []*reading
	var lanes []store.LaneFrom
	for _, r := range rs {
		var active bool
		if r.sender, active, r.err = p.q.o.Sender(ctx, r.lane.uid); r.err != nil {
			continue
		}
		r.off = !active
		asked = append(asked, r)
		lanes = append(lanes, store.LaneFrom{Lane: store.Lane{SenderUID: r.lane.uid, Class: carillon.Class(r.class)}, Shard: r.lane.shard, From: r.from})
	}
	rows, err := p.q.store.Windows(ctx, lanes, until, windowRows)
	if err != nil {
		failed(asked, err)
		return
	}
	early, ended := loaded{early: true}, 0
	for i, r := range asked {
		r.rows, r.full = rows[i], len(rows[i]) == windowRows
		if r.full {
			continue
		}
		if len(r.rows) > 0 {
			now := *r
			early.readings, r.rows = append(early.readings, &now), nil
		}
		lanes[ended], asked[ended] = lanes[i], r
		lanes[ended].From = until.Add(time.Millisecond)
		ended++
	}
	if len(early.readings) > 0 {
		p.q.post(func(in *inbox) { in.loads = append(in.loads, early) })
	}
	next, err := p.q.store.NextDues(ctx, lanes[:ended])
	if err != nil {
		failed(asked[:ended], err)
		return
	}
	for i, r := range asked[:ended] {
		r.next = next[i]
	}
}

func failed(rs []*reading, err error) {
	for _, r := range rs {
		r.err = err
	}
}

func (p *pump) loaded(x loaded, now time.Time) {
	if !x.early {
		p.loads--
	}
	for _, r := range x.readings {
		p.loadedOne(r, x.early, now)
	}
}

func (p *pump) loadedOne(r *reading, early bool, now time.Time) {
	l := r.lane
	w := &l.class[r.class]
	if p.lanes[l.uid] != l {
		return
	}
	l.alone = r.err != nil // one whose read takes too long does not keep others from theirs
	if r.err != nil {
		p.q.o.Log.Warn("read lane", "sender", l.uid, "error", r.err)
		w.putOff(now)
		p.attend(l, now)
		return
	}
	l.off = r.off
	l.of(r.sender)
	switch {
	case r.off && early: // the end of the read puts it off
	case r.off:
		w.putOff(now)
	case early:
		w.take(r.rows)
	default:
		w.fill(r.rows, r.full, r.next)
	}
	p.setAside(l, w, now)
	p.attend(l, now)
}
