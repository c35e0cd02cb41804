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

// forget removes the lanes of a shard.
func (k *kind) forget(shard int) {
	k.order.Remove(shard)
	for uid, l := range k.lanes {
		if l.Shard == shard {
			delete(k.lanes, uid)
		}
	}
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
