package queue

import (
	"time"

	"carillon/internal/store/work"
)

// event is something that happened outside the dispatcher's goroutine: wake-ups, reads and commits that ended,
// responses, shards gained and lost. The dispatcher applies events in order.
type event interface {
	apply(d *dispatcher, now time.Time)
}

// post queues events for the dispatcher.
func (q *Queue) post(events ...event) {
	q.mu.Lock()
	q.events = append(q.events, events...)
	q.mu.Unlock()
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

func (q *Queue) takeEvents() []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.events
	q.events = nil
	return events
}

// rescan asks for a scan of every shard's due index: wake-ups may have been missed.
type rescan struct{}

func (rescan) apply(d *dispatcher, now time.Time) {
	for _, s := range d.shards {
		for _, w := range s.work {
			w.scanAt = now
		}
	}
	d.upkeepDue = true
}

// reconcileAll asks for reconciliation of all shards, since a dead node may have left unknown outcomes.
type reconcileAll struct{}

func (reconcileAll) apply(d *dispatcher, now time.Time) {
	for _, k := range d.kinds {
		for id := range d.shards {
			d.maintenance.reconcileAt(k, id, now)
		}
	}
	d.upkeepDue = true
}

// gained is a shard that this node now owns, with nothing in flight.
type gained work.Shard

func (e gained) apply(d *dispatcher, now time.Time) {
	d.gain(work.Shard(e), now)
	d.recallBreakers()
}

// lost is a shard that this node no longer owns, with its former epoch.
type lost work.Shard

func (e lost) apply(d *dispatcher, _ time.Time) {
	if s := d.shards[e.ID]; s != nil && s.epoch == e.Epoch { // keep a shard that this node owns again
		d.lose(e.ID)
	}
}

// rebalance is the number of shards to hand over to other nodes.
type rebalance int

func (e rebalance) apply(d *dispatcher, now time.Time) {
	if !d.leaving { // a turn that began before the stop would cancel the hand-over
		d.handover.shed(int(e), now)
	}
}

// statsAsked asks for the present figures.
type statsAsked chan<- Stats

func (e statsAsked) apply(d *dispatcher, now time.Time) { e <- d.stats(now) }
