package queue

import (
	"context"
	"time"

	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// dispatcher is the single goroutine that decides which work starts. Reads, commits and the work run in separate
// goroutines and report by events.
type dispatcher struct {
	q      *Queue
	kinds  []*kind
	shards map[int]*shard

	upkeepDue   bool      // a shard may need maintenance
	upkeepAt    time.Time // next maintenance of any shard
	reconcileAt time.Time // due time of the earliest reconciliation of an unknown outcome; zero means none

	maintenance maintenance
	handover    handover
	counts      counts
	changed     map[int64]work.Breaker // breakers to write, by sender
	writing     bool                   // a write is in progress

	leaving bool // the node is stopping and hands its shards over
}

// shard is a shard that this node owns.
type shard struct {
	id      int
	epoch   int64
	since   time.Time
	work    []*shardWork // by kind
	closing bool         // being handed over to another node: starts nothing more
	until   time.Time    // end of closing, after which the hand-over is canceled; zero means none
	keep    time.Time    // no hand-over before this time, because one was canceled
}

// shardWork is a shard's work of one kind.
type shardWork struct {
	scanAt      time.Time // next scan of the due index
	reconcileAt time.Time // next reconciliation of unknown outcomes; zero if none are known
	busy        bool      // a scan or a reconciliation is running
	audit       bool      // the result of a commit was uncertain: look for starts that were committed but never done
	// Work that keeps the shard from being handed over: starts being committed, and work without a committed result.
	// Lasting work keeps it only until it starts.
	unwritten int
}

const (
	longestSleep = time.Second // the wall clock is read again at least this often
	maxReads     = 4
	invalidWait  = 50 * time.Millisecond // pause while this node may not start work
	pacingRest   = lane.PaceWindow       // pause of a new owner: the previous one's requests are unknown to it
	drainGrace   = 5 * time.Second       // time for results after the work in progress was canceled
)

func newDispatcher(q *Queue) *dispatcher {
	d := &dispatcher{q: q, shards: map[int]*shard{}, changed: map[int64]work.Breaker{}}
	d.maintenance.d, d.handover.d = d, d
	for i, k := range q.kinds {
		d.kinds = append(d.kinds, newKind(d, k, i))
	}
	return d
}

// run dispatches until ctx ends and all work in flight has ended and been written, or until draining took too long.
func (d *dispatcher) run(ctx context.Context) {
	for _, k := range d.kinds {
		var cancel context.CancelFunc
		k.ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		k.cancel = cancel
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	stop := ctx.Done()
	for {
		now := time.Now()
		for _, e := range d.q.takeEvents() {
			e.apply(d, now)
		}
		if d.leaving && d.drained(now) {
			return
		}
		d.step(now) // reads have timeouts of their own and outlive the stop
		timer.Reset(d.sleep(now))
		select {
		case <-d.q.signal:
		case <-timer.C:
		case <-stop:
			stop, d.leaving = nil, true
			for _, k := range d.kinds {
				k.deadline = time.Now().Add(k.Drain)
			}
			d.handover.closeAll()
		}
	}
}

// drained reports whether there is nothing left to wait for. It cancels work that exceeds its kind's time.
func (d *dispatcher) drained(now time.Time) bool {
	all := !d.writing && len(d.changed) == 0
	for _, k := range d.kinds {
		all = k.drained(now) && all
	}
	return all
}

// sleep returns the time until something is due, at most longestSleep.
func (d *dispatcher) sleep(now time.Time) time.Duration {
	wait := longestSleep
	for _, k := range d.kinds {
		wait = min(wait, k.sleep(now))
	}
	if !d.reconcileAt.IsZero() {
		wait = min(wait, d.reconcileAt.Sub(now))
	}
	return max(wait, 0)
}

// step chooses due work and begins the commit of its start, one commit per kind, with the pending results.
func (d *dispatcher) step(now time.Time) {
	for _, k := range d.kinds {
		k.feed(now)
		k.wakeSleeping(now)
	}
	if d.upkeepDue || !now.Before(d.upkeepAt) {
		d.upkeep(now)
	}
	for _, k := range d.kinds {
		k.step(now)
	}
	d.writeBreakers()
}

// upkeep maintains the shards and records when they need it next. There are many shards, and the dispatcher runs every
// few messages.
func (d *dispatcher) upkeep(now time.Time) {
	d.maintenance.start(now)
	d.handover.giveQuiet(now)
	d.upkeepDue, d.upkeepAt, d.reconcileAt = false, now.Add(longestSleep), time.Time{}
	for _, s := range d.shards {
		if s.closing {
			d.upkeepAt = now // until no work of it is in flight
			continue
		}
		for _, w := range s.work {
			if w.busy {
				continue // its end triggers upkeep
			}
			if w.scanAt.Before(d.upkeepAt) {
				d.upkeepAt = w.scanAt
			}
			if !w.reconcileAt.IsZero() && (d.reconcileAt.IsZero() || w.reconcileAt.Before(d.reconcileAt)) {
				d.reconcileAt = w.reconcileAt
			}
		}
	}
	switch {
	case d.reconcileAt.IsZero():
	case d.leaving || !d.reconcileAt.After(now):
		d.reconcileAt = time.Time{} // not now: others are running, and their end triggers maintenance
	case d.reconcileAt.Before(d.upkeepAt):
		d.upkeepAt = d.reconcileAt
	}
}

func (d *dispatcher) gain(s work.Shard, now time.Time) {
	if d.shards[s.ID] != nil {
		d.lose(s.ID) // including its lanes: another node may have owned it meanwhile
	}
	x := &shard{id: s.ID, epoch: s.Epoch, since: now}
	for range d.kinds {
		x.work = append(x.work, &shardWork{scanAt: now, reconcileAt: now})
	}
	d.shards[s.ID] = x
	d.counts.gained++
	d.upkeepDue = true
	if d.leaving && !d.q.members.Alone() {
		d.handover.close(x, time.Time{})
	}
}

func (d *dispatcher) lose(id int) {
	if d.shards[id] != nil {
		d.counts.lost++
	}
	delete(d.shards, id)
	d.upkeepDue = true
	for _, k := range d.kinds {
		k.forget(id)
	}
}

// epochOf returns the epoch of a shard that this node owns, or 0.
func (d *dispatcher) epochOf(id int) int64 {
	if s := d.shards[id]; s != nil {
		return s.epoch
	}
	return 0
}

// kind returns a kind of work by its name, or nil for a kind that only newer nodes know.
func (d *dispatcher) kind(name string) *kind {
	for _, k := range d.kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// fence proves that this node owns a shard.
func (d *dispatcher) fence(s *shard) work.Fence {
	return work.Fence{Shard: s.id, Owner: d.q.members.ID(), Epoch: s.epoch}
}
