package telephone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/audio"
	"carillon/internal/call/callee"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

// booth deals with a machine that answered a call: it leaves the message, answers a screener, or presses the keys of a
// menu, until a person is there or nothing is left to do.
//
//	voicemail ─▶ message after the beep ─▶ end
//	screening ─▶ who calls and why ─▶ wait ─▶ person, voicemail, end
//	menu ─▶ keys ─▶ wait ─▶ person, voicemail, end
type booth struct {
	*placed
	line           *sip.Call
	conversationID string
	tracker        *callee.Tracker
	scribe         *scribe

	speaking chan error // result of the words being spoken; nil for none
	hush     context.CancelFunc
}

const (
	promptEnds = 700 * time.Millisecond // silence after which a prompt is answered
	personEnds = time.Second            // silence of a person who waits for our words
	maxWait    = time.Minute            // for a person, after a screener or a menu
	shortWords = 2500 * time.Millisecond
	maxPrompts = 2
	maxPrompt  = 20 * time.Second
	keyPause   = time.Second // for a w among the keys of a menu
)

// Values of Ending.AnsweredBy.
const (
	byMachine  = "machine"
	byScreener = "screener"
	byMenu     = "menu"
)

// machine deals with a machine. person means that the agent talks with a person now.
func (p *placed) machine(ctx context.Context, c *sip.Call, t *callee.Tracker, conversationID string) (e dial.Ending, person bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := p.agent.Voice.Settings()
	b := &booth{
		placed: p, line: c, conversationID: conversationID, tracker: t,
		scribe: newScribe(ctx, p.o.Voices.Transcriber(v), p.line.CompanyID, v, p.agent.Language, c.Rate()),
	}
	_ = c.Clear()
	defer b.silence()
	e = dial.Ending{State: carillon.StateVoicemail, AnsweredBy: byMachine, EndedBy: "system", Detail: "answered by: " + t.Kind().String()}
	var err error
	switch t.Kind() {
	case callee.Screening:
		person, err = b.screened(ctx, &e)
	case callee.Menu:
		person, err = b.menu(ctx, &e)
	default:
		person, err = b.message(ctx, &e)
	}
	if person {
		return e, true
	}
	switch cause := c.Cause(); {
	case cause.By == sip.Them:
		e.EndedBy, e.Cause = p.endedBy(cause), cmp.Or(e.Cause, cause.Text)
	case err != nil && ctx.Err() == nil && !errors.Is(err, errGone):
		e.Detail += "; " + err.Error()
	}
	return e, false
}

var errGone = errors.New("the line ended")

// hear adds the next piece of sound, and the words that were understood.
func (b *booth) hear(ctx context.Context) (words []said, err error) {
	pcm, err := b.line.Read(ctx)
	if err != nil {
		return nil, errors.Join(errGone, err)
	}
	b.tracker.Sound(pcm)
	b.scribe.hear(pcm, b.tracker.Quiet())
	for {
		select {
		case x := <-b.scribe.texts:
			b.tracker.Words(x.text, true)
			words = append(words, x)
		default:
			return words, nil
		}
	}
}

// say begins to speak a text.
func (b *booth) say(ctx context.Context, text string) {
	b.silence()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	b.speaking, b.hush = done, cancel
	go func() { done <- b.speak(ctx, b.line, text) }()
}

// spoken reports whether the words were spoken to their end, if that is known now.
func (b *booth) spoken() (done bool, err error) {
	select {
	case err := <-b.speaking:
		b.hush()
		b.speaking, b.hush = nil, nil
		return true, err
	default:
		return false, nil
	}
}

// silence stops our words.
func (b *booth) silence() {
	if b.speaking == nil {
		return
	}
	b.hush()
	<-b.speaking
	b.speaking, b.hush = nil, nil
	_ = b.line.Clear()
}

// message leaves the agent's message. person means that somebody spoke over it and waits.
func (b *booth) message(ctx context.Context, e *dial.Ending) (person bool, err error) {
	text := voice.Fill(b.agent.Voicemail, b.call.Contact)
	if text == "" {
		return false, nil
	}
	for m := callee.NewMailbox(b.tracker); ; {
		if _, err := b.hear(ctx); err != nil {
			return false, err
		}
		if done, err := b.spoken(); done {
			if err == nil {
				b.record(ctx, text)
				e.EndedBy = "agent"
			}
			return false, err
		}
		switch m.Next(b.speaking != nil) {
		case callee.Speak:
			b.say(ctx, text)
		case callee.Stop:
			b.silence()
		case callee.GiveUp:
			b.silence()
			e.Cause = "The mailbox takes no message"
			return false, nil
		case callee.Greet:
			return true, nil
		case callee.Wait:
		}
	}
}

// record adds our words to the conversation.
func (b *booth) record(ctx context.Context, text string) {
	in := voice.Saying{ClientID: carillon.NewID(time.Now()), Kind: chats.KindText, Text: text}
	a := conversation.NewAloud(b.o.Conversations)
	if _, err := a.Announce(context.WithoutCancel(ctx), b.placed.line.CompanyID, b.conversationID, in, false); err != nil {
		b.o.Log.WarnContext(ctx, "store a message to a machine", "company", b.placed.line.CompanyID, "call", b.call.ID, "error", err)
	}
}

// screened answers a screener. person means that the person takes the call.
func (b *booth) screened(ctx context.Context, e *dial.Ending) (person bool, err error) {
	e.AnsweredBy = byScreener
	for range maxPrompts {
		if err := b.prompted(ctx); err != nil {
			return false, err
		}
		b.tracker.Forget()
		text := b.introduction()
		b.say(ctx, text)
		kind, err := b.await(ctx)
		b.record(ctx, text)
		if err != nil || kind != callee.Screening {
			return b.proceed(ctx, e, kind, err)
		}
	}
	e.EndedBy, e.Cause = "agent", "Screened"
	return false, nil
}

// introduction returns who calls whom and why.
func (b *booth) introduction() string {
	w := wordsOf(b.agent.Language)
	parts := []string{fmt.Sprintf(w.caller, b.company)}
	if name := strings.TrimSpace(b.call.Contact["first_name"]); name != "" {
		parts = append(parts, fmt.Sprintf(w.wanted, name))
	}
	if about := voice.Fill(b.agent.Purpose, b.call.Contact); about != "" {
		parts = append(parts, fmt.Sprintf(w.about, strings.TrimRight(about, ".")))
	}
	return strings.Join(parts, ", ") + "."
}

// menu presses the keys that the agent was given.
func (b *booth) menu(ctx context.Context, e *dial.Ending) (person bool, err error) {
	e.AnsweredBy = byMenu
	if b.agent.MenuKeys == "" {
		return false, nil
	}
	if err := b.prompted(ctx); err != nil {
		return false, err
	}
	b.tracker.Forget()
	for keys := range strings.SplitSeq(b.agent.MenuKeys, "w") {
		if keys != "" {
			b.line.SendDigits(keys)
		}
		if err := b.listen(ctx, keyPause); err != nil {
			return false, err
		}
	}
	kind, err := b.await(ctx)
	return b.proceed(ctx, e, kind, err)
}

// proceed continues after a screener or a menu.
func (b *booth) proceed(ctx context.Context, e *dial.Ending, kind callee.Kind, err error) (person bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case kind == callee.Person:
		return true, nil
	case kind == callee.Voicemail, kind == callee.Unavailable:
		e.AnsweredBy = byMachine
		return b.message(ctx, e)
	}
	e.EndedBy = "agent"
	return false, nil
}

// prompted waits for the end of a prompt.
func (b *booth) prompted(ctx context.Context) error {
	for since := b.tracker.At(); b.tracker.Quiet() < promptEnds && b.tracker.At()-since < maxPrompt; {
		if _, err := b.hear(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *booth) listen(ctx context.Context, d time.Duration) error {
	for since := b.tracker.At(); b.tracker.At()-since < d; {
		if _, err := b.hear(ctx); err != nil {
			return err
		}
	}
	return nil
}

// await waits for a person, or for the next words of a machine. It returns Unknown if nobody came.
func (b *booth) await(ctx context.Context) (callee.Kind, error) {
	heard := ""
	for since := b.tracker.At(); b.tracker.At()-since < maxWait; {
		words, err := b.hear(ctx)
		if err != nil {
			return callee.Unknown, err
		}
		_, _ = b.spoken() // a failure leaves the wait
		if kind := b.tracker.Kind(); kind.Machine() && kind != callee.Menu {
			return kind, nil
		}
		for _, x := range words {
			if heard = ""; x.length <= shortWords && x.text != "" && !callee.Holds(x.text) {
				heard = x.text
			}
		}
		deaf := b.scribe.transcriber == nil && b.tracker.Speech() > 0 && b.tracker.Speech() <= shortWords
		if (heard != "" || deaf) && b.speaking == nil && b.tracker.Quiet() >= personEnds {
			b.greeted(ctx, heard)
			return callee.Person, nil
		}
	}
	return callee.Unknown, nil
}

// greeted records the first words of the person.
func (b *booth) greeted(ctx context.Context, text string) {
	if text == "" {
		return
	}
	in := voice.Saying{ClientID: carillon.NewID(time.Now()), Kind: chats.KindText, Text: text, Early: true, Quiet: true}
	a := conversation.NewAloud(b.o.Conversations)
	if _, err := a.Say(context.WithoutCancel(ctx), b.placed.line.CompanyID, b.conversationID, in); err != nil {
		b.o.Log.WarnContext(ctx, "store a person's first words", "company", b.placed.line.CompanyID, "call", b.call.ID, "error", err)
	}
}

// speak speaks a text and waits until it was played.
func (p *placed) speak(ctx context.Context, c *sip.Call, text string) error {
	total := time.Duration(0)
	var begin time.Time // beginning of the sound
	err := p.o.Voices.Speak(ctx, voice.Utterance{
		CompanyID: p.line.CompanyID, Voice: p.agent.Voice.Settings(), Language: p.agent.Language, Text: text, Rate: c.Rate(),
	}, func(pcm []int16) error {
		if begin.IsZero() {
			begin = time.Now()
		}
		total += audio.Duration(len(pcm), c.Rate())
		return c.Write(pcm)
	})
	if err != nil {
		return err
	}
	select {
	case <-time.After(time.Until(begin.Add(total + 200*time.Millisecond))):
	case <-c.Done():
		return errGone
	case <-ctx.Done():
	}
	return ctx.Err()
}
