package queue

import (
	"slices"
	"time"

	"carillon"
	"carillon/internal/store"
)

// committed is a commit that ended.
type committed struct {
	delivery *store.Delivery
	flights  []*flight
	later    []postponed
	err      error
}

func (c *committed) apply(d *dispatcher, now time.Time) {
	d.committing, d.upkeepDue = false, true
	if c.err != nil {
		c.failed(d, now)
		return
	}
	d.backoff = 0
	d.counts.commits++
	d.written(c.delivery.Results, now)
	for _, x := range c.later {
		x.buffer.Forget(x.m.Key)
		x.buffer.Wake(x.m.Due)
		d.attend(x.lane, now)
	}
	for _, f := range c.delivery.Fences {
		if slices.Contains(c.delivery.Lost, f.Shard) {
			d.q.members.Disown(f.Shard, f.Epoch)
			lost{ID: f.Shard, Epoch: f.Epoch}.apply(d, now)
		}
	}
	for _, f := range c.flights {
		k := f.job.Key
		f.lane.Buffers[f.class].Forget(k)
		if f.start.Attempt == 0 { // canceled, moved, or started by another owner
			f.lane.Buffers[f.class].Wake(now)
			d.unstart(f, now)
			continue
		}
		f.job.Attempt = f.start.Attempt
		if before := d.flights[k]; before != nil {
			before.arrive() // its result was committed, and the response lost
		}
		d.flights[k] = f
		d.send(f, now)
	}
}

// failed keeps the results for the next try. Whether the starts were committed is not known: they are not sent, and an
// audit finds those that were and queues them again.
func (c *committed) failed(d *dispatcher, now time.Time) {
	d.q.o.Log.Error("commit deliveries", "error", c.err, "results", len(c.delivery.Results), "starts", len(c.flights))
	d.backoff = min(max(2*d.backoff, 50*time.Millisecond), time.Second)
	d.commitAt = now.Add(d.backoff)
	d.results = append(c.delivery.Results, d.results...)
	d.postponed = append(c.later, d.postponed...)
	for _, f := range c.flights {
		f.lane.Buffers[f.class].Forget(f.job.Key)
		f.lane.Buffers[f.class].Wake(f.job.Due)
		d.unstart(f, now)
		if s := d.shards[f.start.Shard]; s != nil {
			s.audit, s.scanAt = true, now
		}
	}
}

func (d *dispatcher) unstart(f *flight, now time.Time) {
	f.arrive()
	d.inFlight--
	f.lane.InFlight--
	f.lane.Pacer.Release()
	f.lane.Spacer.Undo(f.job.Number, f.stamp)
	d.attend(f.lane, now)
}

// completion is a send that ended.
type completion struct {
	f    *flight
	done Done
	at   time.Time
}

// apply frees the slot for the next start; the result goes with the next commit.
func (c *completion) apply(d *dispatcher, now time.Time) {
	l := c.f.lane
	d.inFlight--
	l.InFlight--
	l.Pacer.Responded(c.at)
	d.breakers.record(l, c, now)
	d.results = append(d.results, c.done.Result)
	if d.q.o.Observe != nil {
		d.q.o.Observe(c.f.job, c.at.Sub(c.f.job.Due), &c.done)
	}
	d.attend(l, now)
}

// written follows results that are in the database now.
func (d *dispatcher) written(results []store.Result, now time.Time) {
	var closed []carillon.Seq
	for i := range results {
		r := &results[i]
		f := d.flights[r.Key]
		if f != nil && f.job.Attempt == r.Attempt {
			delete(d.flights, r.Key)
			f.arrive()
		}
		if o, ok := d.orphans[r.Key]; ok && o.attempt == r.Attempt && (r.Move == store.MoveUnsent || r.Move == store.MoveRetry) {
			delete(d.orphans, r.Key)
			d.wakeAnywhere(o.wake, now)
		}
		switch r.Move {
		case store.MoveDone:
			closed = append(closed, r.Key.Seq())
		case store.MoveRetry:
			if f != nil {
				d.wakeAnywhere(Wake{SenderUID: f.lane.UID, Class: f.class, Due: r.Due}, now)
			}
		case store.MoveUnknown:
			if f != nil {
				d.maintenance.reconcileAt(f.lane.Shard, r.Due)
			}
		case store.MoveHold, store.MoveUnsent:
		}
	}
	if len(closed) > 0 && d.q.o.Closed != nil {
		d.q.o.Closed(closed)
	}
}
