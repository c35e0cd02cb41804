package voice

import (
	"context"
	"errors"
	"io"

	"carillon"
	"carillon/internal/base/audio"
)

// Teammate is a member of the company who talks with the person.
type Teammate struct {
	CompanyID, AccountID, Name, ConversationID string
	Line                                       Line
	Show                                       func(Event)
}

// mate is a teammate in a session.
type mate struct {
	Teammate
	ears *listener
	left chan struct{} // closed when the session no longer needs the teammate
	// convert between the rates of the two lines
	toPerson, toMate *audio.Resampler
}

// Join connects a teammate with the person, on any node, until the teammate leaves or the session ends. Errors:
// not_found without a session in the conversation, conflict if another teammate has joined.
func (s *Sessions) Join(ctx context.Context, t Teammate) error {
	if s.o.Nodes != nil && !s.Talking(t.CompanyID, t.ConversationID) {
		return s.joinFar(ctx, t)
	}
	return s.join(ctx, t)
}

// join connects a teammate with a person on this node.
func (s *Sessions) join(ctx context.Context, t Teammate) error {
	s.mu.Lock()
	x := s.live[talkKey{t.CompanyID, t.ConversationID}]
	s.mu.Unlock()
	if x == nil {
		return carillon.Absent("Talk")
	}
	m := &mate{Teammate: t, left: make(chan struct{})}
	joined := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x.call(func(l *loop) { joined <- l.join(m) })
	select {
	case err := <-joined:
		if err != nil {
			return err
		}
	case <-x.done:
		return carillon.Absent("Talk")
	}
	defer x.call(func(l *loop) { l.leave(m) })
	go func() {
		select {
		case <-m.left:
		case <-x.done:
		case <-ctx.Done():
		}
		cancel()
	}()
	for {
		pcm, err := t.Line.Read(ctx)
		switch {
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		x.call(func(l *loop) { l.fromMate(m, pcm) })
	}
}

// join connects a teammate, whose sound replaces the agent's from now on.
func (l *relay) join(m *mate) error {
	if l.mate != nil && l.mate.AccountID != m.AccountID {
		return carillon.InConflict("Another teammate is talking with the person")
	}
	if line := l.x.start.Line; line != nil { // a telephone has another rate than a browser
		var err error
		if m.toPerson, err = audio.NewResampler(m.Line.Rate(), line.Rate()); err != nil {
			return err
		}
		if m.toMate, err = audio.NewResampler(line.Rate(), m.Line.Rate()); err != nil {
			return err
		}
	}
	if l.mate != nil { // the same one, from another page
		close(l.mate.left)
		l.mate.ears.close()
	}
	l.stopTalking()
	l.mate = m
	m.ears = l.listener(m.Line.Rate(), nil)
	m.ears.onBegan, m.ears.onGoes, m.ears.onOver = func(*utterance) {}, func(*utterance) {}, func(*utterance) {}
	m.ears.onText = func(u *utterance, t Transcript, err error) {
		if err == nil && t.Text != "" {
			l.mateSaid(m, u, t.Text)
		}
	}
	l.show(Event{Kind: Connected, Name: m.Name})
	m.Show(Event{Kind: Moved, State: l.conversation.State})
	l.lookUp()
	return nil
}

// leave disconnects a teammate.
func (l *relay) leave(m *mate) {
	if l.mate != m {
		return
	}
	l.mate = nil
	m.ears.close()
	l.show(Event{Kind: Gone, Name: m.Name})
}

// fromMate passes on the teammate's sound.
func (l *relay) fromMate(m *mate, pcm []int16) {
	if l.mate != m {
		return
	}
	if l.x.start.Line != nil {
		l.writeLine(m.toPerson.Write(pcm))
	}
	if m.ears.services != nil {
		m.ears.add(l.ctx, pcm, l.silence(m.ears))
	}
}

// toMate passes on the person's sound.
func (l *relay) toMate(pcm []int16) {
	if err := l.mate.Line.Write(l.mate.toMate.Write(pcm)); err != nil {
		close(l.mate.left)
		l.leave(l.mate)
	}
}

// mateSaid stores a teammate's words and shows them to both.
func (l *relay) mateSaid(m *mate, u *utterance, text string) {
	id := l.newClientID()
	in := Saying{ClientID: id, Kind: "text", Text: text, Voice: voiceOf(u)}
	e := Event{Kind: Said, Author: "teammate", Name: m.Name, Text: text}
	l.show(e)
	m.Show(e)
	l.store(func(ctx context.Context) error {
		_, err := l.dialogue().Answer(ctx, m.Teammate, in)
		return err
	})
}

// dropMate disconnects the teammate.
func (l *relay) dropMate() {
	if m := l.mate; m != nil {
		close(m.left)
		l.leave(m)
	}
}
