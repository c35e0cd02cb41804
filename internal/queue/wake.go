package queue

import (
	"time"

	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// Wake records that work is due. Wake-ups of shards that another node owns are published.
func (q *Queue) Wake(ws ...Wake) {
	mine, foreign := q.divide(ws)
	if len(mine) > 0 {
		q.post(woken(mine))
	}
	q.publish(foreign)
}

// divide separates wake-ups by whether this node owns their shards.
func (q *Queue) divide(ws []Wake) (mine, foreign []Wake) {
	for _, w := range ws {
		if q.members.Owns(shardOf(w.SenderUID)) {
			mine = append(mine, w)
		} else {
			foreign = append(foreign, w)
		}
	}
	return mine, foreign
}

// woken are wake-ups of lanes in shards that this node owned at the time.
type woken []Wake

func (e woken) apply(d *dispatcher, now time.Time) {
	for _, w := range e {
		if k := d.kind(w.Kind); k != nil {
			k.wake(w, now)
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

// wakeSleeping wakes the lanes whose wake time has come.
func (k *kind) wakeSleeping(now time.Time) {
	for l := k.order.Wake(now); l != nil; l = k.order.Wake(now) {
		k.attend(l, now)
	}
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
