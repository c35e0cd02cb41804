package queue

import (
	"context"
	"time"

	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// kind is a Kind on this node: its lanes and its work in progress. Only the dispatcher uses it.
type kind struct {
	Kind
	d       *dispatcher
	index   int // position of the kind
	lanes   map[int64]*lane.Lane
	order   lane.Schedule
	flights map[work.Key]*flight // started, result not yet committed
	orphans map[work.Key]orphan  // starts to undo

	inFlight   int // in progress, or start being committed
	results    []work.Result
	postponed  []postponed
	reads      int // running
	committing bool
	commitAt   time.Time // no commit before this time, because the last one failed
	backoff    time.Duration
	audits     int // running; nothing starts meanwhile, since an audit would take a new start for a lost one
	breakers   breakers
	commits    uint64 // ever

	ctx      context.Context //nolint:containedctx // of the work; canceled if draining takes too long
	cancel   context.CancelFunc
	deadline time.Time // of draining
}

func newKind(d *dispatcher, k Kind, index int) *kind {
	x := &kind{
		Kind: k, d: d, index: index, lanes: map[int64]*lane.Lane{}, flights: map[work.Key]*flight{}, orphans: map[work.Key]orphan{},
	}
	x.breakers.kind = x
	return x
}

// in returns the kind's part of a shard, or nil if this node does not own it.
func (k *kind) in(shard int) *shardWork {
	if s := k.d.shards[shard]; s != nil {
		return s.work[k.index]
	}
	return nil
}

func (k *kind) drained(now time.Time) bool {
	if now.After(k.deadline) {
		k.cancel()
	}
	return k.inFlight == 0 && !k.committing && len(k.results) == 0 || now.After(k.deadline.Add(drainGrace))
}

// sleep returns the time until work of the kind is due.
func (k *kind) sleep(now time.Time) time.Duration {
	wait := longestSleep
	if k.order.AnyReady() && !k.d.q.members.Valid() {
		wait = invalidWait
	}
	if at := k.order.WakeAt(); !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	if !k.committing && (len(k.results) > 0 || len(k.postponed) > 0) {
		wait = min(wait, k.commitAt.Sub(now))
	}
	return wait
}

// wakeSleeping wakes the lanes whose wake time has come.
func (k *kind) wakeSleeping(now time.Time) {
	for l := k.order.Wake(now); l != nil; l = k.order.Wake(now) {
		k.attend(l, now)
	}
}

// step chooses due work and begins the commit of its start, with the pending results. The work runs after it (launch).
func (k *kind) step(now time.Time) {
	if k.committing || now.Before(k.commitAt) {
		return
	}
	var flights []*flight
	if !k.d.leaving && k.audits == 0 && k.d.q.members.Valid() {
		flights = k.choose(now)
	}
	if len(flights)+len(k.results)+len(k.postponed) > 0 {
		k.commit(flights, now)
	}
}

// forget removes the lanes of a shard.
func (k *kind) forget(shard int) {
	k.order.Remove(shard)
	for uid, l := range k.lanes {
		if l.Shard == shard {
			delete(k.lanes, uid)
		}
	}
}

func (k *kind) wake(w Wake, now time.Time) {
	s := k.d.shards[shardOf(w.SenderUID)]
	if s == nil {
		return
	}
	l := k.laneOf(w.SenderUID, s)
	l.Buffers[w.Class].Wake(w.Due)
	k.attend(l, now)
}

// wakeAnywhere is wake for work whose shard may have moved to another node.
func (k *kind) wakeAnywhere(w Wake, now time.Time) {
	w.Kind = k.Name
	if k.d.shards[shardOf(w.SenderUID)] == nil {
		k.d.q.Wake(w)
		return
	}
	k.wake(w, now)
}

func (k *kind) laneOf(uid int64, s *shard) *lane.Lane {
	l := k.lanes[uid]
	if l == nil {
		l = lane.New(uid, s.id, s.since.Add(pacingRest))
		l.Halted = s.closing
		k.lanes[uid] = l
	}
	return l
}

// halt stops the lanes of a shard, or lets them start again.
func (k *kind) halt(shard int, halted bool, now time.Time) {
	for _, l := range k.lanes {
		if l.Shard != shard {
			continue
		}
		l.Halted = halted
		if !halted {
			k.attend(l, now)
		}
	}
}

// attend starts the reads that a lane needs, and puts it among the ready or sleeping lanes or those waiting for a
// reader. It ignores a lane that is no longer in use.
func (k *kind) attend(l *lane.Lane, now time.Time) {
	if k.lanes[l.UID] != l {
		return
	}
	if k.reads < maxReads && !k.order.AnyReader() {
		k.read(l, now)
	}
	k.place(l, now)
}

// place puts a lane into the schedule. A lane without work or state is forgotten.
func (k *kind) place(l *lane.Lane, now time.Time) {
	wantsRead, runnable := false, false
	for c := range l.Buffers {
		wantsRead = wantsRead || l.Buffers[c].WantsRead(now)
		runnable = runnable || l.Buffers[c].HasDue(now)
	}
	if runnable && l.Room(now, k.LaneCap) > 0 {
		k.order.MarkReady(l)
		return
	}
	at := l.Attention(now)
	switch {
	case at.IsZero() && l.Empty() && l.Idle(now):
		if l.Breaker.Tripped() { // the sender has had nothing to try since
			k.breakers.changed(l, work.BreakerClosed, now)
		}
		k.order.Unsleep(l)
		delete(k.lanes, l.UID)
	case at.IsZero() && l.Empty():
		k.order.Sleep(l, l.IdleAt(now))
	case at.IsZero():
		k.order.Unsleep(l)
	case wantsRead && !at.After(now):
		k.order.AwaitReader(l)
	default:
		k.order.Sleep(l, at)
	}
}
