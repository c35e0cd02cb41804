package voice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
)

// hear takes sound of the person.
func (l *loop) hear(pcm []int16) {
	if l.mate != nil {
		l.toMate(pcm)
	}
	if l.hears() || !l.told {
		l.person.add(l.ctx, pcm, l.silence())
	}
}

// began: the person begins to speak.
func (l *loop) began(u *utterance) {
	l.idleSince = time.Now()
	if !l.hears() {
		l.told = true
		l.person.current = nil
		l.person.ears.talking = false
		l.stopTalking()
		l.sayNow(l.x.words.CannotHear)
		return
	}
	l.goes(u)
}

// goes: the person goes on speaking. What we say gets quiet, then stops.
func (l *loop) goes(u *utterance) {
	if l.mate != nil || l.held != nil || !cuts(u.spoken) || !l.mouth.busy(time.Now()) {
		return
	}
	l.x.all.o.Observer.Took("silence", u.spoken)
	l.cut(time.Now())
}

// endedUtterance: the person has finished.
func (l *loop) endedUtterance(u *utterance) {
	if l.mate == nil && l.conversation.State == chats.Automated {
		l.owed = u.ended
	}
	l.x.all.o.Observer.Took("detect", u.detect)
}

// understood takes what was transcribed of an utterance.
func (l *loop) understood(u *utterance, t Transcript, err error) {
	l.x.all.o.Observer.Took("transcribe", u.took)
	if err != nil {
		l.x.all.o.Observer.Failed("transcriber")
		l.x.all.o.Log.WarnContext(l.ctx, "transcribe", "company", l.x.start.CompanyID, "conversation", l.x.start.ConversationID, "error", err)
	}
	if l.held != nil && err == nil && resumes(t.Text, u.spoken, l.x.language()) && l.unheard() >= resumeLeast {
		l.owed = time.Time{}
		l.resume()
		return
	}
	l.drop()
	if l.confirm != "" && t.Text != "" {
		l.confirmed(t.Text, voiceOf(u))
		return
	}
	switch {
	case t.Text == "":
		l.notUnderstood(err)
	case t.Confirm:
		l.confirm = t.Text
		l.owed = time.Time{}
		l.choices = []string{l.x.words.Yes, l.x.words.No}
		l.aside(fmt.Sprintf(l.x.words.Confirm, t.Text))
	default:
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: t.Text, Voice: voiceOf(u)})
	}
}

// unheard is how much of what was cut off is known to be left.
func (l *loop) unheard() time.Duration {
	n := 0
	for _, p := range l.held.unheard {
		if !p.made {
			return resumeLeast
		}
		n += len(p.pcm) - p.taken
	}
	return l.mouth.length(n)
}

// voiceOf describes how an utterance was said.
func voiceOf(u *utterance) *chats.Voice {
	return &chats.Voice{
		LengthMS: u.length.Milliseconds(), DetectMS: max(u.detect.Milliseconds(), 1), TranscribeMS: max(u.took.Milliseconds(), 1),
	}
}

// confirmed takes the answer to whether something was understood right.
func (l *loop) confirmed(text string, v *chats.Voice) {
	asked := l.confirm
	l.confirm, l.choices = "", nil
	switch {
	case agent.Agrees(text):
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: asked, Voice: v})
	case agent.Declines(text):
		l.owed = time.Time{}
		l.aside(l.x.words.Repeat)
	default: // something else
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: text, Voice: v})
	}
}

const repeatsMost = 2

// notUnderstood asks the person to say it again, and after a few times offers a teammate.
func (l *loop) notUnderstood(err error) {
	l.owed = time.Time{}
	if l.mate != nil || l.conversation.State != chats.Automated {
		return
	}
	if l.repeats++; l.repeats > repeatsMost || err != nil && !errors.Is(err, context.DeadlineExceeded) && l.repeats > 1 {
		l.repeats = 0
		l.announce(l.x.words.Busy, []string{l.x.words.Person}, false)
		return
	}
	l.aside(l.x.words.Repeat)
}

// sayFor stores what the person said, and has the agent respond.
func (l *loop) sayFor(in Saying) {
	l.active()
	l.repeats, l.confirm = 0, ""
	if in.Voice != nil {
		l.show(Event{Kind: Transcribed, Text: in.Text})
	}
	if l.mate != nil {
		l.mate.Show(Event{Kind: Transcribed, Text: in.Text})
	}
	for _, c := range l.choices {
		if c == in.Text {
			in.Kind = chats.KindChoice
		}
	}
	l.choices = nil
	if l.mate == nil && (l.conversation.State == chats.Automated || l.conversation.State == chats.Resolved) {
		l.owed, l.filled = time.Now(), time.Time{}
	} else {
		l.owed = time.Time{}
	}
	l.dropAnswer()
	l.store(func(ctx context.Context) error {
		t, err := l.dialogue().Say(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in)
		l.later(func(l *loop) { l.stored(t, err) })
		return err
	})
}

// stored: what the person said is stored.
func (l *loop) stored(t *chats.Turn, err error) {
	if err != nil || t == nil {
		l.owed = time.Time{}
		l.show(Event{Kind: Failure, Code: "not_stored", Text: l.x.words.Busy})
		l.aside(l.x.words.Busy)
		return
	}
	if l.mate != nil {
		return
	}
	switch l.conversation.State {
	case chats.Automated, chats.Resolved, chats.Abandoned:
		l.respond()
	case chats.Missed:
		l.aside(l.x.words.Noted)
	default:
	}
}

// digit takes a key that the person pressed.
func (l *loop) digit(d rune) {
	l.active()
	if i := int(d - '1'); i >= 0 && i < len(l.choices) {
		l.stopTalking()
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindChoice, Text: l.choices[i]})
	}
}
