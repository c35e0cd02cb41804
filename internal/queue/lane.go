package queue

import (
	"cmp"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store"
)

// lane is one sender's queue in the memory of its shard's owner. All fields belong to the pump.
type lane struct {
	uid    int64
	shard  int
	sender *carillon.Sender
	class  [carillon.Classes]window
	credit [carillon.Classes]int
	flying int // from the start's commit to the response
	pace   pacer
	space  *spacer

	off     bool     // the sender's company is suspended
	halt    bool     // its shard is on its way to another node
	breaker *breaker // nil: closed, and nothing to count

	inReady bool
	hungry  bool      // it waits for a reader
	at      time.Time // in the heap: when to look again
	index   int       // in the heap; -1: not there
}

// window is what has been read ahead of one class.
type window struct {
	queue   []store.Queued                // by due time
	known   map[carillon.MessageKey]int64 // due, of those in queue or on their way to a commit
	next    time.Time                     // when the earliest message not in queue is due; zero: none known
	more    bool                          // there is more from tail on, to be read when the queue runs low
	tail    time.Time
	loading bool
	again   bool                  // something came while loading
	low     time.Time             // the lowest due time that came while loading
	gone    []carillon.MessageKey // forgotten while loading: the read may still show them as they were
	resume  time.Time             // nothing is read before: the last read gave nothing to go by
}

// weights serve transactional before utility before marketing without starving any: turns not used pass on.
//
//nolint:gochecknoglobals // a constant table
var weights = [carillon.Classes]int{8, 3, 1}

const (
	windowRows  = 512
	refillBelow = 128
	readAhead   = time.Second // messages due within it are read already, and started on their instant
	spacingWait = time.Second // a recipient's interval up to this is waited for in memory
)

// wake notes that a message is due at an instant. It returns whether the window must be read.
func (w *window) wake(due time.Time) {
	if w.loading {
		w.again = true
		if w.low.IsZero() || due.Before(w.low) {
			w.low = due
		}
		return
	}
	if n := len(w.queue); !w.more && n >= refillBelow && !due.Before(w.queue[n-1].Due) {
		w.more, w.tail = true, w.queue[n-1].Due
	}
	if w.more && !due.Before(w.tail) {
		return // found when the queue runs low
	}
	if w.next.IsZero() || due.Before(w.next) {
		w.next = due
	}
}

// wantsLoad tells whether the window should be read now.
func (w *window) wantsLoad(now time.Time) bool {
	if w.loading || now.Before(w.resume) {
		return false
	}
	return w.more && len(w.queue) < refillBelow || !w.next.IsZero() && !w.next.After(now.Add(readAhead))
}

// from is where the next read begins: nothing that is not in the queue is due before it.
func (w *window) from() time.Time {
	if !w.more || !w.next.IsZero() && w.next.Before(w.tail) {
		return w.next
	}
	return w.tail
}

// fill takes what was read; full: the read hit its limit, so there is more from the last row on.
func (w *window) fill(rows []store.Queued, full bool, next time.Time) {
	w.loading = false
	w.more = full
	w.next = next
	if full {
		w.tail = rows[len(rows)-1].Due
	}
	w.take(rows)
	w.catchUp()
}

// take puts a message that has just been stored into its window, which spares reading it. false: it is found when the
// window is read next, behind what is there already. One that is stored while the window is read may be among what was
// read too, and is known by then.
func (l *lane) take(c carillon.Class, f *Fresh) bool {
	w := &l.class[c]
	if l.off || w.more || len(w.queue) >= refillBelow {
		return false
	}
	l.of(f.Sender)
	w.take([]store.Queued{f.Queued})
	return true
}

// of notes the lane's sender as it is now.
func (l *lane) of(s *carillon.Sender) {
	l.sender, l.pace.rate = s, s.PerSecond
	l.space.of(s)
}

// take adds what was read to the queue.
func (w *window) take(rows []store.Queued) {
	w.queue = slices.Grow(w.queue, len(rows))
	for _, m := range rows {
		k := m.Key
		if due, ok := w.known[k]; ok {
			if due != m.Due.UnixMilli() {
				w.retime(k, m.Due)
			}
			continue
		}
		if w.known == nil {
			w.known = make(map[carillon.MessageKey]int64, len(rows))
		}
		w.known[k] = m.Due.UnixMilli()
		w.queue = append(w.queue, m)
	}
	slices.SortStableFunc(w.queue, byDue)
}

// putOff ends a read that gave nothing to go by: it is repeated later, from where it began.
func (w *window) putOff(now time.Time) {
	w.loading = false
	w.resume = now.Add(retryWait)
	w.catchUp()
}

// catchUp takes what came while loading.
func (w *window) catchUp() {
	for _, k := range w.gone {
		delete(w.known, k)
	}
	w.gone = nil
	if w.again {
		w.again = false
		low := w.low
		w.low = time.Time{}
		w.wake(low)
	}
}

// retime follows a message that was moved after it had been read ahead. One that is on its way to a commit is not in
// the queue: its start finds the new time and is refused.
func (w *window) retime(k carillon.MessageKey, due time.Time) {
	for i := range w.queue {
		if w.queue[i].Key == k {
			w.queue[i].Due = due
			w.known[k] = due.UnixMilli()
			return
		}
	}
}

func byDue(a, b store.Queued) int { return cmp.Compare(a.Due.UnixMilli(), b.Due.UnixMilli()) }

func (w *window) push(m store.Queued) {
	at, _ := slices.BinarySearchFunc(w.queue, m, byDue)
	for at < len(w.queue) && byDue(w.queue[at], m) == 0 {
		at++
	}
	w.queue = slices.Insert(w.queue, at, m)
}

func (w *window) due(now time.Time) bool { return len(w.queue) > 0 && !w.queue[0].Due.After(now) }

// forget lets a message be read again, by a read that begins from now on.
func (w *window) forget(k carillon.MessageKey) {
	if w.loading {
		w.gone = append(w.gone, k)
		return
	}
	delete(w.known, k)
}

// pick chooses the class whose turn it is among those with a message due.
func (l *lane) pick(now time.Time) (c int, ok bool) {
	for range 2 {
		any := false
		for c := range l.class {
			if !l.class[c].due(now) {
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

// room is how many more requests the lane may start now.
func (l *lane) room(now time.Time, laneCap int) int {
	limit := l.limit(now, laneCap)
	if limit == 0 {
		return 0
	}
	return min(limit-l.flying, l.pace.free(now))
}

// limit is how many requests the lane may have under way now.
func (l *lane) limit(now time.Time, laneCap int) int {
	if l.sender == nil || l.off || l.halt || l.breaker.open(now) {
		return 0
	}
	limit := laneCap
	if l.sender.MaxConcurrent > 0 {
		limit = min(limit, l.sender.MaxConcurrent)
	}
	if l.breaker.probing() {
		limit = 1
	}
	return limit
}

// attention is the next instant at which the lane can do something by itself; zero: only an event can move it.
func (l *lane) attention(now time.Time) time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	waiting := false
	for c := range l.class {
		w := &l.class[c]
		if len(w.queue) > 0 {
			waiting = true
			if d := w.queue[0].Due; d.After(now) {
				sooner(d)
			}
		}
		if w.loading {
			continue
		}
		if w.more && len(w.queue) < refillBelow {
			sooner(latest(now, w.resume))
		}
		if !w.next.IsZero() {
			sooner(latest(w.next.Add(-readAhead), w.resume))
		}
	}
	if waiting && l.breaker.open(now) {
		sooner(l.breaker.until)
	} else if waiting && l.pace.free(now) == 0 {
		sooner(l.pace.next(now))
	}
	return at
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// empty tells that nothing waits or is under way.
func (l *lane) empty() bool {
	for c := range l.class {
		w := &l.class[c]
		if len(w.queue) > 0 || len(w.known) > 0 || w.loading || !w.next.IsZero() || w.more {
			return false
		}
	}
	return l.flying == 0
}

// idle tells that nothing is lost by forgetting a lane that is empty.
func (l *lane) idle(now time.Time) bool {
	return l.breaker.quiet(now) && l.pace.idle(now) && l.space.idle(now)
}

// over is when an empty lane may be idle, by the wall clock: beside it lanes sleep until messages are due, and after the clock
// was set instants of both kinds have no order.
func (l *lane) over(now time.Time) time.Time {
	at := latest(l.pace.over(), l.space.over())
	if !l.breaker.quiet(now) {
		at = latest(at, now.Add(breakerWithin))
	}
	return onWall(latest(at, now.Add(time.Millisecond)), now).Round(0)
}
