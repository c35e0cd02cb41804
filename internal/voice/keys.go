package voice

import (
	"context"
	"strings"
	"time"

	"carillon/internal/store/chats"
)

const (
	stopKey    = '9'
	choiceKeys = 8               // 9 is the request for no more calls
	maxEntry   = 30              // keys of a number
	entryPause = 2 * time.Second // after this pause a number is complete; # and its last digit complete it immediately

	// Doubled is the time within which a repeated key, or repeated words, count as one answer.
	Doubled = time.Second
)

// entry is a sequence of keys that selects no choice: a requested number, or keys without a question.
type entry struct {
	keys     string
	at       time.Time // time of the last key
	whole    bool
	open     bool   // the meaning of the keys is known; otherwise it is being looked up
	question string // that the keys answer; empty if nobody asked
	digits   int    // of the answer; 0 if unknown
	ids      int64  // of our last words before the keys
}

// pressed is the last key that selected a choice.
type pressed struct {
	key rune
	at  time.Time
}

// twice reports whether a key at the given time is the same key press, received twice.
func (p pressed) twice(key rune, now time.Time) bool { return key == p.key && now.Sub(p.at) <= Doubled }

// digit handles a key press: a choice, the request for no more calls, or a part of an entry. A key that selects a
// choice counts from the first sound of its question on. Earlier keys, and repetitions of the same press, are no
// answer.
func (l *hearer) digit(d rune) {
	if l.ending != "" {
		return
	}
	l.active()
	i, choices, now := int(d-'1'), l.offered(), time.Now()
	chooses := d >= '1' && i < min(len(choices), choiceKeys)
	stops := d == stopKey && l.x.start.Stop != nil
	twice := l.key.twice(d, now)
	if !twice {
		l.key = pressed{}
	}
	switch {
	case d == refuseKey && l.x.start.Refuse != nil && !l.unrecorded && l.entry == nil:
		l.unrecord()
		l.refuse(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: string(d), Digits: string(d), Early: true})
	case !stops && twice:
		l.keepUnasked()
		l.keep(digitOf(d))
	case !stops && l.awaits(now):
		l.unasked.keys += digitOf(d)
		if l.unasked.at = now; len(l.unasked.keys) >= maxEntry {
			l.keepUnasked()
		}
	case chooses && l.confirm != "":
		l.key = pressed{d, now}
		l.stopTalking()
		l.confirmed(choices[i], nil)
	case chooses:
		l.key = pressed{d, now}
		l.stopTalking()
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindChoice, Text: choices[i], Digits: string(d)})
	case stops && len(choices) > 0:
		l.stopBy(string(d))
	default:
		l.enter(d)
	}
}

// digitOf returns a key if it is a digit.
func digitOf(d rune) string {
	if d < '0' || d > '9' {
		return ""
	}
	return string(d)
}

// keepUnasked stores the keys that were pressed before the first sound of a question.
func (l *hearer) keepUnasked() {
	l.keep(l.unasked.keys)
	l.unasked = entry{}
}

// keepAll stores keys that no longer answer anything.
func (l *hearer) keepAll() {
	l.keepUnasked()
	if e := l.entry; e != nil {
		l.keep(e.keys)
		l.entry = nil
	}
}

// keep stores keys that answer nothing, as a turn without a response.
func (l *hearer) keep(keys string) {
	if keys == "" {
		return
	}
	in := Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: keys, Digits: keys, Early: true, Quiet: true}
	l.store(func(ctx context.Context) error {
		_, err := l.dialogue().Say(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in)
		return err
	})
}

// enter adds a key that selects no choice to the entry.
func (l *hearer) enter(d rune) {
	e := l.entry
	if e != nil && e.open && e.question == "" && e.ids != l.ids { // we said something: these keys may answer it
		l.keepAll()
		e = nil
	}
	if e == nil {
		e = &entry{ids: l.ids}
		l.entry = e
		l.lookUpPending(func(l *loop, p *Pending) { l.entered(e, p) })
	}
	e.at = time.Now()
	switch {
	case d == '#':
		e.whole = true
	case d == '*': // starts over
		e.keys = ""
	case len(e.keys) < maxEntry:
		e.keys += string(d)
	}
	e.count()
}

// count completes an entry that has all its digits.
func (e *entry) count() { e.whole = e.whole || e.digits > 0 && len(e.keys) >= e.digits }

// entered handles the keys of an entry once the flow's question is known.
func (l *hearer) entered(e *entry, p *Pending) {
	if l.entry != e {
		return
	}
	switch {
	case p != nil && p.Number:
		e.open, e.question, e.digits = true, p.Question, p.Digits
		e.count()
		l.stopTalking()
		return
	case p != nil && len(p.Choices) > 0 && e.keys != "":
		// Not one of the choices: the owner of the question handles that.
		l.stopTalking()
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: e.keys, Digits: e.keys})
	case strings.ContainsRune(e.keys, stopKey) && l.x.start.Stop != nil:
		l.stopBy(e.keys)
	case e.keys != "":
		if e.open = true; p != nil && p.Question != "" { // that takes any text
			e.question = p.Question
			l.stopTalking()
		}
		return
	}
	l.entry = nil
}

// entering handles complete entries.
func (l *hearer) entering(now time.Time, due *due) {
	if l.unasked.keys != "" {
		if now.Sub(l.unasked.at) >= entryPause {
			l.keepUnasked()
		} else {
			due.at(l.unasked.at.Add(entryPause))
		}
	}
	e := l.entry
	switch {
	case e == nil || !e.open:
	case !e.whole && now.Sub(e.at) < entryPause:
		due.at(e.at.Add(entryPause))
	case e.keys == "":
		l.entry = nil
	default:
		e.open = false
		l.lookUpPending(func(l *loop, p *Pending) { l.sayEntry(e, p) })
	}
}

// sayEntry says an entry, unless the question is now another one: an entry answers no later question.
func (l *hearer) sayEntry(e *entry, p *Pending) {
	if l.entry != e {
		return
	}
	if p != nil && p.Question != "" && p.Question != e.question {
		l.keepAll()
		return
	}
	l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: e.keys, Digits: e.keys})
}

func (l *hearer) stopBy(keys string) {
	l.stop(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: keys, Digits: keys})
}

// lookUpPending looks up the pending question and passes it to take; nil if there is none.
func (l *loop) lookUpPending(take func(l *loop, p *Pending)) {
	go func() {
		p, err := l.dialogue().Pending(l.ctx, l.x.start.CompanyID, l.x.start.ConversationID)
		if err != nil && l.ctx.Err() == nil {
			l.x.all.o.Log.WarnContext(l.ctx, "look up what a conversation waits for", "conversation", l.x.start.ConversationID,
				"error", err)
		}
		if l.ctx.Err() == nil {
			l.x.call(func(l *loop) { take(l, p) })
		}
	}()
}
