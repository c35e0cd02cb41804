package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store"
)

// dispatcher is the one goroutine that decides what starts. Reads, commits and sends run in goroutines of their own and
// report by events.
type dispatcher struct {
	q       *Queue
	shards  map[int]*shard
	lanes   map[int64]*lane.Lane
	order   lane.Schedule
	flights map[carillon.MessageKey]*flight // started, result not yet committed
	orphans map[carillon.MessageKey]orphan  // starts that are to be taken back

	inFlight   int // sends whose response is awaited, and starts on their way to a commit
	results    []store.Result
	postponed  []postponed
	reads      int // under way
	committing bool
	commitAt   time.Time // after a failed commit: not before
	backoff    time.Duration

	upkeepDue   bool      // something happened that may concern a shard's maintenance
	upkeepAt    time.Time // when a shard wants maintenance by itself
	reconcileAt time.Time // when the earliest unknown outcome is to be reconciled; zero: none
	audits      int       // under way: nothing starts meanwhile, or they would take a fresh start for a lost one

	maintenance maintenance
	handover    handover
	breakers    breakers
	counts      counts

	leaving bool            // stopping: what this node has goes to the others
	sendCtx context.Context //nolint:containedctx // the sends' own, canceled when draining takes too long
}

// shard is a shard that this node owns.
type shard struct {
	id          int
	epoch       int64
	since       time.Time
	scanAt      time.Time // when the due index is scanned again
	reconcileAt time.Time // when unknown outcomes are to be reconciled; zero: none known
	busy        bool      // a scan or a reconciliation is under way
	audit       bool      // a commit's end was uncertain: look for starts that were committed but never sent
	inFlight    int       // starts being committed or sent, or whose result is not yet written
	closing     bool      // on its way to another node: starts nothing more
	until       time.Time // closing: canceled then; zero: never
	keep        time.Time // after that was canceled: not tried again before
}

const (
	longestSleep = time.Second // then the wall clock is read again
	readsMost    = 4
	invalidWait  = 50 * time.Millisecond // while this node may not start anything
	pacingRest   = lane.PaceWindow       // a new owner waits so long: the last one's requests are unknown to it
)

func newDispatcher(q *Queue) *dispatcher {
	d := &dispatcher{
		q: q, shards: map[int]*shard{}, lanes: map[int64]*lane.Lane{}, flights: map[carillon.MessageKey]*flight{},
		orphans: map[carillon.MessageKey]orphan{},
	}
	d.maintenance.d, d.handover.d, d.breakers.d = d, d, d
	d.breakers.writer = breakerWriter{write: q.store.KeepBreaker, log: q.o.Log}
	return d
}

// run dispatches until ctx ends and everything in flight has got its response and been written, or draining took too long.
func (d *dispatcher) run(ctx context.Context) {
	sendCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d.sendCtx = sendCtx
	timer := time.NewTimer(0)
	defer timer.Stop()
	var deadline time.Time
	stop := ctx.Done()
	for {
		now := time.Now()
		for _, e := range d.q.takeEvents() {
			e.apply(d, now)
		}
		d.feed(now) //nolint:contextcheck // reads are bounded each and outlive the stop
		if !deadline.IsZero() && (d.drained() || now.After(deadline.Add(5*time.Second))) {
			return
		}
		if !deadline.IsZero() && now.After(deadline) {
			cancel()
		}
		d.step(now, deadline.IsZero()) //nolint:contextcheck // as above
		timer.Reset(d.sleep(now))
		select {
		case <-d.q.signal:
		case <-timer.C:
		case <-stop:
			deadline, stop, d.leaving = time.Now().Add(d.q.o.Drain), nil, true
			d.handover.closeAll()
		}
	}
}

func (d *dispatcher) drained() bool { return d.inFlight == 0 && !d.committing && len(d.results) == 0 }

// sleep is how long nothing needs doing, at most longestSleep.
func (d *dispatcher) sleep(now time.Time) time.Duration {
	wait := longestSleep
	if d.order.AnyReady() && !d.q.members.Valid() {
		wait = invalidWait
	}
	if at := d.order.WakeAt(); !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	if !d.committing && (len(d.results) > 0 || len(d.postponed) > 0) {
		wait = min(wait, d.commitAt.Sub(now))
	}
	if !d.reconcileAt.IsZero() {
		wait = min(wait, d.reconcileAt.Sub(now))
	}
	return max(wait, 0)
}

// step starts what may start, in one commit with the results that wait.
func (d *dispatcher) step(now time.Time, starting bool) {
	for l := d.order.Wake(now); l != nil; l = d.order.Wake(now) {
		d.attend(l, now)
	}
	if d.upkeepDue || !now.Before(d.upkeepAt) {
		d.upkeep(now, starting)
	}
	if d.committing || now.Before(d.commitAt) {
		return
	}
	var flights []*flight
	if starting && d.audits == 0 && d.q.members.Valid() {
		flights = d.choose(now)
	}
	if len(flights)+len(d.results)+len(d.postponed) > 0 {
		d.commit(flights, now)
	}
}

// upkeep maintains the shards, and records when they want it next: there are many of them, and a turn of the dispatcher for
// every few messages.
func (d *dispatcher) upkeep(now time.Time, starting bool) {
	if starting {
		d.maintenance.start(now)
	}
	d.handover.giveQuiet(now)
	d.upkeepDue, d.upkeepAt, d.reconcileAt = false, now.Add(longestSleep), time.Time{}
	for _, s := range d.shards {
		switch {
		case s.closing:
			d.upkeepAt = now // until nothing of it is in flight
		case s.busy:
			continue // its end asks for upkeep
		case s.scanAt.Before(d.upkeepAt):
			d.upkeepAt = s.scanAt
		}
		if !s.reconcileAt.IsZero() && (d.reconcileAt.IsZero() || s.reconcileAt.Before(d.reconcileAt)) {
			d.reconcileAt = s.reconcileAt
		}
	}
	switch {
	case d.reconcileAt.IsZero():
	case !starting || !d.reconcileAt.After(now):
		d.reconcileAt = time.Time{} // not now: others are under way, and their end asks for upkeep
	case d.reconcileAt.Before(d.upkeepAt):
		d.upkeepAt = d.reconcileAt
	}
}

func (d *dispatcher) gain(s store.Shard, now time.Time) {
	if d.shards[s.ID] != nil {
		d.lose(s.ID) // with its lanes: another node may have had it meanwhile
	}
	d.shards[s.ID] = &shard{id: s.ID, epoch: s.Epoch, since: now, scanAt: now, reconcileAt: now}
	d.counts.gained++
	d.upkeepDue = true
	if d.leaving && !d.q.members.Alone() {
		d.handover.close(d.shards[s.ID], time.Time{})
	}
}

func (d *dispatcher) lose(id int) {
	if d.shards[id] != nil {
		d.counts.lost++
	}
	delete(d.shards, id)
	d.order.Remove(id)
	d.upkeepDue = true
	for uid, l := range d.lanes {
		if l.Shard == id {
			delete(d.lanes, uid)
		}
	}
}

// epochOf is the epoch of a shard that this node owns, 0 of another.
func (d *dispatcher) epochOf(id int) int64 {
	if s := d.shards[id]; s != nil {
		return s.epoch
	}
	return 0
}

func (d *dispatcher) wake(w Wake, now time.Time) {
	s := d.shards[shardOf(w.SenderUID)]
	if s == nil {
		return
	}
	l := d.laneOf(w.SenderUID, s)
	if w.Fresh == nil || !l.Take(w.Class, w.Fresh.Sender, w.Fresh.Queued) {
		l.Buffers[w.Class].Wake(w.Due)
	}
	d.attend(l, now)
}

// wakeAnywhere is wake for a message whose shard may have gone to another node meanwhile.
func (d *dispatcher) wakeAnywhere(w Wake, now time.Time) {
	if d.shards[shardOf(w.SenderUID)] == nil {
		d.q.Wake(w)
		return
	}
	d.wake(w, now)
}

func (d *dispatcher) laneOf(uid int64, s *shard) *lane.Lane {
	l := d.lanes[uid]
	if l == nil {
		l = lane.New(uid, s.id, s.since.Add(pacingRest))
		l.Halted = s.closing
		d.lanes[uid] = l
	}
	return l
}

// attend starts the reads that a lane wants, and finds its place among the ready, the sleeping or those that wait for a
// reader. A lane that is not in use any more is left alone.
func (d *dispatcher) attend(l *lane.Lane, now time.Time) {
	if d.lanes[l.UID] != l {
		return
	}
	if d.reads < readsMost && !d.order.AnyReader() {
		d.read(l, now)
	}
	d.place(l, now)
}

// place finds a lane's place. One that has nothing to do, and of which nothing needs remembering, is forgotten.
func (d *dispatcher) place(l *lane.Lane, now time.Time) {
	wantsRead, runnable := false, false
	for c := range l.Buffers {
		wantsRead = wantsRead || l.Buffers[c].WantsRead(now)
		runnable = runnable || l.Buffers[c].HasDue(now)
	}
	if runnable && l.Room(now, d.q.o.LaneCap) > 0 {
		d.order.MarkReady(l)
		return
	}
	at := l.Attention(now)
	switch {
	case at.IsZero() && l.Empty() && l.Idle(now):
		if l.Breaker.Tripped() { // of a sender that has had nothing to try since
			d.breakers.changed(l, carillon.BreakerClosed, now)
		}
		d.order.Unsleep(l)
		delete(d.lanes, l.UID)
	case at.IsZero() && l.Empty():
		d.order.Sleep(l, l.IdleAt(now))
	case at.IsZero():
		d.order.Unsleep(l)
	case wantsRead && !at.After(now):
		d.order.AwaitReader(l)
	default:
		d.order.Sleep(l, at)
	}
}
