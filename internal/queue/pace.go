package queue

import (
	"time"

	"carillon"
)

// pacer keeps a sender's rate exactly: a ring of `rate` slots, each free again one second after the response of the
// request that took it, so that no window of a second at the provider holds more than rate. A token bucket would allow
// twice the rate in one window (engine.md, section 3).
type pacer struct {
	rate    int // 0: unpaced
	busy    int // slots whose request has no response yet
	cooling []time.Time
	from    time.Time // a new owner waits a second: the last one's requests are unknown to it
}

const paceWindow = time.Second

// free is the number of requests that may start now.
func (p *pacer) free(now time.Time) int {
	if p.rate == 0 {
		return 1 << 30
	}
	if now.Before(p.from) {
		return 0
	}
	n := 0
	for n < len(p.cooling) && !p.cooling[n].After(now) {
		n++
	}
	p.cooling = p.cooling[n:]
	return max(0, p.rate-p.busy-len(p.cooling))
}

// next is when a slot becomes free that is not now; zero when only a response can free one.
func (p *pacer) next(now time.Time) time.Time {
	if now.Before(p.from) {
		return p.from
	}
	if len(p.cooling) > 0 {
		return p.cooling[0]
	}
	return time.Time{}
}

func (p *pacer) take() { p.busy++ }

// untake gives a slot back whose request never left.
func (p *pacer) untake() { p.busy-- }

func (p *pacer) answered(now time.Time) {
	p.busy--
	if p.rate > 0 {
		p.cooling = append(p.cooling, now.Add(paceWindow))
	}
}

func (p *pacer) idle(now time.Time) bool { return p.busy == 0 && !p.over().After(now) }

// over is when every slot whose request has a response is free again.
func (p *pacer) over() time.Time {
	if len(p.cooling) == 0 {
		return time.Time{}
	}
	return p.cooling[len(p.cooling)-1]
}

// spacer keeps the interval between two messages of a sender to one number. Its instants keep the monotonic clock: setting the
// wall clock neither shortens an interval nor lengthens it.
type spacer struct {
	every    time.Duration        // 0: none
	last     map[string]time.Time // starts, which slots are reckoned from
	reserved map[string]time.Time
	gone     map[string]time.Time // when each left, which is a little behind its start
	pruneAt  int                  // entries, when old ones are looked for
	until    time.Time            // when nothing of it means anything any more
}

// slot tells when a message to the number that is due may start: now or earlier, or an exact later instant that it
// reserves. One whose reserved slot has come keeps its turn when the one before it started a little late.
func (s *spacer) slot(number string, due, now time.Time) time.Time {
	if s.every == 0 {
		return now
	}
	last, seen := s.last[number]
	if !seen || !last.Add(s.every).After(now) {
		return now
	}
	if next := last.Add(s.every); due.After(last) && next.Sub(due) <= slotLate {
		return onWall(next, now)
	}
	at := last
	if r, ok := s.reserved[number]; ok && r.After(at) && r.After(due) { // of another: its own is over
		at = r
	}
	at = at.Add(s.every)
	if s.reserved == nil {
		s.reserved = map[string]time.Time{}
	}
	s.reserved[number] = at
	s.until = latest(s.until, at.Add(s.every))
	return onWall(at, now)
}

// onWall gives an instant by the wall clock as it shows now, which may have been set since the instant was reckoned; in whole
// milliseconds, as it is stored, and never before it.
func onWall(at, now time.Time) time.Time {
	at = now.Add(at.Sub(now))
	return at.Add(untilMilli(at))
}

// any tells whether there is an interval to keep.
func (s *spacer) any() bool {
	return s.every > 0 && len(s.last) > 0
}

// started notes a start; the stamp is for unstarted.
func (s *spacer) started(number string, now time.Time) (stamp time.Time) {
	if s.every == 0 {
		return time.Time{}
	}
	if s.last == nil {
		s.last = map[string]time.Time{}
	}
	stamp = now.Add(untilMilli(now)) // slots are stored in whole milliseconds
	s.last[number] = stamp
	s.until = latest(s.until, stamp.Add(s.every))
	if len(s.last) > max(spacerMin, s.pruneAt) {
		s.prune(now)
		s.pruneAt = 2 * len(s.last)
	}
	return stamp
}

// untilMilli is what is missing to the next whole millisecond.
func untilMilli(t time.Time) time.Duration {
	part := time.Duration(t.Nanosecond()) % time.Millisecond
	return (time.Millisecond - part) % time.Millisecond
}

// left notes that what was started leaves only now, and gives how long it has to wait yet: the one before it left behind its
// slot as well, by leaveLate at most. So none comes too soon after another, and lateness does not add up along a row. What
// is later than that moves the slots behind it.
func (s *spacer) left(number string, now time.Time) (wait time.Duration) {
	if s.every == 0 {
		return 0
	}
	if before, seen := s.gone[number]; seen {
		wait = min(max(0, before.Add(s.every).Sub(now)), leaveLate)
	}
	now = now.Add(wait)
	if s.gone == nil {
		s.gone = map[string]time.Time{}
	}
	s.gone[number] = now
	late := !s.reserved[number].After(now) || now.Sub(s.last[number]) > leaveLate
	if late {
		s.started(number, now)
	}
	return wait
}

// unstarted takes started back.
func (s *spacer) unstarted(number string, stamp time.Time) {
	if s.last[number].Equal(stamp) { // nothing has started since
		delete(s.last, number)
	}
}

// of notes the sender's interval as it is now.
func (s *spacer) of(x *carillon.Sender) {
	s.every = x.PerRecipient
}

const (
	slotLate  = 250 * time.Millisecond // a message may start so late without the ones after it losing their slots
	leaveLate = 50 * time.Millisecond  // and leave so long after it was chosen without their being moved
)

// spacerMin is how many entries there are before old ones are looked for.
const spacerMin = 4096

func (s *spacer) prune(now time.Time) {
	for number, at := range s.last {
		if !at.Add(s.every).After(now) {
			delete(s.last, number)
		}
	}
	for number, at := range s.gone {
		if !at.Add(s.every).After(now) {
			delete(s.gone, number)
		}
	}
	for number, at := range s.reserved {
		if at.Before(now) {
			delete(s.reserved, number)
		}
	}
}

// over is when what is known now will mean nothing any more.
func (s *spacer) over() time.Time {
	return s.until
}

func (s *spacer) idle(now time.Time) bool { return !s.over().After(now) }
