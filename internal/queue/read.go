package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store"
)

// reading is a read of one class of a lane, and what it found.
type reading struct {
	lane   *lane.Lane
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

const readTimeout = 5 * time.Second

// feed gives free readers to the lanes that wait for them, first come, first served.
func (d *dispatcher) feed(now time.Time) {
	for d.reads < readsMost {
		l := d.order.NextReader()
		if l == nil {
			return
		}
		if d.lanes[l.UID] == l {
			d.read(l, now)
			d.place(l, now)
		}
	}
}

// read has a reader read what a lane wants to read.
func (d *dispatcher) read(l *lane.Lane, now time.Time) {
	var all []*reading
	for c := range l.Buffers {
		if b := &l.Buffers[c]; b.WantsRead(now) {
			b.Reading = true
			all = append(all, &reading{lane: l, class: c, from: b.ReadFrom()})
		}
	}
	if len(all) == 0 {
		return
	}
	d.reads++
	go func() {
		d.q.read(all, now.Add(lane.ReadAhead))
		d.q.post(readEnded(all))
	}()
}

// read reads the classes of one lane.
func (q *Queue) read(all []*reading, until time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	sender, active, err := q.o.Sender(ctx, all[0].lane.UID)
	for _, r := range all {
		r.sender, r.off, r.err = sender, !active, err
		if err == nil {
			q.readClass(ctx, r, until)
		}
	}
}

// readClass reads what is due, which may start while the database is asked what comes next.
func (q *Queue) readClass(ctx context.Context, r *reading, until time.Time) {
	at := store.Lane{SenderUID: r.lane.UID, Class: carillon.Class(r.class)}
	if r.rows, r.err = q.store.Window(ctx, r.lane.Shard, at, r.from, until, lane.ReadRows); r.err != nil {
		return
	}
	if r.full = len(r.rows) == lane.ReadRows; r.full {
		return
	}
	if len(r.rows) > 0 {
		first := *r
		first.early, r.rows = true, nil
		q.post(&first)
	}
	r.next, r.err = q.store.NextDue(ctx, r.lane.Shard, at, until.Add(time.Millisecond))
}

// readEnded are the classes that a reader has read; it is free again.
type readEnded []*reading

func (e readEnded) apply(d *dispatcher, now time.Time) {
	d.reads--
	for _, r := range e {
		r.apply(d, now)
	}
}

func (r *reading) apply(d *dispatcher, now time.Time) {
	l := r.lane
	if d.lanes[l.UID] != l {
		return
	}
	b := &l.Buffers[r.class]
	if r.err != nil {
		d.q.o.Log.Warn("read lane", "sender", l.UID, "error", r.err)
		b.ReadFailed(now)
		d.attend(l, now)
		return
	}
	l.Suspended = r.off
	l.SetSender(r.sender)
	switch {
	case r.off && r.early: // the end of the read postpones it
	case r.off:
		b.ReadFailed(now)
	case r.early:
		b.Add(r.rows)
	default:
		b.Fill(r.rows, r.full, r.next)
	}
	d.setAside(l, b, now)
	d.attend(l, now)
}
