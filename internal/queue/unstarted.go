package queue

import (
	"slices"
	"time"
)

// disown gives up the shards that another node has taken. Nothing was started there.
func (c *committed) disown(d *dispatcher, now time.Time) {
	for _, f := range c.batch.Fences {
		if slices.Contains(c.batch.Lost, f.Shard) {
			d.q.members.Disown(f.Shard, f.Epoch)
			lost{ID: f.Shard, Epoch: f.Epoch}.apply(d, now)
		}
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

// refused returns work that the commit did not start: it was canceled, rescheduled, or started by another owner; or the
// lane is full.
func (k *kind) refused(f *flight, now time.Time) {
	f.lane.Buffers[f.class].Wake(now)
	if f.start.Full {
		f.lane.Full = now.Add(fullRest)
	}
	k.unstart(f, now)
}

// fullRest is the pause of a lane that has reached its maximum on all nodes, unless work of it ends on this node.
const fullRest = time.Second
