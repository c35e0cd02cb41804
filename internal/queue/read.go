package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// reading is a read of one class of a lane, with its result.
type reading struct {
	kind  *kind
	lane  *lane.Lane
	class int
	from  time.Time
	rows  []work.Queued
	full  bool
	next  time.Time
	set   lane.Settings
	early bool // the due rows, before it is known what comes next: the read continues
	err   error
}

const readTimeout = 5 * time.Second

// feed gives free readers to the waiting lanes, first come, first served.
func (k *kind) feed(now time.Time) {
	for k.reads < maxReads {
		l := k.order.NextReader()
		if l == nil {
			return
		}
		if k.lanes[l.UID] == l {
			k.read(l, now)
			k.place(l, now)
		}
	}
}

// read starts a reader for the buffers of a lane that run low.
func (k *kind) read(l *lane.Lane, now time.Time) {
	var all []*reading
	for c := range l.Buffers {
		if b := &l.Buffers[c]; b.WantsRead(now) {
			b.Reading = true
			all = append(all, &reading{kind: k, lane: l, class: c, from: b.ReadFrom()})
		}
	}
	if len(all) == 0 {
		return
	}
	k.reads++
	go func() {
		readEnded(all).read(now.Add(lane.ReadAhead))
		k.d.q.post(readEnded(all))
	}()
}

// read reads classes of one lane.
func (all readEnded) read(until time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	set, err := all[0].kind.Worker.Settings(ctx, all[0].lane.UID)
	for _, r := range all {
		r.set, r.err = set, err
		if err == nil {
			r.read(ctx, until)
		}
	}
}

// read reads the due rows, which may start while the database is asked for the next due time.
func (r *reading) read(ctx context.Context, until time.Time) {
	source, shard := r.kind.Source, r.lane.Shard
	at := work.Lane{SenderUID: r.lane.UID, Class: carillon.Class(r.class)}
	if r.rows, r.err = source.Window(ctx, shard, at, r.from, until, lane.ReadRows); r.err != nil {
		return
	}
	if r.full = len(r.rows) == lane.ReadRows; r.full {
		return
	}
	if len(r.rows) > 0 {
		first := *r
		first.early, r.rows = true, nil
		r.kind.d.q.post(&first)
	}
	r.next, r.err = source.NextDue(ctx, shard, at, until.Add(time.Millisecond))
}

// readEnded is the event that a reader has read these classes and is free again.
type readEnded []*reading

func (e readEnded) apply(d *dispatcher, now time.Time) {
	e[0].kind.reads--
	for _, r := range e {
		r.apply(d, now)
	}
}

func (r *reading) apply(d *dispatcher, now time.Time) {
	k, l := r.kind, r.lane
	if k.lanes[l.UID] != l {
		return
	}
	b := &l.Buffers[r.class]
	if r.err != nil {
		d.q.o.Log.Warn("read lane", "company", l.Settings.CompanyID, "sender", l.Settings.Sender, "error", r.err)
		b.ReadFailed(now)
		k.attend(l, now)
		return
	}
	l.Set(r.set)
	switch {
	case r.set.Suspended && r.early: // the end of the read postpones it
	case r.set.Suspended:
		b.ReadFailed(now)
	case r.early:
		b.Add(r.rows)
	default:
		b.Fill(r.rows, r.full, r.next)
	}
	k.setAside(l, b, now)
	k.attend(l, now)
}
