package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// flight is a piece of work from the decision to start it until its result is committed.
type flight struct {
	kind    *kind
	job     *Job
	lane    *lane.Lane
	class   carillon.Class
	start   *work.Start
	shard   *shardWork    // shard at the commit of the start; nil once the flight no longer keeps the shard
	stamp   time.Time     // of the start, for the recipient's interval; zero means none
	wait    time.Duration // wait before sending, for the same reason
	settled bool          // lasting work that its provider has accepted
}

// turnRows is the maximum number of recipients of one notification that a lane starts in one turn. Neighbors are read
// and started together; if many lanes started one at a time in turn, the notification would be read again for each.
const turnRows = 8

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

// choose picks messages from the ready lanes in turn, as long as there is room.
func (k *kind) choose(now time.Time) []*flight {
	var flights []*flight
	for most := min(k.Cap-k.inFlight, k.most(k.Cap)); len(flights) < most; {
		l := k.order.NextReady()
		if l == nil {
			return flights
		}
		if started := k.turn(l, min(turnRows, most-len(flights)), now); len(started) > 0 {
			flights = append(flights, started...)
			k.order.MarkReady(l)
		} else {
			k.attend(l, now)
		}
	}
	return flights
}

// turn picks the work that a lane starts in its turn: one message, and its neighbors.
func (k *kind) turn(l *lane.Lane, most int, now time.Time) (flights []*flight) {
	for len(flights) < most {
		if n := len(flights); n > 0 {
			last := flights[n-1]
			if items := l.Buffers[last.class].Items; len(items) == 0 || items[0].Key != last.start.Key+1 {
				break
			}
		}
		f := k.next(l, now)
		if f == nil {
			break
		}
		flights = append(flights, f)
	}
	return flights
}

// next returns the next message that a lane may start now, or nil if there is none.
func (k *kind) next(l *lane.Lane, now time.Time) *flight {
	for l.Room(now, k.LaneCap) > 0 {
		c, ok := l.Pick(now)
		if !ok {
			return nil
		}
		b := &l.Buffers[c]
		m := b.Pop()
		if k.postpone(l, b, m, now) {
			continue
		}
		f := &flight{
			kind: k, lane: l, class: carillon.Class(c), stamp: l.Spacer.Started(m.Number, now),
			start: &work.Start{Key: m.Key, SenderUID: l.UID, Shard: l.Shard, Limit: l.Settings.MaxConcurrent},
		}
		l.Pacer.Take()
		l.InFlight++
		if b.RunsLow() && k.reads < maxReads {
			k.read(l, now)
		}
		f.job = &Job{
			Settled: func() { k.d.q.post(settled{f}) }, Queued: m, SenderUID: l.UID, Class: f.class, Shard: l.Shard,
			Valid: k.d.q.members.Validity(l.Shard, k.d.epochOf(l.Shard)),
		}
		f.job.Forgiven, f.job.Probe = k.breakers.allow(l, m.Key, now)
		return f
	}
	return nil
}

// takeFirst removes and returns the first n elements, or all.
func takeFirst[T any](all *[]T, n int) []T {
	taken := *all
	if len(taken) <= n {
		*all = nil
		return taken
	}
	*all = slices.Clone(taken[n:])
	return taken[:n:n]
}

// commit writes the starts of flights, together with the pending results and postponements.
func (k *kind) commit(flights []*flight, now time.Time) {
	x := &work.Batch{Results: takeFirst(&k.results, k.most(maxResults)), Now: now}
	later := takePostponed(&k.postponed)
	for _, p := range later {
		x.Later = append(x.Later, p.m)
	}
	seen := map[int]bool{}
	for _, f := range flights {
		x.Starts = append(x.Starts, f.start)
		id := f.start.Shard
		f.begin(k.in(id))
		if s := k.d.shards[id]; s != nil && !seen[id] {
			seen[id] = true
			x.Fences = append(x.Fences, k.d.fence(s))
		}
	}
	slices.SortFunc(x.Fences, func(a, b work.Fence) int { return cmp.Compare(a.Shard, b.Shard) })
	slices.SortFunc(x.Later, func(a, b work.Queued) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(x.Results, func(a, b work.Result) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(x.Starts, func(a, b *work.Start) int { return cmp.Compare(a.Key, b.Key) })
	k.inFlight += len(flights)
	k.committing = true
	go func() {
		err := k.Source.Commit(context.Background(), x)
		k.d.q.post(&committed{k, x, flights, later, err})
	}()
}

// begin counts the start in its shard; arrive counts its end: a result that was written, or a canceled start.
func (f *flight) begin(s *shardWork) {
	if f.shard = s; s != nil {
		s.unwritten++
	}
}

func (f *flight) arrive() {
	if f.shard != nil {
		f.shard.unwritten--
		f.shard = nil
	}
}

// committed is the event that a commit has ended.
type committed struct {
	kind    *kind
	batch   *work.Batch
	flights []*flight
	later   []postponed
	err     error
}

func (c *committed) apply(d *dispatcher, now time.Time) {
	k := c.kind
	k.committing, d.upkeepDue = false, true
	if c.err != nil {
		c.failed(d, now)
		return
	}
	k.backoff = 0
	k.commits++
	k.written(c.batch.Results, now)
	k.moved(c.later, now)
	c.disown(d, now)
	for _, f := range c.flights {
		f.lane.Buffers[f.class].Forget(f.job.Key)
		if f.start.Attempt == 0 {
			k.refused(f, now)
			continue
		}
		f.job.Attempt = f.start.Attempt
		if before := k.flights[f.job.Key]; before != nil {
			before.arrive() // the result of an earlier attempt was committed, although the response to the commit was lost
		}
		k.flights[f.job.Key] = f
		k.launch(f, now)
	}
}

// launch runs work whose start is committed, in a separate goroutine per flight. Lasting work only keeps its shard from being handed over
// until here.
func (k *kind) launch(f *flight, now time.Time) {
	if !f.stamp.IsZero() {
		f.wait = f.lane.Spacer.Left(f.job.Number, now)
	}
	if k.Lasting {
		f.arrive()
		f.lane.Pacer.Responded(now) // the pace limits starts
		k.attend(f.lane, now)
	}
	go func() {
		if f.wait > 0 {
			<-time.After(f.wait)
		}
		done := k.Worker.Do(k.ctx, f.job)
		k.d.q.post(&completion{f, done, time.Now()})
	}()
}
