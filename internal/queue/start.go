package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store"
)

type flight struct {
	job   *Job
	lane  *lane
	class carillon.Class
	start *store.Start
	shard *shardState   // as it was when the start was committed
	stamp time.Time     // of the start, for the recipient's interval; zero: there is none
	wait  time.Duration // before it leaves, for the same
}

// postponed is a message on its way to a later time. It stays known to its window until that is committed: its row
// would be read again as due.
type postponed struct {
	m    store.Queued
	lane *lane
	w    *window
}

// choose takes messages from the ready lanes in turn, as long as there is room.
func (p *pump) choose(now time.Time) []*flight {
	var flights []*flight
	for most := p.q.o.ProcessCap - p.active; len(p.ready) > 0 && len(flights) < most; {
		l := p.ready[0]
		p.ready[0] = nil
		p.ready = p.ready[1:]
		flights = p.turn(flights, l, most, now)
	}
	return flights
}

// turnRows is how many recipients of one notification a lane may start in one turn. Neighbours are read and started
// together; were many lanes to give one each, the notification would be read anew for every one of them.
const turnRows = 8

// turn takes what a lane starts in its turn: one message, and its neighbours. A lane that had none is not ready any more.
func (p *pump) turn(flights []*flight, l *lane, most int, now time.Time) []*flight {
	for n := 0; n < turnRows && len(flights) < most; n++ {
		if n > 0 && !l.neighbour(flights[len(flights)-1]) {
			break
		}
		f := p.next(l, now)
		if f == nil && n > 0 {
			break
		}
		if f == nil {
			l.inReady = false
			p.attendLater(l, now)
			return flights
		}
		flights = append(flights, f)
	}
	p.ready = append(p.ready, l)
	return flights
}

// neighbour tells whether the next of a flight's class is the next recipient of its notification.
func (l *lane) neighbour(f *flight) bool {
	w := &l.class[f.class]
	return len(w.queue) > 0 && w.queue[0].Key == f.start.Key+1
}

// attendLater is attend for a lane that has just had no message to start.
func (p *pump) attendLater(l *lane, now time.Time) {
	if p.lanes[l.uid] == l {
		p.attend(l, now)
	}
}

// next takes the next message of a lane that may start now; nil when there is none.
func (p *pump) next(l *lane, now time.Time) *flight {
	for l.room(now, p.q.o.LaneCap) > 0 {
		c, ok := l.pick(now)
		if !ok {
			return nil
		}
		w := &l.class[c]
		m := w.queue[0]
		w.queue = w.queue[1:]
		if p.spaced(l, w, m, now) {
			continue
		}
		stamp := l.space.started(m.Number, now)
		l.pace.take()
		l.flying++
		if w.more && len(w.queue) < refillBelow && p.loads < loadsMax {
			p.load(l.wants(nil, now), now)
		}
		spared, probe := p.tried(l, m, now)
		return &flight{
			lane: l, class: carillon.Class(c), stamp: stamp, start: &store.Start{Key: m.Key, Shard: l.shard},
			job: &Job{Queued: m, Sender: l.sender, Class: carillon.Class(c), Shard: l.shard, Valid: p.q.validity(l.shard, p.epochOf(l.shard)), Spared: spared, Probe: probe},
		}
	}
	return nil
}

// spaced puts a message off whose recipient's interval is not over: in memory up to a second, in the database beyond. false:
// it may start.
func (p *pump) spaced(l *lane, w *window, m store.Queued, now time.Time) bool {
	at := l.space.slot(m.Number, m.Due, now)
	if !at.After(now) {
		return false
	}
	m.Due = at
	if at.Sub(now) <= spacingWait {
		w.push(m)
	} else {
		p.later = append(p.later, postponed{m, l, w})
	}
	return true
}

const (
	laterRows = 512  // put off in one commit, or half of what waits for one
	laterMost = 4096 // in any; and once so many wait, no more are put off as they are read
)

// setAside puts off what was just read and waits for a recipient's interval, before its turn comes. However many wait for one
// number, what stands behind them is read at once, and starts with the next commit, not with that of the last of them.
func (p *pump) setAside(l *lane, w *window, now time.Time) {
	if !l.space.any() || l.room(now, p.q.o.LaneCap) <= 0 {
		return
	}
	n, _ := slices.BinarySearchFunc(w.queue, now, func(m store.Queued, now time.Time) int {
		if m.Due.After(now) {
			return 1
		}
		return -1
	})
	due := w.queue[:n]
	w.queue = slices.Clone(w.queue[n:])
	left := due[:0]
	for _, m := range due {
		if len(p.later) >= laterMost || !p.spaced(l, w, m, now) {
			left = append(left, m)
		}
	}
	w.queue = append(left, w.queue...)
}

// takeLater gives what the next commit puts off.
func (p *pump) takeLater() []postponed {
	all := p.later
	n := min(max(laterRows, len(all)/2), laterMost)
	if len(all) <= n {
		p.later = nil
		return all
	}
	p.later = slices.Clone(all[n:])
	return all[:n:n]
}

// epochOf is the epoch of a shard that this node owns, 0 of another.
func (p *pump) epochOf(shard int) int64 {
	if s := p.shards[shard]; s != nil {
		return s.epoch
	}
	return 0
}

// resultsMost bounds the results of one commit.
const resultsMost = 4096

// takeResults returns the results that go with the next commit, the oldest first.
func (p *pump) takeResults() []store.Result {
	all, n := p.results, resultsMost
	if n >= len(all) {
		p.results = nil
		return all
	}
	p.results = slices.Clone(all[n:])
	return all[:n:n]
}

func (p *pump) commit(flights []*flight, now time.Time) {
	d := &store.Delivery{Results: p.takeResults(), Now: now}
	later := p.takeLater()
	for _, x := range later {
		d.Later = append(d.Later, x.m)
	}
	seen := map[int]bool{}
	for _, f := range flights {
		d.Starts = append(d.Starts, f.start)
		p.depart(f)
		if s := p.shards[f.start.Shard]; s != nil && !seen[s.id] {
			seen[s.id] = true
			d.Fences = append(d.Fences, store.Fence{Shard: s.id, Owner: p.q.id, Epoch: s.epoch})
		}
	}
	slices.SortFunc(d.Fences, func(a, b store.Fence) int { return cmp.Compare(a.Shard, b.Shard) })
	slices.SortFunc(d.Later, func(a, b store.Queued) int {
		return cmp.Compare(a.Key, b.Key)
	})
	slices.SortFunc(d.Results, func(a, b store.Result) int {
		return cmp.Compare(a.Key, b.Key)
	})
	slices.SortFunc(d.Starts, func(a, b *store.Start) int {
		return cmp.Compare(a.Key, b.Key)
	})
	p.active += len(flights)
	p.committing = true
	go func() {
		begin := time.Now()
		err := p.q.store.Deliver(context.Background(), d)
		took := time.Since(begin)
		p.q.post(func(in *inbox) { in.commits = append(in.commits, committed{d, flights, later, took, err}) })
	}()
}

// send has a started message sent, by a goroutine of its own: as many run as may be in flight.
func (p *pump) send(f *flight, now time.Time) {
	if !f.stamp.IsZero() {
		f.wait = f.lane.space.left(f.job.Number, now)
	}
	go func() {
		if f.wait > 0 {
			<-time.After(f.wait)
		}
		d := p.q.o.Deliver(p.sendCtx, f.job)
		p.q.land(landed{f, d, time.Now()})
	}()
}
