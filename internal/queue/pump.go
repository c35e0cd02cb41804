package queue

import (
	"cmp"
	"container/heap"
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
	lanes   map[int64]*lane
	ready   []*lane // lanes that may have something to start, served in turn
	sleep   laneHeap
	flights map[key]*flight // started, result not yet committed
	active  int             // sends whose response is awaited
	orphans map[key]Wake    // to wake once their result is committed
	results []store.Result
	later   []postponed
	loads   int // reads under way

	auditing int // audits under way: nothing starts beside them, or they would take a fresh start for a lost one

	committing bool
	commitWait time.Time // after a failed commit: not before
	backoff    time.Duration
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
}

type flight struct {
	job   *Job
	lane  *lane
	class carillon.Class
	start *store.Start
}

// postponed is a message on its way to a later time. It stays known to its window until that is committed: its row
// would be read again as due.
type postponed struct {
	m    store.Queued
	lane *lane
	w    *window
}

type landed struct {
	f    *flight
	done Done
	at   time.Time
}

type loaded struct {
	lane  *lane
	class int
	rows  []store.Queued
	full  bool
	next  time.Time
	from  *carillon.Sender
	off   bool // the sender may not send now
	err   error
}

type committed struct {
	d       *store.Delivery
	flights []*flight
	later   []postponed
	err     error
}

const (
	slice       = time.Second      // a lane's longest sleep, then the wall clock is read again
	scanEvery   = 30 * time.Second // on one node; with several, wake-ups may be lost and foreign ones come
	scanOften   = 5 * time.Second
	loadsMax    = 4
	retryWait   = 5 * time.Second       // after a failed read
	invalidWait = 50 * time.Millisecond // while this node may not start anything
)

func newPump(q *Queue) *pump {
	return &pump{q: q, shards: map[int]*shardState{}, lanes: map[int64]*lane{}, flights: map[key]*flight{}, orphans: map[key]Wake{}}
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
			deadline, stop = time.Now().Add(p.q.o.Drain), nil
		}
	}
}

func (p *pump) drained() bool { return p.active == 0 && !p.committing && len(p.results) == 0 }

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
	for _, s := range p.shards {
		if !s.doubtAt.IsZero() && !s.busy {
			d = min(d, s.doubtAt.Sub(now))
		}
	}
	return max(d, 0)
}

// receive applies what has happened since the last turn.
func (p *pump) receive(now time.Time) {
	in := p.q.takeInbox()
	if in.rescan {
		for _, s := range p.shards {
			s.scanAt = now
		}
	}
	for _, s := range in.gained {
		p.gain(s, now)
	}
	for _, id := range in.lost {
		p.lose(id)
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
	for _, a := range in.audits {
		p.audited(a, now)
	}
	for _, d := range in.doubts {
		p.doubted(d, now)
	}
	for _, w := range in.wakes {
		p.wake(w, now)
	}
}

func (p *pump) gain(s store.Shard, now time.Time) {
	p.shards[s.ID] = &shardState{id: s.ID, epoch: s.Epoch, since: now, scanAt: now, doubtAt: now}
}

func (p *pump) lose(id int) {
	delete(p.shards, id)
	for uid, l := range p.lanes {
		if l.shard == id {
			p.unsleep(l)
			delete(p.lanes, uid)
		}
	}
	p.ready = slices.DeleteFunc(p.ready, func(l *lane) bool { return l.shard == id })
}

func (p *pump) wake(w Wake, now time.Time) {
	shard := int(w.SenderUID % carillon.Shards)
	s := p.shards[shard]
	if s == nil {
		return
	}
	l := p.lanes[w.SenderUID]
	if l == nil {
		l = &lane{uid: w.SenderUID, shard: shard, credit: weights, index: -1, pace: pacer{from: s.since.Add(paceWindow)}}
		p.lanes[w.SenderUID] = l
	}
	l.class[w.Class].wake(w.Due)
	p.attend(l, now)
}

// wakeAnywhere is wake for a message whose shard may have gone to another node meanwhile.
func (p *pump) wakeAnywhere(w Wake, now time.Time) {
	if p.shards[int(w.SenderUID%carillon.Shards)] == nil {
		p.q.Wake(w)
		return
	}
	p.wake(w, now)
}

// attend loads what a lane wants to read, and puts it among the ready or to sleep.
func (p *pump) attend(l *lane, now time.Time) {
	for c := range l.class {
		if l.class[c].wantsLoad(now) && p.loads < loadsMax {
			p.load(l, c, now)
		}
	}
	runnable := false
	for c := range l.class {
		runnable = runnable || l.class[c].due(now)
	}
	if runnable && l.room(now, p.q.o.LaneCap) > 0 {
		p.unsleep(l)
		if !l.inReady {
			l.inReady = true
			p.ready = append(p.ready, l)
		}
		return
	}
	at := l.attention(now)
	switch {
	case at.IsZero() && l.empty(now):
		p.unsleep(l)
		delete(p.lanes, l.uid)
	case at.IsZero():
		p.unsleep(l)
	default:
		p.sleepUntil(l, later(at, now, p.loads >= loadsMax))
	}
}

// later keeps a lane whose read found no free reader from spinning: a read that ends wakes it.
func later(at, now time.Time, full bool) time.Time {
	if full && !at.After(now) {
		return now.Add(time.Millisecond)
	}
	return at
}

func (p *pump) load(l *lane, c int, now time.Time) {
	w := &l.class[c]
	w.loading = true
	p.loads++
	floor, until := w.from(), now.Add(readAhead)
	uid, shard := l.uid, l.shard
	go func() {
		res := loaded{lane: l, class: c}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		var active bool
		res.from, active, res.err = p.q.o.Sender(ctx, uid)
		res.off = !active
		id := store.Lane{SenderUID: uid, Class: carillon.Class(c)}
		if res.err == nil {
			res.rows, res.err = p.q.store.Window(ctx, shard, id, floor, until, windowRows)
		}
		res.full = len(res.rows) == windowRows
		if res.err == nil && !res.full {
			res.next, res.err = p.q.store.NextDue(ctx, shard, id, until.Add(time.Millisecond))
		}
		p.q.post(func(in *inbox) { in.loads = append(in.loads, res) })
	}()
}

func (p *pump) loaded(r loaded, now time.Time) {
	p.loads--
	l := r.lane
	w := &l.class[r.class]
	if p.lanes[l.uid] != l {
		return
	}
	if r.err != nil {
		p.q.o.Log.Warn("read lane", "sender", l.uid, "error", r.err)
		w.putOff(now)
		p.attend(l, now)
		return
	}
	l.sender, l.off = r.from, r.off
	l.pace.rate, l.space.every = r.from.PerSecond, r.from.PerRecipient
	if r.off {
		w.putOff(now)
	} else {
		w.fill(r.rows, r.full, r.next)
	}
	p.attend(l, now)
}

// step starts what may start, in one commit with the results that wait.
func (p *pump) step(now time.Time, starting bool) {
	for len(p.sleep) > 0 && !p.sleep[0].at.After(now) {
		l := p.sleep[0]
		p.unsleep(l)
		p.attend(l, now)
	}
	if starting {
		p.tend(now)
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

// choose takes messages from the ready lanes in turn, one a turn, as long as there is room.
func (p *pump) choose(now time.Time) []*flight {
	var flights []*flight
	for len(p.ready) > 0 && p.active+len(flights) < p.q.o.ProcessCap {
		l := p.ready[0]
		p.ready = p.ready[1:]
		f := p.next(l, now)
		if f == nil {
			l.inReady = false
			p.attendLater(l, now)
			continue
		}
		flights = append(flights, f)
		p.ready = append(p.ready, l)
	}
	return flights
}

// attendLater is attend for a lane that has just had no message to start.
func (p *pump) attendLater(l *lane, now time.Time) {
	if p.lanes[l.uid] == l {
		p.attend(l, now)
	}
}

// next takes the next message of a lane that may start now; nil when there is none. Messages blocked by their
// recipient's interval are set aside: in memory up to a second, in the database beyond.
func (p *pump) next(l *lane, now time.Time) *flight {
	for l.room(now, p.q.o.LaneCap) > 0 {
		c, ok := l.pick(now)
		if !ok {
			return nil
		}
		w := &l.class[c]
		m := w.queue[0]
		w.queue = w.queue[1:]
		if at := l.space.slot(m.Number, m.Due, now); at.After(now) {
			m.Due = at
			if at.Sub(now) <= spacingWait {
				w.push(m)
			} else {
				p.later = append(p.later, postponed{m, l, w})
			}
			continue
		}
		l.space.started(m.Number, now)
		l.pace.take()
		l.flying++
		if w.more && len(w.queue) < refillBelow && !w.loading && p.loads < loadsMax {
			p.load(l, c, now)
		}
		return &flight{
			lane: l, class: carillon.Class(c), start: &store.Start{NotificationID: m.NotificationID, N: m.N, Shard: l.shard},
			job: &Job{Queued: m, Sender: l.sender, Class: carillon.Class(c), Shard: l.shard, Valid: p.q.beat.valid},
		}
	}
	return nil
}

func (p *pump) commit(flights []*flight, now time.Time) {
	d := &store.Delivery{Results: p.results, Now: now}
	later := p.later
	for _, x := range later {
		d.Later = append(d.Later, x.m)
	}
	p.results, p.later = nil, nil
	seen := map[int]bool{}
	for _, f := range flights {
		d.Starts = append(d.Starts, f.start)
		if s := p.shards[f.start.Shard]; s != nil && !seen[s.id] {
			seen[s.id] = true
			d.Fences = append(d.Fences, store.Fence{Shard: s.id, Owner: p.q.id, Epoch: s.epoch})
		}
	}
	slices.SortFunc(d.Fences, func(a, b store.Fence) int { return cmp.Compare(a.Shard, b.Shard) })
	slices.SortFunc(d.Results, func(a, b store.Result) int {
		return cmp.Or(cmp.Compare(a.NotificationID, b.NotificationID), cmp.Compare(a.N, b.N))
	})
	slices.SortFunc(d.Starts, func(a, b *store.Start) int {
		return cmp.Or(cmp.Compare(a.NotificationID, b.NotificationID), cmp.Compare(a.N, b.N))
	})
	p.active += len(flights)
	p.committing = true
	go func() {
		err := p.q.store.Deliver(context.Background(), d)
		p.q.post(func(in *inbox) { in.commits = append(in.commits, committed{d, flights, later, err}) })
	}()
}

func (p *pump) committed(c committed, now time.Time) {
	p.committing = false
	if c.err != nil {
		p.commitFailed(c, now)
		return
	}
	p.backoff = 0
	p.written(c.d.Results, now)
	for _, x := range c.later {
		x.w.forget(key{x.m.NotificationID, x.m.N})
		x.w.wake(x.m.Due)
		p.attendLater(x.lane, now)
	}
	for _, id := range c.d.Lost {
		p.q.disown(id)
		p.lose(id)
	}
	for _, f := range c.flights {
		k := key{f.job.NotificationID, f.job.N}
		f.lane.class[f.class].forget(k)
		if f.start.Attempt == 0 { // canceled, moved, or started by another owner
			f.lane.class[f.class].wake(now)
			p.unstart(f, now)
			continue
		}
		f.job.Attempt = f.start.Attempt
		p.flights[k] = f
		p.send(f)
	}
}

// commitFailed keeps the results for the next try. Whether the starts were committed is not known: they are not sent,
// and an audit finds those that were and queues them again.
func (p *pump) commitFailed(c committed, now time.Time) {
	p.q.o.Log.Error("commit deliveries", "error", c.err, "results", len(c.d.Results), "starts", len(c.flights))
	p.backoff = min(max(2*p.backoff, 50*time.Millisecond), time.Second)
	p.commitWait = now.Add(p.backoff)
	p.results = append(c.d.Results, p.results...)
	p.later = append(c.later, p.later...)
	for _, f := range c.flights {
		f.lane.class[f.class].forget(key{f.job.NotificationID, f.job.N})
		f.lane.class[f.class].wake(f.job.Due)
		p.unstart(f, now)
		if s := p.shards[f.start.Shard]; s != nil {
			s.audit, s.scanAt = true, now
		}
	}
}

func (p *pump) unstart(f *flight, now time.Time) {
	p.active--
	f.lane.flying--
	f.lane.pace.untake()
	p.attendLater(f.lane, now)
}

func (p *pump) send(f *flight) {
	go func() {
		d := p.q.o.Deliver(p.sendCtx, f.job)
		at := time.Now()
		p.q.post(func(in *inbox) { in.landed = append(in.landed, landed{f, d, at}) })
	}()
}

// landed takes a response: its slot is free for the next start, its result goes with the next commit.
func (p *pump) landed(r landed, now time.Time) {
	l := r.f.lane
	p.active--
	l.flying--
	l.pace.answered(r.at)
	switch {
	case r.done.Pause:
		l.rest(now, r.done.PauseFor)
		p.q.o.Log.Warn("pause sender", "sender", l.uid, "until", l.pausedUntil, "detail", r.done.Result.Detail)
		if d := l.pausedUntil; r.done.Result.Move == store.MoveRetry && r.done.Result.Due.Before(d) {
			r.done.Result.Due = d
		}
	case r.done.Answered:
		l.answered()
	}
	p.results = append(p.results, r.done.Result)
	if p.q.o.Observe != nil {
		p.q.o.Observe(r.f.job, r.at.Sub(r.f.job.Due), &r.done)
	}
	p.attendLater(l, now)
}

// written follows results that are in the database now.
func (p *pump) written(results []store.Result, now time.Time) {
	var closed []string
	for i := range results {
		r := &results[i]
		k := key{r.NotificationID, r.N}
		f := p.flights[k]
		if f != nil && f.job.Attempt == r.Attempt {
			delete(p.flights, k)
		}
		switch r.Move {
		case store.MoveDone:
			closed = append(closed, r.NotificationID)
		case store.MoveRetry:
			if f != nil {
				p.wakeAnywhere(Wake{f.lane.uid, f.class, r.Due}, now)
			}
		case store.MoveUnsent:
			if w, ok := p.orphans[k]; ok {
				delete(p.orphans, k)
				p.wakeAnywhere(w, now)
			}
		case store.MoveUnknown:
			if f != nil {
				p.doubt(f.lane.shard, r.Due)
			}
		case store.MoveHold:
		}
	}
	if len(closed) > 0 && p.q.o.Closed != nil {
		p.q.o.Closed(closed)
	}
}

// laneHeap orders sleeping lanes by when they want to be looked at.
type laneHeap []*lane

func (h laneHeap) Len() int           { return len(h) }
func (h laneHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *laneHeap) Push(x any) {
	l := x.(*lane)
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *laneHeap) Pop() any {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	l.index = -1
	return l
}

func (p *pump) sleepUntil(l *lane, at time.Time) {
	l.at = at
	if l.index >= 0 {
		heap.Fix(&p.sleep, l.index)
		return
	}
	heap.Push(&p.sleep, l)
}

func (p *pump) unsleep(l *lane) {
	if l.index >= 0 {
		heap.Remove(&p.sleep, l.index)
	}
}
