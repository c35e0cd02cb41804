package queue

import (
	"time"

	"carillon/internal/store/work"
)

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
