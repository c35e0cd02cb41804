package queue

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store"
)

// pump is the one goroutine that decides what starts. Reads, commits and sends run beside it and report to the inbox.
type pump struct {
	q       *Queue
	shards  map[int]*shardState
	stirred bool      // something came that may concern a shard's tending
	tendAt  time.Time // when a shard wants tending by itself
	doubtAt time.Time // when the earliest unknown outcome is to be settled; zero: none
	lanes   map[int64]*lane
	ready   []*lane // lanes that may have something to start, served in turn
	sleep   laneHeap
	flights map[carillon.MessageKey]*flight // started, result not yet committed
	active  int                             // sends whose response is awaited
	orphans map[carillon.MessageKey]orphan  // starts that are to be taken back
	results []store.Result
	later   []postponed
	loads   int     // reads under way
	hungry  []*lane // wait for a reader

	counts       // for metrics
	auditing int // audits under way: nothing starts beside them, or they would take a fresh start for a lost one

	committing bool
	commitWait time.Time // after a failed commit: not before
	backoff    time.Duration
	breakers   breakerWriter
	leaving    bool            // told to stop: what this node has goes to the others
	sendCtx    context.Context //nolint:containedctx // the sends' own, canceled when draining takes too long
}

// shardState is a shard this node owns.
type shardState struct {
	id      int
	epoch   int64
	since   time.Time
	scanAt  time.Time // when the due index is looked through again
	doubtAt time.Time // when unknown outcomes are to be settled; zero: none known
	busy    bool      // a scan or a settling is under way
	audit   bool      // a commit's end was uncertain: look for starts that were committed but never sent
	air     int       // starts under way: being committed, sent, or their result not yet written
	closing bool      // on its way to another node: starts nothing more (handover.go)
	until   time.Time // closing: called off then; zero: never
	keep    time.Time // after that was called off: not tried again before
}

const (
	slice       = time.Second      // a lane's longest sleep, then the wall clock is read again
	scanEvery   = 30 * time.Second // on one node; with several, wake-ups may be lost and foreign ones come
	scanOften   = 5 * time.Second
	scanShare   = 50 // how many times as long as it took a scan rests, at least
	loadsMax    = 4
	retryWait   = 5 * time.Second       // after a failed read
	invalidWait = 50 * time.Millisecond // while this node may not start anything
)

func newPump(q *Queue) *pump {
	p := &pump{q: q, shards: map[int]*shardState{}, lanes: map[int64]*lane{}, flights: map[carillon.MessageKey]*flight{}, orphans: map[carillon.MessageKey]orphan{}}
	p.breakers.write, p.breakers.log = q.store.KeepBreaker, q.o.Log
	return p
}

// run pumps until ctx ends and everything in flight has landed and been written, or draining took too long.
func (p *pump) run(ctx context.Context) {
	sendCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	p.sendCtx = sendCtx
	timer := time.NewTimer(0)
	defer timer.Stop()
	var deadline time.Time
	stop := ctx.Done()
	for {
		now := time.Now()
		p.receive(now) //nolint:contextcheck // reads are bounded each and outlive the stop: what is in flight lands
		if !deadline.IsZero() && (p.drained() || now.After(deadline.Add(5*time.Second))) {
			return
		}
		if !deadline.IsZero() && now.After(deadline) {
			cancel()
		}
		p.step(now, deadline.IsZero()) //nolint:contextcheck // as above
		timer.Reset(p.wait(now))
		select {
		case <-p.q.signal:
		case <-timer.C:
		case <-stop:
			deadline, stop, p.leaving = time.Now().Add(p.q.o.Drain), nil, true
			p.closeAll()
		}
	}
}

func (p *pump) drained() bool {
	return p.active == 0 && !p.committing && len(p.results) == 0
}

// wait is how long nothing needs doing, at most a slice.
func (p *pump) wait(now time.Time) time.Duration {
	d := slice
	if len(p.ready) > 0 && !p.q.beat.valid() {
		d = invalidWait
	}
	if len(p.sleep) > 0 {
		d = min(d, p.sleep[0].at.Sub(now))
	}
	if !p.committing && (len(p.results) > 0 || len(p.later) > 0) {
		d = min(d, p.commitWait.Sub(now))
	}
	if !p.doubtAt.IsZero() {
		d = min(d, p.doubtAt.Sub(now))
	}
	return max(d, 0)
}

// receive applies what has happened since the last turn.
func (p *pump) receive(now time.Time) {
	in := p.q.takeInbox()
	p.stirred = p.stirred || in.rescan || in.shed != nil ||
		len(in.gained)+len(in.lost)+len(in.commits)+len(in.audits)+len(in.doubts) > 0
	if in.rescan {
		for _, s := range p.shards {
			s.scanAt = now
		}
	}
	for _, s := range in.lost {
		p.loseOf(s.ID, s.Epoch)
	}
	for _, s := range in.gained {
		if p.q.ownsAt(s.ID, s.Epoch) { // it may have been lost since
			p.gain(s, now)
		}
	}
	if len(in.gained) > 0 {
		p.recall()
	}
	if in.shed != nil && !p.leaving { // a turn that began before the stop would call the hand-over off
		p.shed(*in.shed, now)
	}
	for _, c := range in.commits {
		p.committed(c, now)
	}
	for _, l := range in.landed {
		p.landed(l, now)
	}
	for _, l := range in.loads {
		p.loaded(l, now)
	}
	p.feed(now)
	for _, a := range in.audits {
		p.audited(a, now)
	}
	for _, d := range in.doubts {
		p.doubted(d, now)
	}
	for _, r := range in.recalls {
		p.recalled(r, now)
	}
	for _, w := range in.wakes {
		p.wake(w, now)
	}
	for _, to := range in.asks {
		to <- p.stats(now)
	}
}

func (p *pump) gain(s store.Shard, now time.Time) {
	if p.shards[s.ID] != nil {
		p.lose(s.ID) // with its lanes: another node may have had it meanwhile
	}
	p.shards[s.ID] = &shardState{id: s.ID, epoch: s.Epoch, since: now, scanAt: now, doubtAt: now}
	p.gained++
	if p.leaving && !p.q.alone() {
		p.close(p.shards[s.ID], time.Time{})
	}
}

// loseOf is lose for a shard as it was; one that is this node's again by now stays.
func (p *pump) loseOf(id int, epoch int64) {
	if s := p.shards[id]; s != nil && s.epoch == epoch {
		p.lose(id)
	}
}

func (p *pump) lose(id int) {
	if p.shards[id] != nil {
		p.lost++
	}
	delete(p.shards, id)
	for _, l := range p.lanes {
		if l.shard == id {
			p.unsleep(l)
			delete(p.lanes, l.uid)
		}
	}
	gone := func(l *lane) bool { return l.shard == id }
	p.ready = slices.DeleteFunc(p.ready, gone)
}

func (p *pump) wake(w Wake, now time.Time) {
	shard := shardOf(w.SenderUID)
	s := p.shards[shard]
	if s == nil {
		return
	}
	l := p.laneOf(w.SenderUID, s)
	if w.Fresh == nil || !l.take(w.Class, w.Fresh) {
		l.class[w.Class].wake(w.Due)
	}
	p.attend(l, now)
}

func (p *pump) laneOf(uid int64, s *shardState) *lane {
	l := p.lanes[uid]
	if l == nil {
		l = &lane{uid: uid, shard: s.id, space: new(spacer), credit: weights, index: -1, pace: pacer{from: s.since.Add(paceWindow)}, halt: s.closing}
		p.lanes[uid] = l
	}
	return l
}

// wakeAnywhere is wake for a message whose shard may have gone to another node meanwhile.
func (p *pump) wakeAnywhere(w Wake, now time.Time) {
	if p.shards[shardOf(w.SenderUID)] == nil {
		p.q.Wake(w)
		return
	}
	p.wake(w, now)
}

// look tends the shards, and notes when they want it next: there are many of them, and a turn of the pump for every
// few messages.
func (p *pump) look(now time.Time, starting bool) {
	if starting {
		p.tend(now)
	}
	p.handOver(now)
	p.stirred, p.tendAt, p.doubtAt = false, now.Add(slice), time.Time{}
	for _, s := range p.shards {
		switch {
		case s.closing:
			p.tendAt = now // until nothing of it is under way
		case s.busy:
			continue // its end stirs
		case s.scanAt.Before(p.tendAt):
			p.tendAt = s.scanAt
		}
		if !s.doubtAt.IsZero() && (p.doubtAt.IsZero() || s.doubtAt.Before(p.doubtAt)) {
			p.doubtAt = s.doubtAt
		}
	}
	switch {
	case p.doubtAt.IsZero():
	case !starting || !p.doubtAt.After(now):
		p.doubtAt = time.Time{} // not now: others are under way, and their end stirs
	case p.doubtAt.Before(p.tendAt):
		p.tendAt = p.doubtAt
	}
}

// step starts what may start, in one commit with the results that wait.
func (p *pump) step(now time.Time, starting bool) {
	for len(p.sleep) > 0 && !p.sleep[0].at.After(now) {
		l := p.sleep[0]
		p.unsleep(l)
		p.attend(l, now)
	}
	if p.stirred || !now.Before(p.tendAt) {
		p.look(now, starting)
	}
	if p.committing || now.Before(p.commitWait) {
		return
	}
	var flights []*flight
	if starting && p.auditing == 0 && p.q.beat.valid() {
		flights = p.choose(now)
	}
	if len(flights)+len(p.results)+len(p.later) > 0 {
		p.commit(flights, now)
	}
}
