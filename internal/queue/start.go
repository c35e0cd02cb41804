package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/queue/lane"
	"carillon/internal/store"
)

// flight is a message from the choice to start it until its result is committed.
type flight struct {
	job   *Job
	lane  *lane.Lane
	class carillon.Class
	start *store.Start
	shard *shard        // as it was when the start was committed
	stamp time.Time     // of the start, for the recipient's interval; zero: there is none
	wait  time.Duration // before it leaves, for the same
}

// begin counts the start in its shard, arrive its end: a result that is written, or no start at all.
func (f *flight) begin(s *shard) {
	if f.shard = s; s != nil {
		s.inFlight++
	}
}

func (f *flight) arrive() {
	if f.shard != nil {
		f.shard.inFlight--
		f.shard = nil
	}
}

// postponed is a message on its way to a later time. It stays known to its buffer until that is committed: its row
// would be read again as due.
type postponed struct {
	m      store.Queued
	lane   *lane.Lane
	buffer *lane.Buffer
}

// turnRows is how many recipients of one notification a lane may start in one turn. Neighbours are read and started
// together; if each of many lanes started one in turn, the notification would be read again for every one of them.
const turnRows = 8

// choose takes messages from the ready lanes in turn, as long as there is room.
func (d *dispatcher) choose(now time.Time) []*flight {
	var flights []*flight
	for most := d.q.o.ProcessCap - d.inFlight; len(flights) < most; {
		l := d.order.NextReady()
		if l == nil {
			return flights
		}
		if started := d.turn(l, min(turnRows, most-len(flights)), now); len(started) > 0 {
			flights = append(flights, started...)
			d.order.MarkReady(l)
		} else {
			d.attend(l, now)
		}
	}
	return flights
}

// turn takes what a lane starts in its turn: one message, and its neighbours.
func (d *dispatcher) turn(l *lane.Lane, most int, now time.Time) (flights []*flight) {
	for len(flights) < most {
		if n := len(flights); n > 0 {
			last := flights[n-1]
			if items := l.Buffers[last.class].Items; len(items) == 0 || items[0].Key != last.start.Key+1 {
				break
			}
		}
		f := d.next(l, now)
		if f == nil {
			break
		}
		flights = append(flights, f)
	}
	return flights
}

// next takes the next message of a lane that may start now; nil when there is none.
func (d *dispatcher) next(l *lane.Lane, now time.Time) *flight {
	for l.Room(now, d.q.o.LaneCap) > 0 {
		c, ok := l.Pick(now)
		if !ok {
			return nil
		}
		b := &l.Buffers[c]
		m := b.Pop()
		if d.space(l, b, m, now) {
			continue
		}
		f := &flight{lane: l, class: carillon.Class(c), start: &store.Start{Key: m.Key, Shard: l.Shard}, stamp: l.Spacer.Started(m.Number, now)}
		l.Pacer.Take()
		l.InFlight++
		if b.RunsLow() && d.reads < readsMost {
			d.read(l, now)
		}
		f.job = &Job{Queued: m, Sender: l.Sender, Class: f.class, Shard: l.Shard, Valid: d.q.members.Validity(l.Shard, d.epochOf(l.Shard))}
		f.job.Forgiven, f.job.Probe = d.breakers.allow(l, m.Key, now)
		return f
	}
	return nil
}

// space postpones a message whose recipient's interval is not over: in memory up to a second, in the database beyond. It
// returns false where the message may start.
func (d *dispatcher) space(l *lane.Lane, b *lane.Buffer, m store.Queued, now time.Time) bool {
	at := l.Spacer.Slot(m.Number, m.Due, now)
	if !at.After(now) {
		return false
	}
	m.Due = at
	if at.Sub(now) <= lane.SpacingWait {
		b.Push(m)
	} else {
		d.postponed = append(d.postponed, postponed{m, l, b})
	}
	return true
}

const (
	postponeRows = 512  // postponed in one commit, or half of what waits for one
	postponeMost = 4096 // in any; and once so many wait, no more are postponed as they are read
	resultsMost  = 4096 // in one commit
)

// setAside postpones what was just read and waits for a recipient's interval, before its turn comes. However many wait for
// one number, what stands behind them is read at once, and starts with the next commit, not with that of the last of them.
func (d *dispatcher) setAside(l *lane.Lane, b *lane.Buffer, now time.Time) {
	if !l.Spacer.Active() || l.Room(now, d.q.o.LaneCap) <= 0 {
		return
	}
	due := b.PopDue(now)
	left := due[:0]
	for _, m := range due {
		if len(d.postponed) >= postponeMost || !d.space(l, b, m, now) {
			left = append(left, m)
		}
	}
	b.Items = append(left, b.Items...)
}

// takePostponed removes what the next commit postpones.
func (d *dispatcher) takePostponed() []postponed {
	return takeFirst(&d.postponed, min(max(postponeRows, len(d.postponed)/2), postponeMost))
}

// takeFirst removes the first n elements, or all.
func takeFirst[T any](all *[]T, n int) []T {
	taken := *all
	if len(taken) <= n {
		*all = nil
		return taken
	}
	*all = slices.Clone(taken[n:])
	return taken[:n:n]
}

// commit writes the starts of flights, with the results and the postponed messages that wait.
func (d *dispatcher) commit(flights []*flight, now time.Time) {
	x := &store.Delivery{Results: takeFirst(&d.results, resultsMost), Now: now}
	later := d.takePostponed()
	for _, p := range later {
		x.Later = append(x.Later, p.m)
	}
	seen := map[int]bool{}
	for _, f := range flights {
		x.Starts = append(x.Starts, f.start)
		s := d.shards[f.start.Shard]
		f.begin(s)
		if s != nil && !seen[s.id] {
			seen[s.id] = true
			x.Fences = append(x.Fences, store.Fence{Shard: s.id, Owner: d.q.members.ID(), Epoch: s.epoch})
		}
	}
	slices.SortFunc(x.Fences, func(a, b store.Fence) int { return cmp.Compare(a.Shard, b.Shard) })
	slices.SortFunc(x.Later, func(a, b store.Queued) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(x.Results, func(a, b store.Result) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(x.Starts, func(a, b *store.Start) int { return cmp.Compare(a.Key, b.Key) })
	d.inFlight += len(flights)
	d.committing = true
	go func() {
		err := d.q.store.Deliver(context.Background(), x)
		d.q.post(&committed{x, flights, later, err})
	}()
}

// send has a started message sent, by a goroutine of its own: as many run as may be in flight.
func (d *dispatcher) send(f *flight, now time.Time) {
	if !f.stamp.IsZero() {
		f.wait = f.lane.Spacer.Left(f.job.Number, now)
	}
	go func() {
		if f.wait > 0 {
			<-time.After(f.wait)
		}
		done := d.q.o.Deliver(d.sendCtx, f.job)
		d.q.post(&completion{f, done, time.Now()})
	}()
}
