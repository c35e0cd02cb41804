package queue

import (
	"time"

	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// postponed is a message being moved to a later time. Its buffer remembers it until that is committed; otherwise its
// row would be read again as due.
type postponed struct {
	m      work.Queued
	lane   *lane.Lane
	buffer *lane.Buffer
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

// takePostponed removes and returns the messages that the next commit postpones.
func takePostponed(all *[]postponed) []postponed {
	return takeFirst(all, min(max(postponeRows, len(*all)/2), maxPostpone))
}

// moved lets the lanes of postponed messages read them again at their later times.
func (k *kind) moved(later []postponed, now time.Time) {
	for _, x := range later {
		x.buffer.Forget(x.m.Key)
		x.buffer.Wake(x.m.Due)
		k.attend(x.lane, now)
	}
}
