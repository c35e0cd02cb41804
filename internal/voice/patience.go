package voice

import (
	"time"

	"carillon/internal/store/chats"
)

// wait fills the silence while the person waits for us. A person who is speaking is not waiting.
func (l *patience) wait(now time.Time, due *due) {
	if l.owed.IsZero() || l.mouth.busy(now) || l.person.speaks() {
		return
	}
	waited := now.Sub(l.owed)
	switch {
	case waited >= apologyAfter:
		l.apologize()
		return
	case l.filled.Before(l.owed) && waited >= fillerAfter:
		l.filled = now
		l.sayEphemeral(l.x.words.Filler)
	case !l.filled.Before(l.owed) && now.Sub(l.filled) >= stillEvery && apologyAfter-waited > time.Second:
		l.filled = now
		l.sayEphemeral(l.x.words.Still)
	}
	due.at(l.owed.Add(apologyAfter))
	if l.filled.Before(l.owed) {
		due.at(l.owed.Add(fillerAfter))
	} else {
		due.at(l.filled.Add(stillEvery))
	}
}

// idle speaks to a silent person.
func (l *patience) idle(now time.Time, due *due) {
	listens := l.conversation.State == chats.Automated || l.conversation.State == chats.Missed && l.hasKeys()
	if !listens || !l.owed.IsZero() || l.mouth.busy(now) || l.person.speaks() {
		l.idleSince = now
		due.in(time.Second)
		return
	}
	after := typedIdle
	if l.canHear() || l.hasKeys() {
		after = idleNext
		if l.idles == 0 {
			after = idleFirst
		}
	}
	if now.Sub(l.idleSince) < after {
		due.at(l.idleSince.Add(after))
		return
	}
	l.idleSince = now
	l.lookUpPending(func(l *loop, p *Pending) {
		if l.idleSince.Equal(now) && l.ending == "" { // otherwise something has happened
			l.idled(p)
		}
	})
}

// maxWaits is the number of times that a person is asked to wait for a flow before the wait counts as silence.
const maxWaits = 5

// idled speaks to a silent person, depending on the pending question.
func (l *patience) idled(p *Pending) {
	if p != nil && p.Busy && l.waits < maxWaits {
		l.waits++
		l.sayNow(l.x.words.Still)
		return
	}
	l.idles++
	switch {
	case !l.canHear() && !l.hasKeys() || l.idles == 3 || l.conversation.State == chats.Missed:
		l.sayNow(l.x.words.Goodbye)
		l.finish("idle")
	case l.idles == 1:
		l.sayNow(l.x.words.Idle)
	case p != nil && p.Question != "":
		l.ask(p)
	default:
		l.sayNow(l.x.words.IdleAgain)
	}
}

func (l *patience) active() {
	l.idleSince, l.idles, l.waits = time.Now(), 0, 0
}

// due computes when work is due next.
type due struct {
	now   time.Time
	after time.Duration
}

func (d *due) in(x time.Duration) { d.after = min(d.after, x) }
func (d *due) at(t time.Time)     { d.in(max(t.Sub(d.now), time.Millisecond)) }
