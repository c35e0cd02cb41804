// Package lane contains the pure logic of deciding what starts: the prefetch buffers of a lane, its pacing and
// spacing, its circuit breaker, the turns of its classes, and the order among lanes. It has no goroutines and no
// clock: times are parameters. The dispatcher in internal/queue owns the lanes and does the reading, committing and
// sending.
package lane

import (
	"time"

	"carillon"
)

// Lane is one sender's queue in the memory of its shard's owner.
type Lane struct {
	UID      int64
	Shard    int
	Settings Settings
	Buffers  [carillon.Classes]Buffer
	InFlight int // from the decision to start to the response
	Pacer    Pacer
	Spacer   Spacer
	Breaker  *Breaker  // nil: closed, with nothing counted
	Settled  int       // subset of those in flight: lasting work that its provider has accepted
	Halted   bool      // its shard is being handed over
	Full     time.Time // no start before this time, since the maximum on all nodes is reached
	known    bool      // the settings have been read
	credit   [carillon.Classes]int

	ready   bool // among the ready lanes
	waiting bool // waiting for a reader
	wakeAt  time.Time
	index   int // position among the sleeping lanes; -1 if not there
}

// Settings are the pace and limits of a lane.
type Settings struct {
	CompanyID     string
	Sender        string // the sender's own ID, for the log
	Suspended     bool   // nothing may start
	PerSecond     int    // 0: not paced
	PerRecipient  time.Duration
	MaxConcurrent int // 0: only the limit of the kind of work
	// Opens returns when work that is due at the given time may start: then or later. nil: always then.
	Opens func(at time.Time) time.Time
}

// OpensAt returns when work that is due at the given time may start.
func (x *Settings) OpensAt(at time.Time) time.Time {
	if x.Opens == nil {
		return at
	}
	return x.Opens(at)
}

// New returns the lane of a sender. It starts nothing before from: the requests of the previous owner are unknown.
func New(uid int64, shard int, from time.Time) *Lane {
	return &Lane{UID: uid, Shard: shard, credit: weights, index: -1, Pacer: Pacer{From: from}}
}

// weights are the turns of the classes: 8 for transactional, 3 for utility and 1 for marketing messages, so that none
// starves. Unused turns go to the other classes.
//
//nolint:gochecknoglobals // a constant table
var weights = [carillon.Classes]int{8, 3, 1}

// Set replaces the lane's settings.
func (l *Lane) Set(x Settings) {
	l.Settings, l.known, l.Pacer.Rate = x, true, x.PerSecond
	l.Spacer.SetInterval(x.PerRecipient)
}

// Pick chooses the class whose turn it is among those with a message due.
func (l *Lane) Pick(now time.Time) (c int, ok bool) {
	if l.Breaker.Tripped() {
		return l.pickProbe(now)
	}
	for range 2 {
		any := false
		for c := range l.Buffers {
			if !l.Buffers[c].HasDue(now) {
				continue
			}
			any = true
			if l.credit[c] > 0 {
				l.credit[c]--
				return c, true
			}
		}
		if !any {
			return 0, false
		}
		l.credit = weights
	}
	return 0, false
}

// pickProbe chooses the class that probes a half-open breaker: each class with a due message in turn.
func (l *Lane) pickProbe(now time.Time) (c int, ok bool) {
	for i := range l.Buffers {
		c = (l.Breaker.turn + i) % carillon.Classes
		if l.Buffers[c].HasDue(now) {
			l.Breaker.turn = c + 1
			return c, true
		}
	}
	return 0, false
}

// Room returns the number of requests that the lane may start now.
func (l *Lane) Room(now time.Time, laneCap int) int {
	limit := l.limit(now, laneCap)
	if limit == 0 {
		return 0
	}
	return min(limit-l.InFlight, l.Pacer.Free(now))
}

// limit returns the number of requests that the lane may have in flight now.
func (l *Lane) limit(now time.Time, laneCap int) int {
	if !l.known || l.Settings.Suspended || l.Halted || l.Breaker.Open(now) || now.Before(l.Full) {
		return 0
	}
	limit := laneCap
	if l.Settings.MaxConcurrent > 0 {
		limit = min(limit, l.Settings.MaxConcurrent)
	}
	if l.Breaker.Tripped() {
		limit = min(limit, 1+l.Settled)
	}
	return limit
}

// Attention returns the next time at which the lane can proceed without an event; zero if only an event can help.
func (l *Lane) Attention(now time.Time) time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	waiting := false
	for c := range l.Buffers {
		w := &l.Buffers[c]
		if len(w.Items) > 0 {
			waiting = true
			if d := w.Items[0].Due; d.After(now) {
				sooner(d)
			}
		}
		if w.Reading {
			continue
		}
		if w.RunsLow() {
			sooner(latest(now, w.resume))
		}
		if !w.next.IsZero() {
			sooner(latest(w.next.Add(-ReadAhead), w.resume))
		}
	}
	if waiting && l.Breaker.Open(now) {
		sooner(l.Breaker.Until)
	} else if waiting && now.Before(l.Full) {
		sooner(l.Full)
	} else if waiting && l.Pacer.Free(now) == 0 {
		sooner(l.Pacer.Next(now))
	}
	return at
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Empty reports whether nothing waits or is in flight.
func (l *Lane) Empty() bool {
	for c := range l.Buffers {
		w := &l.Buffers[c]
		if len(w.Items) > 0 || len(w.known) > 0 || w.Reading || !w.next.IsZero() || w.more {
			return false
		}
	}
	return l.InFlight == 0
}

// Idle reports whether an empty lane may be forgotten without loss.
func (l *Lane) Idle(now time.Time) bool {
	return l.Breaker.Quiet(now) && l.Pacer.Idle(now) && l.Spacer.Idle(now)
}

// IdleAt returns when an empty lane may be idle, by the wall clock: other lanes sleep until messages are due, and
// after the clock was set, monotonic and wall times are not comparable.
func (l *Lane) IdleAt(now time.Time) time.Time {
	at := latest(l.Pacer.IdleAt(), l.Spacer.IdleAt())
	if !l.Breaker.Quiet(now) {
		at = latest(at, now.Add(BreakerWithin))
	}
	return onWall(latest(at, now.Add(time.Millisecond)), now).Round(0)
}
