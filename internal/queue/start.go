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

// postponed is a message being moved to a later time. Its buffer remembers it until that is committed; otherwise its
// row would be read again as due.
type postponed struct {
	m      work.Queued
	lane   *lane.Lane
	buffer *lane.Buffer
}

// turnRows is the maximum number of recipients of one notification that a lane starts in one turn. Neighbors are read
// and started together; if many lanes started one at a time in turn, the notification would be read again for each.
const turnRows = 8

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

// postpone moves work that may not start yet, because its lane opens later or its recipient's interval is not over, to
// its earliest start: in memory up to a second, otherwise in the database. It returns false if the work may start.
func (k *kind) postpone(l *lane.Lane, b *lane.Buffer, m work.Queued, now time.Time) bool {
	at := l.Settings.OpensAt(now)
	if !at.After(now) {
		at = l.Spacer.Slot(m.Number, m.Due, now)
	}
	if !at.After(now) {
		return false
	}
	m.Due = at
	if at.Sub(now) <= lane.SpacingWait {
		b.Push(m)
	} else {
		k.postponed = append(k.postponed, postponed{m, l, b})
	}
	return true
}

const (
	postponeRows = 512  // postponed in one commit, or half of those waiting for one
	maxPostpone  = 4096 // in any commit; while this many wait for one, reads postpone no more
	maxResults   = 4096 // in one commit
)

// setAside postpones messages that were just read and have to wait for a recipient's interval, before their turn
// comes. So the messages behind them are read immediately, however many wait, and start with the next commit.
func (k *kind) setAside(l *lane.Lane, b *lane.Buffer, now time.Time) {
	if !l.Spacer.Active() || l.Room(now, k.LaneCap) <= 0 {
		return
	}
	due := b.PopDue(now)
	left := due[:0]
	for _, m := range due {
		if len(k.postponed) >= maxPostpone || !k.postpone(l, b, m, now) {
			left = append(left, m)
		}
	}
	b.Items = append(left, b.Items...)
}

// maxLasting limits the starts and the results of lasting work in a commit: each takes several statements.
const maxLasting = 200

// most returns the maximum number of starts or results in a commit.
func (k *Kind) most(usual int) int {
	if k.Lasting {
		return maxLasting
	}
	return usual
}

// takePostponed removes and returns the messages that the next commit postpones.
func takePostponed(all *[]postponed) []postponed {
	return takeFirst(all, min(max(postponeRows, len(*all)/2), maxPostpone))
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
