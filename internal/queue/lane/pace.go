package lane

import "time"

// Pacer enforces a sender's rate exactly: it has Rate slots, each free again one second after the response of the
// request that used it. So no window of one second at the provider has more than Rate requests. A token bucket would
// allow twice the rate in one window.
type Pacer struct {
	Rate    int // 0: unpaced
	busy    int // slots of requests without a response yet
	cooling []time.Time
	From    time.Time // a new owner waits a second: the previous owner's requests are unknown to it
}

// PaceWindow is the window in which the rate is counted.
const PaceWindow = time.Second

// Free returns the number of requests that may start now.
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

// Next returns when the next slot becomes free; zero if that depends on a response.
func (p *Pacer) Next(now time.Time) time.Time {
	if now.Before(p.From) {
		return p.From
	}
	if len(p.cooling) > 0 {
		return p.cooling[0]
	}
	return time.Time{}
}

// Take uses a slot for a request that starts.
func (p *Pacer) Take() { p.busy++ }

// Release frees the slot of a request that was not sent.
func (p *Pacer) Release() { p.busy-- }

// Responded starts the second after which a request's slot is free again.
func (p *Pacer) Responded(now time.Time) {
	p.busy--
	if p.Rate > 0 {
		p.cooling = append(p.cooling, now.Add(PaceWindow))
	}
}

// Idle reports whether every slot is free.
func (p *Pacer) Idle(now time.Time) bool { return p.busy == 0 && !p.IdleAt().After(now) }

// IdleAt returns when the slots of all completed requests are free again.
func (p *Pacer) IdleAt() time.Time {
	if len(p.cooling) == 0 {
		return time.Time{}
	}
	return p.cooling[len(p.cooling)-1]
}

// Spacer enforces the interval between two messages of a sender to one number. Its times use the monotonic clock, so
// setting the wall clock neither shortens nor lengthens an interval.
type Spacer struct {
	every    time.Duration        // 0 for none
	last     map[string]time.Time // starts, from which slots are computed
	reserved map[string]time.Time
	gone     map[string]time.Time // when each message was sent, a little after its start
	pruneAt  int                  // number of entries at which old ones are removed
	until    time.Time            // end of the last entry's effect
}

// Slot returns when a due message to the number may start: now or earlier, or an exact later time, which it reserves.
// A message whose reserved slot has come keeps its turn even if the previous one started a little late.
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
	if r, ok := s.reserved[number]; ok && r.After(at) && r.After(due) { // of another message: its own has passed
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

// onWall converts a time to the current wall clock, which may have been set since the time was computed. The result is
// in whole milliseconds, the unit of the database, and never earlier.
func onWall(at, now time.Time) time.Time {
	at = now.Add(at.Sub(now))
	return at.Add(untilMilli(at))
}

// Active reports whether any interval is being enforced.
func (s *Spacer) Active() bool {
	return s.every > 0 && len(s.last) > 0
}

// Started records a start. The returned stamp is for Undo.
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

// untilMilli returns the time to the next whole millisecond.
func untilMilli(t time.Time) time.Duration {
	part := time.Duration(t.Nanosecond()) % time.Millisecond
	return (time.Millisecond - part) % time.Millisecond
}

// Left records that a started message is sent only now, and returns how long it still has to wait because the
// previous one was late as well, at most leaveLate. So messages keep their distance, and lateness does not add up
// over many messages. A longer delay moves the later slots.
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

// Undo removes a start.
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
	slotLate  = 250 * time.Millisecond // maximum lateness of a start that does not cost later messages their slots
	leaveLate = 50 * time.Millisecond  // maximum lateness of a send after its start that does not move later slots
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

// IdleAt returns when all entries lose their effect.
func (s *Spacer) IdleAt() time.Time {
	return s.until
}

// Idle reports whether no entry has an effect anymore.
func (s *Spacer) Idle(now time.Time) bool { return !s.IdleAt().After(now) }
