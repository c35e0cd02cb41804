package voice

import (
	"context"
	"time"

	"carillon/internal/store/chats"
)

// Hypothesis handles what the recognizer in the person's browser has understood so far.
func (x *Session) Hypothesis(h Hypothesis) {
	if b := x.start.Browser; b != nil {
		b.add(h)
	}
}

// Browser handles a new state of the recognizer in the person's browser. reason is the browser's name of a failure.
func (x *Session) Browser(state BrowserState, reason string) {
	if b := x.start.Browser; b != nil {
		b.set(state)
		x.call(func(l *loop) { l.browserIs(state, reason) })
	}
}

// Detected handles the beginning or the end of speech that the person's page detected, at a position in the person's
// sound.
func (x *Session) Detected(speech bool, at time.Duration) {
	x.call(func(l *loop) {
		if l.person != nil && l.canHear() {
			l.person.mark(l.ctx, speech, at, time.Now())
		}
	})
}

// browserIs informs the person once if their browser fails.
func (l *hearer) browserIs(state BrowserState, reason string) {
	switch {
	case l.person == nil:
		return
	case state == BrowserOff:
		l.person.finish()
		return
	case state == BrowserOn:
		l.informed = false
		return
	}
	l.x.all.o.Log.InfoContext(l.ctx, "recognize speech in a browser", "company", l.x.start.CompanyID, "conversation",
		l.x.start.ConversationID, "error", reason)
	l.person.close()
	l.person.ears.talking = false
	if l.held != nil {
		l.resume()
	}
	if !l.informed && l.mate == nil && l.ending == "" {
		l.informed = true
		l.sayNow(l.x.words.CannotHear)
	}
}

// lateWords are the words of a turn that may still be corrected.
type lateWords struct {
	seq   int64 // of the turn; 0 until it is stored
	said  string
	voice chats.Voice
	final string // the correction; empty until it arrives
}

// awaitFinal waits for the final text of a turn.
func (l *hearer) awaitFinal(final <-chan string, in Saying) *lateWords {
	w := &lateWords{said: in.Text, voice: *in.Voice}
	go func() {
		late := time.NewTimer(lateFinal)
		defer late.Stop()
		select {
		case text := <-final:
			l.later(func(l *loop) {
				w.final = text
				l.correct(w)
			})
		case <-late.C:
		case <-l.ctx.Done():
		}
	}()
	return w
}

// correct records the final text of a turn that was answered already.
func (l *hearer) correct(w *lateWords) {
	if w.seq == 0 || w.final == "" || w.final == w.said {
		return
	}
	v := w.voice
	v.Final = w.final
	l.store(func(ctx context.Context) error {
		return l.dialogue().Spoke(ctx, l.x.start.CompanyID, l.x.start.ConversationID, w.seq, v)
	})
}
