package lane

import (
	"math/rand/v2"
	"slices"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/store/work"
)

const (
	breakerWindow = 10
	// BreakerTrip is the number of different messages with one class of fault that opens a breaker.
	BreakerTrip = 5
	// BreakerWithin is the time within which they must occur.
	BreakerWithin = 30 * time.Second
	// BreakerForgets is the time without an attempt after which an idle sender's breaker is forgotten.
	BreakerForgets = 24 * time.Hour
	maxForgiven    = 1024 // messages of a sender whose attempts do not count
)

// Breaker is the circuit breaker of a sender. A fault that concerns the whole sender opens it immediately: the
// channel is unreachable or refuses the account. A fault that may be the message's own is counted: the breaker opens
// when BreakerTrip different messages met the same class of fault among the last breakerWindow outcomes, within
// BreakerWithin.
//
//	closed ── trip ──▶ open ── Until ──▶ half open ── a message gets a response ──▶ closed
//	                     ▲                   │
//	                     └── twice as long ──┘ the message that was tried meets a fault
//
// While it is open, no work of the sender starts; other senders are not affected. While it is half open, the classes
// take turns, so that a message with a fault of its own does not block lower classes. Attempts that opened or probed
// the breaker do not count: even an outage of hours neither uses up a message's attempts nor fails it. The exception
// is the last attempt of a message that failed a probe before another message got through: it counts. Attempts that a
// fault on our side ended before they were sent do not count either. A nil breaker is closed, has seen no recent
// fault, and forgives no attempt.
type Breaker struct {
	Fault   provider.Fault
	Detail  string
	Since   time.Time // time since which it is not closed
	Until   time.Time // no start before
	Company string

	tripped  bool          // not closed: open until Until, then half open
	tried    bool          // half open, and a message has been tried
	wait     time.Duration // length of the last open period; the next is twice as long
	turn     int           // half open: the class that is tried next
	suspects []work.Key    // tried while half open, with a fault that may be their own
	last     [breakerWindow]outcome
	next     int
	forgiven map[work.Key]int // attempts that do not count
	forgave  time.Time        // time of the last postponement of such a message
}

// outcome is one response; without a fault it was a success.
type outcome struct {
	fault provider.Fault
	key   work.Key
	at    time.Time
}

// Restore returns a breaker that is not closed from the state that another node stored.
func Restore(x *work.Breaker, now time.Time) *Breaker {
	_, most := openFor(x.Fault)
	return &Breaker{
		Fault: x.Fault, Detail: x.Detail, Since: x.Since, tripped: true, Company: x.CompanyID,
		Until: latest(x.Until, now.Add(-BreakerForgets)), // kept until the waiting messages are known
		wait:  min(max(x.Until.Sub(x.Since), 0), most/2),
	}
}

// State returns the breaker's state at a time.
func (b *Breaker) State(now time.Time) work.BreakerState {
	switch {
	case !b.Tripped():
		return work.BreakerClosed
	case b.Open(now):
		return work.BreakerOpen
	}
	return work.BreakerHalfOpen
}

// Open reports whether nothing may start.
func (b *Breaker) Open(now time.Time) bool { return b != nil && b.tripped && now.Before(b.Until) }

// Tripped reports whether the breaker is not closed. A half-open breaker lets one message at a time start.
func (b *Breaker) Tripped() bool { return b != nil && b.tripped }

// Allow records the start of a message. It reports how many of its attempts do not count, whether it probes a
// half-open breaker, and whether it is the first to do so.
func (b *Breaker) Allow(k work.Key) (forgiven int, probe, first bool) {
	if b == nil {
		return 0, false, false
	}
	first = b.tripped && !b.tried
	b.tried = b.tried || b.tripped
	return b.forgiven[k], b.tripped, first
}

// openFor returns the first and the maximum open period for a fault.
func openFor(f provider.Fault) (first, most time.Duration) {
	switch f {
	case provider.FaultAccount: // a person has to repair the account
		return 5 * time.Second, 10 * time.Minute
	case provider.FaultUnreachable:
		return 2 * time.Second, time.Minute
	case provider.FaultThrottled, provider.FaultProvider, provider.FaultUnknown:
	}
	return time.Second, 30 * time.Second
}

// RecordFault counts a fault and reports whether it opened the breaker. whole means that the fault concerns the whole
// sender. rest is the pause requested by the channel, or 0.
func (b *Breaker) RecordFault(k work.Key, f provider.Fault, whole bool, rest time.Duration, now time.Time) bool {
	switch {
	case b.Open(now): // the message had started before
		if until := now.Add(rest); whole && until.After(b.Until) {
			b.Until = until
		}
		return false
	case whole || b.tripped:
		if !whole && len(b.suspects) < maxForgiven && !slices.Contains(b.suspects, k) {
			b.suspects = append(b.suspects, k)
		}
		b.trip(f, rest, now)
		return true
	}
	b.record(outcome{f, k, now})
	failing := b.failing(f, now)
	if len(failing) < BreakerTrip {
		return false
	}
	for _, x := range failing {
		if x != k {
			b.Forgive(x, now)
		}
	}
	b.trip(f, rest, now)
	return true
}

func (b *Breaker) record(o outcome) {
	b.last[b.next] = o
	b.next = (b.next + 1) % breakerWindow
}

// failing returns the different messages that recently met a fault.
func (b *Breaker) failing(f provider.Fault, now time.Time) []work.Key {
	var all []work.Key
	for _, o := range b.last {
		if o.fault != f || now.Sub(o.at) > BreakerWithin {
			continue
		}
		seen := false
		for _, k := range all {
			seen = seen || k == o.key
		}
		if !seen {
			all = append(all, o.key)
		}
	}
	return all
}

func (b *Breaker) trip(f provider.Fault, rest time.Duration, now time.Time) {
	if !b.tripped {
		b.Since = now
	}
	first, most := openFor(f)
	b.wait = min(max(2*b.wait, first), most)
	pause := max(rest, b.wait)
	pause += rand.N(min(pause/4, time.Minute)) //nolint:gosec // no secret
	b.Fault, b.tripped, b.tried, b.Until = f, true, false, now.Add(pause)
	b.last = [breakerWindow]outcome{}
}

// RecordSuccess counts a success and reports whether it closed the breaker.
func (b *Breaker) RecordSuccess(now time.Time) bool {
	switch {
	case !b.tripped:
		b.record(outcome{at: now})
		return false
	case b.Open(now): // the message had started before
		return false
	}
	for _, k := range b.suspects {
		if b.forgiven[k] > 0 {
			b.forgiven[k]--
		}
	}
	*b = Breaker{forgiven: b.forgiven, forgave: b.forgave}
	return true
}

// Forgive excludes an attempt of a message from the count.
func (b *Breaker) Forgive(k work.Key, now time.Time) {
	b.forgave = now
	if b.forgiven == nil {
		b.forgiven = map[work.Key]int{}
	}
	if _, known := b.forgiven[k]; known || len(b.forgiven) < maxForgiven {
		b.forgiven[k]++
	}
}

// Ended forgets a message that will not be retried; one that will be is remembered for a while.
func (b *Breaker) Ended(k work.Key, retry bool, now time.Time) {
	switch {
	case !retry:
		delete(b.forgiven, k)
	case b.forgiven[k] > 0:
		b.forgave = now
	}
}

// Quiet reports whether the breaker may be forgotten because there was no recent fault.
func (b *Breaker) Quiet(now time.Time) bool {
	if b == nil {
		return true
	}
	if b.tripped && now.Sub(b.Until) > BreakerForgets {
		return true
	}
	for _, o := range b.last {
		if o.fault != "" && now.Sub(o.at) <= BreakerWithin {
			return false
		}
	}
	return !b.tripped && (len(b.forgiven) == 0 || now.Sub(b.forgave) > BreakerWithin)
}

// Blank reports whether nothing is recorded.
func (b *Breaker) Blank(now time.Time) bool {
	return !b.tripped && b.Quiet(now) && len(b.forgiven) == 0
}
