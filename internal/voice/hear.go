package voice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/store/chats"
)

// listener returns a listener for one person, with the agent's transcriber.
func (l *hearer) listener(rate int, services Transcriber) *listener {
	if services == nil {
		services = l.x.all.o.Transcribers[l.x.voice.Transcriber]
	}
	e := newListener(rate, l.x.all.o.Detector(rate), services)
	e.post = func(f func()) { l.x.call(func(*loop) { f() }) }
	e.hearing = func() Hearing {
		return Hearing{
			CompanyID: l.x.start.CompanyID, Voice: l.x.voice, Language: l.x.language(), Rate: rate, Expect: l.offered(),
			Partial: func(text string) { l.x.call(func(l *loop) { l.show(Event{Kind: Tentative, Text: text}) }) },
		}
	}
	return e
}

// canHear reports whether the person's speech is transcribed.
func (l *hearer) canHear() bool {
	if l.person == nil || l.person.services == nil {
		return false
	}
	b := l.x.start.Browser
	return b == nil || b.State() == BrowserOn
}

// offered returns the choices that the person has now.
func (l *hearer) offered() []string {
	if l.confirm != "" {
		return []string{l.x.words.Yes, l.x.words.No}
	}
	return l.choices
}

// awaits reports whether the person has not yet been played the response to their last words, or the first sound of
// the agent's next words.
func (l *hearer) awaits(now time.Time) bool {
	if l.unanswered && (l.answer != nil || !l.owed.IsZero() || l.mouth.busy(now)) {
		return true
	}
	r := l.response
	return r != nil && r.samples == 0 && l.mouth.busy(now) && l.mate == nil
}

// hasKeys reports whether the person is on a telephone.
func (l *hearer) hasKeys() bool {
	line := l.x.start.Line
	return line != nil && line.Digits() != nil
}

// hear processes the person's sound.
func (l *hearer) hear(pcm []int16) {
	if l.mate != nil {
		l.toMate(pcm)
	}
	if l.canHear() || !l.informed && l.x.start.Browser == nil {
		l.person.add(l.ctx, pcm, l.silence(l.person))
	}
}

// began handles the beginning of the person's speech.
func (l *hearer) began(u *utterance) {
	l.idleSince = time.Now()
	u.early = l.awaits(l.idleSince)
	u.continues = u.early && !l.spoke.IsZero() && l.idleSince.Sub(l.spoke) <= joinWithin
	l.asks()
	if !l.canHear() {
		l.person.close()
		l.person.ears.talking = false
		if l.informed || l.x.start.Browser != nil { // by an earlier word in the same sound, or once the browser reports a failure
			return
		}
		l.informed = true
		l.stopTalking()
		if l.hasKeys() {
			l.sayNow(l.x.words.KeysOnly)
		} else {
			l.sayNow(l.x.words.CannotHear)
		}
		return
	}
	l.goes(u)
}

// goes handles continued speech of the person while we speak: our words get quieter, then stop.
func (l *hearer) goes(u *utterance) {
	if l.mate != nil || l.held != nil || !cuts(u.spoken) || !l.mouth.busy(time.Now()) {
		return
	}
	l.x.all.o.Observer.Took("silence", u.spoken)
	l.cut(time.Now())
}

// endedUtterance handles the end of the person's speech.
func (l *hearer) endedUtterance(u *utterance) {
	if l.mate == nil && l.conversation.State == chats.Automated {
		l.owed, l.unanswered = u.ended, true
	}
	l.x.all.o.Observer.Took("detect", u.detect)
}

// understood handles the transcript of an utterance.
func (l *hearer) understood(u *utterance, t Transcript, err error) {
	l.x.all.o.Observer.Took("transcribe", u.took)
	if err != nil {
		l.x.all.o.Observer.Failed("transcriber")
		l.x.all.o.Log.WarnContext(l.ctx, "transcribe", "company", l.x.start.CompanyID, "conversation", l.x.start.ConversationID,
			"error", err)
	}
	if l.held != nil && err == nil && !l.chooses(t.Text) && resumes(t.Text, u.spoken, l.x.language()) && l.unheard() >= minResume {
		l.owed, l.unanswered = time.Time{}, u.early
		l.resume()
		return
	}
	l.drop()
	v := voiceOf(u)
	v.HeardBy = t.HeardBy
	if l.confirm != "" && t.Text != "" {
		l.confirmed(t.Text, v)
		return
	}
	switch {
	case t.Text == "" && !l.canHear(): // the browser has failed, and the person was informed
		l.owed, l.unanswered = time.Time{}, u.early
	case t.Text == "":
		l.unanswered = u.early
		l.notUnderstood(err)
	case t.Confirm && !l.refusesRecording(t.Text):
		l.confirm = t.Text
		l.owed, l.unanswered = time.Time{}, false
		l.sayEphemeral(fmt.Sprintf(l.x.words.Confirm, t.Text))
	default:
		in := Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: t.Text, Voice: v, Early: u.early}
		if t.final != nil {
			in.late = l.awaitFinal(t.final, in)
		}
		l.sayFor(in)
	}
}

// chooses reports whether a text is one of the choices.
func (l *hearer) chooses(text string) bool {
	words := knowledge.Words(text)
	return slices.ContainsFunc(l.offered(), func(c string) bool { return slices.Equal(knowledge.Words(c), words) })
}

// unheard returns how much of the interrupted words is known to be unplayed.
func (l *talker) unheard() time.Duration {
	n := 0
	for _, p := range l.held.unheard {
		if !p.made {
			return minResume
		}
		n += len(p.pcm) - p.taken
	}
	return l.mouth.length(n)
}

// voiceOf returns the timing of an utterance.
func voiceOf(u *utterance) *chats.Voice {
	return &chats.Voice{
		LengthMS: u.length.Milliseconds(), DetectMS: max(u.detect.Milliseconds(), 1), TranscribeMS: max(u.took.Milliseconds(), 1),
		Continues: u.continues,
	}
}

// confirmed handles the answer to "did I understand that right?".
func (l *hearer) confirmed(text string, v *chats.Voice) {
	asked := l.confirm
	l.confirm = ""
	switch {
	case agent.Agrees(text):
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: asked, Voice: v})
	case agent.Declines(text):
		l.owed, l.unanswered = time.Time{}, false
		l.sayEphemeral(l.repeat())
	default: // other words
		l.sayFor(Saying{ClientID: l.newClientID(), Kind: chats.KindText, Text: text, Voice: v})
	}
}

const maxRepeats = 2

// notUnderstood asks the person to repeat their words, and offers a teammate after a few times.
func (l *hearer) notUnderstood(err error) {
	l.owed = time.Time{}
	if l.mate != nil || l.conversation.State != chats.Automated {
		return
	}
	if l.repeats++; l.repeats > maxRepeats || err != nil && !errors.Is(err, context.DeadlineExceeded) && l.repeats > 1 {
		l.repeats = 0
		l.announce(l.x.words.Busy, []string{l.x.words.Person}, false)
		return
	}
	l.sayEphemeral(l.repeat())
}

// repeat returns the request to say something again.
func (l *hearer) repeat() string {
	if l.hasKeys() {
		return l.x.words.RepeatCall
	}
	return l.x.words.Repeat
}

// missed returns the words for a person whom no teammate can join.
func (l *hearer) missed() string {
	if l.hasKeys() {
		return l.x.words.MissedCall
	}
	return l.x.words.Missed
}

// sayFor stores the person's words and requests a response of the agent.
func (l *hearer) sayFor(in Saying) {
	l.active()
	alone := l.checkRefusal(in.Text)
	if l.x.start.Stop != nil && l.mate == nil && stops(in.Text) {
		if in.Voice != nil {
			l.show(Event{Kind: Transcribed, Text: in.Text})
		}
		l.stop(in)
		return
	}
	if t := l.x.start.Transfer; t != nil && l.mate == nil && l.conversation.State == chats.Automated && t.Wanted(in.Text) {
		if in.Voice != nil {
			l.show(Event{Kind: Transcribed, Text: in.Text})
		}
		l.transfer(in)
		return
	}
	if alone && l.mate == nil {
		if in.Voice != nil {
			l.show(Event{Kind: Transcribed, Text: in.Text})
		}
		l.refuse(in)
		return
	}
	if l.entry != nil && l.entry.keys == in.Digits {
		l.entry = nil
	}
	l.keepAll()
	l.repeats, l.confirm, l.spoke = 0, "", time.Time{}
	if in.Voice != nil {
		l.spoke = time.Now()
	}
	if l.person.speaks() { // the words being spoken are for a question that is now answered
		l.person.current.early = true
	}
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
	l.before, l.choices = l.choices, nil
	if l.mate == nil && (l.conversation.State == chats.Automated || l.conversation.State == chats.Resolved) {
		l.owed, l.filled, l.unanswered = time.Now(), time.Time{}, true
	} else {
		l.owed, l.unanswered = time.Time{}, false
	}
	l.dropAnswer()
	l.store(func(ctx context.Context) error {
		t, err := l.dialogue().Say(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in)
		l.later(func(l *loop) {
			if w := in.late; w != nil && t != nil {
				w.seq = t.Seq
				l.correct(w)
			}
			l.stored(t, err)
		})
		return err
	})
}

// stored handles a turn of the person that was stored.
func (l *hearer) stored(t *chats.Turn, err error) {
	if err != nil || t == nil {
		l.owed = time.Time{}
		l.show(Event{Kind: Failure, Code: "not_stored", Text: l.x.words.Busy})
		l.sayEphemeral(l.x.words.Busy)
		return
	}
	switch state := l.conversation.State; {
	case l.mate != nil, state == chats.Active, state == chats.Queued:
		l.lookUp() // the agent may have the conversation again, with a response still to give
	case state == chats.Missed:
		l.sayEphemeral(l.x.words.Noted)
	case state == chats.Automated, state == chats.Resolved, state == chats.Abandoned:
		l.respond()
	}
}

// stop ends the session of a person who wants no more calls.
func (l *hearer) stop(in Saying) {
	l.dropAnswer()
	l.stopTalking()
	l.owed = time.Time{}
	l.store(func(ctx context.Context) error {
		_, err := l.dialogue().Say(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in)
		stopped := l.x.start.Stop(ctx)
		l.later(func(l *loop) {
			text := l.x.words.Stopped
			switch {
			case stopped != nil:
				text = l.x.words.NotStopped
			case l.x.start.StopsMarketing:
				text = l.x.words.NoAds
			}
			l.announce(text, nil, true)
			l.finish("stopped")
		})
		return errors.Join(err, stopped)
	})
}

// transfer ends the session of a person who wants to be connected with a number, after the words that announce it.
func (l *hearer) transfer(in Saying) {
	l.show(Event{Kind: TransferAsked, Text: in.Text})
	l.dropAnswer()
	l.stopTalking()
	l.owed = time.Time{}
	l.store(func(ctx context.Context) error {
		_, err := l.dialogue().Say(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in)
		l.later(func(l *loop) {
			l.announce(cmp.Or(l.x.start.Transfer.Message, l.x.words.Transfers), nil, true)
			l.finish(TransferWanted)
		})
		return err
	})
}
