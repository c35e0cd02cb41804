package lane

import (
	"cmp"
	"slices"
	"time"

	"carillon/internal/store/work"
)

// Buffer is the prefetch buffer of one class: the earliest messages of a lane.
type Buffer struct {
	Items   []work.Queued // by due time
	Reading bool          // a read is running

	known  map[work.Key]int64 // due times of the messages in Items or on their way to a commit
	next   time.Time          // due time of the earliest message not in Items, without those after tail; zero for none
	more   bool               // more messages follow tail, to be read when Items run low
	tail   time.Time          // due time of the last message read
	missed time.Time          // lowest due time of a wake-up during the read; zero for none
	gone   []work.Key         // forgotten during the read, which may still return their old state
	resume time.Time          // no read before this time, because the last one failed
}

const (
	// ReadRows bounds one read.
	ReadRows = 512
	// RefillBelow is the number of items below which more are read.
	RefillBelow = 256
	// ReadAhead is the time before their due time at which messages are read, so that they start exactly on time.
	ReadAhead = time.Second
	// SpacingWait is the longest recipient interval that is waited for in memory.
	SpacingWait = time.Second
	// ReadRetry is the pause after a failed read.
	ReadRetry = 5 * time.Second
)

// Wake records that a message is due at the given time.
func (b *Buffer) Wake(due time.Time) {
	if b.Reading {
		if b.missed.IsZero() || due.Before(b.missed) {
			b.missed = due
		}
		return
	}
	if n := len(b.Items); !b.more && n >= RefillBelow && !due.Before(b.Items[n-1].Due) {
		b.more, b.tail = true, b.Items[n-1].Due
	}
	if b.more && !due.Before(b.tail) {
		return // found when the items run low
	}
	if b.next.IsZero() || due.Before(b.next) {
		b.next = due
	}
}

// WantsRead reports whether the buffer should be read now.
func (b *Buffer) WantsRead(now time.Time) bool {
	if b.Reading || now.Before(b.resume) {
		return false
	}
	return b.more && len(b.Items) < RefillBelow || !b.next.IsZero() && !b.next.After(now.Add(ReadAhead))
}

// ReadFrom returns the due time at which the next read begins. All earlier messages are among the items.
func (b *Buffer) ReadFrom() time.Time {
	if !b.more || !b.next.IsZero() && b.next.Before(b.tail) {
		return b.next
	}
	return b.tail
}

// Fill ends a read with its rows and the due time of the next message. full means that the read hit its limit, so more
// messages follow the last row.
func (b *Buffer) Fill(rows []work.Queued, full bool, next time.Time) {
	b.Reading = false
	b.more = full
	b.next = next
	if full {
		b.tail = rows[len(rows)-1].Due
	}
	b.Add(rows)
	b.finishRead()
}

// Add adds rows to the items, except for known ones.
func (b *Buffer) Add(rows []work.Queued) {
	b.Items = slices.Grow(b.Items, len(rows))
	for _, m := range rows {
		k := m.Key
		if due, ok := b.known[k]; ok {
			if due != m.Due.UnixMilli() {
				b.retime(k, m.Due)
			}
			continue
		}
		if b.known == nil {
			b.known = make(map[work.Key]int64, len(rows))
		}
		b.known[k] = m.Due.UnixMilli()
		b.Items = append(b.Items, m)
	}
	slices.SortStableFunc(b.Items, byDue)
}

// ReadFailed ends a failed read. It is repeated later from the same position.
func (b *Buffer) ReadFailed(now time.Time) {
	b.Reading = false
	b.resume = now.Add(ReadRetry)
	b.finishRead()
}

// finishRead applies the wake-ups that arrived during the read.
func (b *Buffer) finishRead() {
	for _, k := range b.gone {
		delete(b.known, k)
	}
	b.gone = nil
	if due := b.missed; !due.IsZero() {
		b.missed = time.Time{}
		b.Wake(due)
	}
}

// retime applies the new due time of a prefetched message. A message on its way to a commit is not among the items:
// its start finds the new time and is refused.
func (b *Buffer) retime(k work.Key, due time.Time) {
	for i := range b.Items {
		if b.Items[i].Key == k {
			b.Items[i].Due = due
			b.known[k] = due.UnixMilli()
			return
		}
	}
}

func byDue(x, y work.Queued) int { return cmp.Compare(x.Due.UnixMilli(), y.Due.UnixMilli()) }

// Push puts an item back at its due time.
func (b *Buffer) Push(m work.Queued) {
	at, _ := slices.BinarySearchFunc(b.Items, m, byDue)
	for at < len(b.Items) && byDue(b.Items[at], m) == 0 {
		at++
	}
	b.Items = slices.Insert(b.Items, at, m)
}

// Pop removes the first item.
func (b *Buffer) Pop() work.Queued {
	m := b.Items[0]
	b.Items = b.Items[1:]
	return m
}

// PopDue removes and returns all items that are due.
func (b *Buffer) PopDue(now time.Time) []work.Queued {
	n, _ := slices.BinarySearchFunc(b.Items, now, func(m work.Queued, now time.Time) int {
		if m.Due.After(now) {
			return 1
		}
		return -1
	})
	due := b.Items[:n:n]
	b.Items = slices.Clone(b.Items[n:])
	return due
}

// HasDue reports whether an item is due.
func (b *Buffer) HasDue(now time.Time) bool { return len(b.Items) > 0 && !b.Items[0].Due.After(now) }

// RunsLow reports whether more should be read while items are left.
func (b *Buffer) RunsLow() bool { return b.more && len(b.Items) < RefillBelow }

// Overdue returns the number of due items, the due time of the class's earliest known message (zero if none is due),
// and whether unread messages are due too.
func (b *Buffer) Overdue(now time.Time) (items int, since time.Time, deep bool) {
	for items < len(b.Items) && !b.Items[items].Due.After(now) {
		items++
	}
	if items > 0 {
		since = b.Items[0].Due
	}
	if next := b.next; next.UnixMilli() > 0 && !next.After(now) && (since.IsZero() || next.Before(since)) {
		since = next
	}
	return items, since, b.more && !b.tail.After(now)
}

// Forget allows a message to be read again, by reads that begin from now on.
func (b *Buffer) Forget(k work.Key) {
	if b.Reading {
		b.gone = append(b.gone, k)
		return
	}
	delete(b.known, k)
}
