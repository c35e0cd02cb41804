package queue

import (
	"slices"
	"time"

	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// committed is the event that a commit has ended.
type committed struct {
	kind    *kind
	batch   *work.Batch
	flights []*flight
	later   []postponed
	err     error
}

func (c *committed) apply(d *dispatcher, now time.Time) {
	k := c.kind
	k.committing, d.upkeepDue = false, true
	if c.err != nil {
		c.failed(d, now)
		return
	}
	k.backoff = 0
	k.commits++
	k.written(c.batch.Results, now)
	for _, x := range c.later {
		x.buffer.Forget(x.m.Key)
		x.buffer.Wake(x.m.Due)
		k.attend(x.lane, now)
	}
	for _, f := range c.batch.Fences {
		if slices.Contains(c.batch.Lost, f.Shard) {
			d.q.members.Disown(f.Shard, f.Epoch)
			lost{ID: f.Shard, Epoch: f.Epoch}.apply(d, now)
		}
	}
	for _, f := range c.flights {
		key := f.job.Key
		f.lane.Buffers[f.class].Forget(key)
		if f.start.Attempt == 0 { // canceled, rescheduled, or started by another owner; or the lane is full
			f.lane.Buffers[f.class].Wake(now)
			if f.start.Full {
				f.lane.Full = now.Add(fullRest)
			}
			k.unstart(f, now)
			continue
		}
		f.job.Attempt = f.start.Attempt
		if before := k.flights[key]; before != nil {
			before.arrive() // the result of an earlier attempt was committed, although the response to the commit was lost
		}
		k.flights[key] = f
		k.launch(f, now)
	}
}

// failed keeps the results for the next commit. It is unknown whether the starts were committed: they are not sent,
// and an audit finds the committed ones and queues them again.
func (c *committed) failed(d *dispatcher, now time.Time) {
	k := c.kind
	d.q.o.Log.Error("commit starts and results", "kind", k.Name, "error", c.err, "results", len(c.batch.Results), "starts", len(c.flights))
	k.backoff = min(max(2*k.backoff, 50*time.Millisecond), time.Second)
	k.commitAt = now.Add(k.backoff)
	k.results = append(c.batch.Results, k.results...)
	k.postponed = append(c.later, k.postponed...)
	for _, f := range c.flights {
		f.lane.Buffers[f.class].Forget(f.job.Key)
		f.lane.Buffers[f.class].Wake(f.job.Due)
		k.unstart(f, now)
		if s := k.in(f.start.Shard); s != nil {
			s.audit, s.scanAt = true, now
		}
	}
}

func (k *kind) unstart(f *flight, now time.Time) {
	f.arrive()
	k.inFlight--
	f.lane.InFlight--
	f.lane.Pacer.Release()
	f.lane.Spacer.Undo(f.job.Number, f.stamp)
	k.attend(f.lane, now)
}

// fullRest is the pause of a lane that has reached its maximum on all nodes, unless work of it ends on this node.
const fullRest = time.Second

// settled is the event that a provider has accepted lasting work.
type settled struct{ f *flight }

func (e settled) apply(_ *dispatcher, now time.Time) {
	k, l := e.f.kind, e.f.lane
	if e.f.settled || k.flights[e.f.job.Key] != e.f { // it has ended
		return
	}
	e.f.settled = true
	l.Settled++
	if l.Breaker != nil && k.lanes[l.UID] == l {
		k.breakers.recordSuccess(l, now)
		k.attend(l, now)
	}
}

// completion is the event that work has ended.
type completion struct {
	f    *flight
	done Done
	at   time.Time
}

// apply frees the slot for the next start; the result is written with the next commit.
func (c *completion) apply(_ *dispatcher, now time.Time) {
	k, l := c.f.kind, c.f.lane
	k.inFlight--
	l.InFlight--
	if !k.Lasting {
		l.Pacer.Responded(c.at)
	}
	if c.f.settled {
		l.Settled--
	}
	if k.lanes[l.UID] == l || !k.Lasting { // otherwise the line's shard has moved, together with its breaker
		k.breakers.record(l, c, now)
	}
	k.results = append(k.results, c.done.Result)
	k.attend(l, now)
}

// written handles results that are now in the database.
func (k *kind) written(results []work.Result, now time.Time) {
	for i := range results {
		r := &results[i]
		f := k.flights[r.Key]
		if f != nil && f.job.Attempt == r.Attempt {
			delete(k.flights, r.Key)
			f.arrive()
		}
		if o, ok := k.orphans[r.Key]; ok && o.attempt == r.Attempt && (r.Move == work.MoveUnsent || r.Move == work.MoveRetry) {
			delete(k.orphans, r.Key)
			k.wakeAnywhere(o.wake, now)
		}
		switch r.Move {
		case work.MoveRetry:
			if f != nil {
				k.wakeAnywhere(Wake{SenderUID: f.lane.UID, Class: f.class, Due: r.Due}, now)
			}
		case work.MoveUnknown:
			if f != nil {
				k.d.maintenance.reconcileAt(k, f.lane.Shard, r.Due)
			}
		case work.MoveDone, work.MoveHold, work.MoveUnsent:
		}
		if f != nil && k.Lasting {
			k.freed(f.lane, now)
		}
	}
	if len(results) > 0 {
		k.Worker.Written(results)
	}
}

// freed makes the lane of ended work check for room, on its present owner node: its bound is the number in progress on
// all nodes.
func (k *kind) freed(l *lane.Lane, now time.Time) {
	if own := k.lanes[l.UID]; own != nil {
		own.Full = time.Time{}
		k.attend(own, now)
		return
	}
	if k.d.shards[shardOf(l.UID)] == nil {
		k.wakeAnywhere(Wake{SenderUID: l.UID, Due: now}, now)
	}
}
