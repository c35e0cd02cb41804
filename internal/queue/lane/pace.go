package lane

import "time"

// Pacer keeps a sender's rate exactly: a ring of Rate slots, each free again one second after the response of the
// request that took it, so that no window of a second at the provider holds more than rate. A token bucket would allow
// twice the rate in one window.
type Pacer struct {
	Rate    int // 0: unpaced
	busy    int // slots of requests without a response yet
	cooling []time.Time
	From    time.Time // a new owner waits a second: the last one's requests are unknown to it
}

// PaceWindow is the window that the rate counts in.
const PaceWindow = time.Second

// Free is the number of requests that may start now.
func (p *Pacer) Free(now time.Time) int {
	if p.Rate == 0 {
		return 1 << 30
	}
	if now.Before(p.From) {
		return 0
	}
	n := 0
	for n < len(p.cooling) && !p.cooling[n].After(now) {
		n++
	}
	p.cooling = p.cooling[n:]
	return max(0, p.Rate-p.busy-len(p.cooling))
}

// Next is when a slot becomes free that is not now; zero when only a response can free one.
func (p *Pacer) Next(now time.Time) time.Time {
	if now.Before(p.From) {
		return p.From
	}
	if len(p.cooling) > 0 {
		return p.cooling[0]
	}
	return time.Time{}
}

// Take takes a slot for a request that starts.
func (p *Pacer) Take() { p.busy++ }

// Release frees the slot of a request that never left.
func (p *Pacer) Release() { p.busy-- }

// Responded starts the second after which the slot of a request is free again.
func (p *Pacer) Responded(now time.Time) {
	p.busy--
	if p.Rate > 0 {
		p.cooling = append(p.cooling, now.Add(PaceWindow))
	}
}

// Idle reports whether every slot is free.
func (p *Pacer) Idle(now time.Time) bool { return p.busy == 0 && !p.IdleAt().After(now) }

// IdleAt is the instant at which every slot of an answered request is free again.
func (p *Pacer) IdleAt() time.Time {
	if len(p.cooling) == 0 {
		return time.Time{}
	}
	return p.cooling[len(p.cooling)-1]
}

// Spacer keeps the interval between two messages of a sender to one number. Its instants keep the monotonic clock: setting the
// wall clock neither shortens an interval nor lengthens it.
type Spacer struct {
	every    time.Duration        // 0 for none
	last     map[string]time.Time // starts, which slots are reckoned from
	reserved map[string]time.Time
	gone     map[string]time.Time // when each left, which is a little behind its start
	pruneAt  int                  // number of entries at which old ones are removed
	until    time.Time            // end of the last entry's effect
}

// Slot returns when a message to the number that is due may start: now or earlier, or an exact later instant, which it
// reserves. A message whose reserved slot has come keeps its turn if the one before it started a little late.
func (s *Spacer) Slot(number string, due, now time.Time) time.Time {
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

// onWall converts an instant to the current wall clock, which may have been set since the instant was computed; in whole
// milliseconds, the unit of the database, and never before the instant.
func onWall(at, now time.Time) time.Time {
	at = now.Add(at.Sub(now))
	return at.Add(untilMilli(at))
}

// Active reports whether there is an interval to keep.
func (s *Spacer) Active() bool {
	return s.every > 0 && len(s.last) > 0
}

// Started records a start; the stamp is for Undo.
func (s *Spacer) Started(number string, now time.Time) (stamp time.Time) {
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

// untilMilli is the time to the next whole millisecond.
func untilMilli(t time.Time) time.Duration {
	part := time.Duration(t.Nanosecond()) % time.Millisecond
	return (time.Millisecond - part) % time.Millisecond
}

// Left records that a started message leaves only now, and returns how long it still has to wait: the one before it was late as
// well, by at most leaveLate. So messages keep their distance, and lateness does not add up along a row. A longer delay moves
// the slots behind it.
func (s *Spacer) Left(number string, now time.Time) (wait time.Duration) {
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
		s.Started(number, now)
	}
	return wait
}

// Undo takes a start back.
func (s *Spacer) Undo(number string, stamp time.Time) {
	if s.last[number].Equal(stamp) { // no later start
		delete(s.last, number)
	}
}

// SetInterval replaces the sender's interval.
func (s *Spacer) SetInterval(d time.Duration) {
	s.every = d
}

const (
	slotLate  = 250 * time.Millisecond // how late a message may start without the ones after it losing their slots
	leaveLate = 50 * time.Millisecond  // and leave so long after it was chosen without moving them
)

// spacerMin is the number of entries below which old ones are kept.
const spacerMin = 4096

func (s *Spacer) prune(now time.Time) {
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

// IdleAt is the instant at which the entries lose their effect.
func (s *Spacer) IdleAt() time.Time {
	return s.until
}

// Idle reports whether no entry has an effect.
func (s *Spacer) Idle(now time.Time) bool { return !s.IdleAt().After(now) }
