package voice

import (
	"strings"
	"time"

	"carillon/internal/store/chats"
)

const (
	stopKey    = '9'
	choiceKeys = 8               // 9 is the wish not to be called
	entryMost  = 30              // keys of a number
	entryPause = 3 * time.Second // after which a number is complete; # says so at once
)

// entry is what a person enters by keys that take no choice: a number that a flow asks for.
type entry struct {
	keys  string
	at    time.Time // of the last key
	whole bool
	open  bool // a number is asked for; else that is being looked up
}

// digit takes a key that the person pressed: a choice, the wish not to be called, or a part of a number.
func (l *hearer) digit(d rune) {
	if l.ending != "" {
		return
	}
	l.active()
	i := int(d - '1')
	switch {
	case d >= '1' && i < min(len(l.choices), choiceKeys):
		l.stopTalking()
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindChoice, Text: l.choices[i], Digits: string(d)})
	case d == stopKey && l.x.start.Stop != nil && len(l.choices) > 0:
		l.stopBy(string(d))
	case l.conversation.State == chats.Automated || d == stopKey:
		l.enter(d)
	}
}

// enter takes a key of a number, if a flow asks for one.
func (l *hearer) enter(d rune) {
	e := l.entry
	if e == nil {
		e = &entry{}
		l.entry = e
		l.lookUpPending(func(l *loop, p *Pending) { l.entered(e, p) })
	}
	e.at = time.Now()
	switch {
	case d == '#':
		e.whole = true
	case d == '*': // begins again
		e.keys = ""
	case len(e.keys) < entryMost:
		e.keys += string(d)
	}
}

// entered goes on with keys, now that it is known what a flow waits for.
func (l *hearer) entered(e *entry, p *Pending) {
	if l.entry != e {
		return
	}
	switch {
	case p != nil && p.Number:
		e.open = true
		l.stopTalking()
		return
	case p != nil && len(p.Choices) > 0 && e.keys != "": // it is none of them, which the flow says
		l.stopTalking()
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: e.keys, Digits: e.keys})
	case strings.ContainsRune(e.keys, stopKey) && l.x.start.Stop != nil:
		l.stopBy(e.keys)
	}
	l.entry = nil
}

// entering takes a number that is complete.
func (l *hearer) entering(now time.Time, due *due) {
	e := l.entry
	switch {
	case e == nil || !e.open:
	case !e.whole && now.Sub(e.at) < entryPause:
		due.at(e.at.Add(entryPause))
	case e.keys == "":
		l.entry = nil
	default:
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: e.keys, Digits: e.keys})
	}
}

func (l *hearer) stopBy(keys string) {
	l.stop(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: keys, Digits: keys})
}

// lookUpPending finds out what a flow waits for; nil where nothing is known of it.
func (l *loop) lookUpPending(take func(l *loop, p *Pending)) {
	go func() {
		p, err := l.dialogue().Pending(l.ctx, l.x.start.CompanyID, l.x.start.ConversationID)
		if err != nil && l.ctx.Err() == nil {
			l.x.all.o.Log.WarnContext(l.ctx, "look up what a flow waits for", "conversation", l.x.start.ConversationID, "error", err)
		}
		if l.ctx.Err() == nil {
			l.x.call(func(l *loop) { take(l, p) })
		}
	}()
}
