package voice

import (
	"context"
	"errors"
	"time"
)

const (
	makerQueue   = 512 // sentences that wait for their sound
	silentSpeech = 2500 * time.Millisecond
)

// maker produces the sound of parts in order, on its own goroutine.
type maker struct {
	x      *Session
	ctx    context.Context //nolint:containedctx // of the session
	pieces chan piece
	queue  chan making
	stop   context.CancelFunc // abandons the queue
	until  context.Context    //nolint:containedctx // context that stop cancels
}

// making is a part whose sound is requested, until ctx ends.
type making struct {
	ctx  context.Context //nolint:containedctx // for one part
	part *part
}

// piece is a piece of a part's sound.
type piece struct {
	part *part
	pcm  []int16
	end  bool
	err  error // set with end
}

func newMaker(ctx context.Context, x *Session) *maker {
	m := &maker{x: x, ctx: ctx, pieces: make(chan piece), queue: make(chan making, makerQueue)}
	m.until, m.stop = context.WithCancel(ctx)
	go m.run()
	return m
}

// make queues a part. It returns false if too many are waiting.
func (m *maker) make(p *part) bool {
	select {
	case m.queue <- making{m.until, p}:
		return true
	default:
		return false
	}
}

// clear abandons the queue.
func (m *maker) clear() {
	m.stop()
	m.until, m.stop = context.WithCancel(m.ctx)
}

func (m *maker) run() {
	for {
		select {
		case <-m.ctx.Done():
			return
		case x := <-m.queue:
			if x.ctx.Err() != nil {
				continue
			}
			err := m.speak(x)
			if x.ctx.Err() != nil {
				continue // it was cleared, so the speaker did not fail
			}
			_ = m.pass(x, piece{part: x.part, end: true, err: err}) // an error means that the loop has ended
		}
	}
}

// pass passes a piece of sound to the loop.
func (m *maker) pass(x making, p piece) error {
	select {
	case m.pieces <- p:
		return nil
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
}

var errSilent = errors.New("the speaker was silent for too long")

// speak produces the sound of a part. If its speaker fails before any sound, the fallback speaks.
func (m *maker) speak(x making) error {
	o := &m.x.all.o
	u := Utterance{
		CompanyID: m.x.start.CompanyID, Voice: m.x.voice, Language: m.x.language(), Text: pronounced(x.part.text, m.x.language()),
		Rate: m.rate(),
	}
	if u.Text == "" {
		return nil
	}
	begun, err := m.try(x, o.Speakers[m.x.voice.Speaker], u)
	if err == nil || begun || x.ctx.Err() != nil || m.x.voice.Speaker == o.Fallback {
		return err
	}
	o.Log.WarnContext(x.ctx, "speak with the fallback", "company", u.CompanyID, "conversation", m.x.start.ConversationID, "speaker",
		m.x.voice.Speaker, "error", err)
	o.Observer.Failed("speaker")
	voice := *m.x.voice
	voice.Name = "" // the name belongs to the other speaker
	u.Voice = &voice
	_, err = m.try(x, o.Speakers[o.Fallback], u)
	return err
}

func (m *maker) rate() int {
	if m.x.start.Line == nil {
		return 16000
	}
	return m.x.start.Line.Rate()
}

// try lets one speaker speak. begun reports whether there was any sound. A speaker that is silent for too long has
// failed.
func (m *maker) try(x making, s Speaker, u Utterance) (begun bool, err error) {
	if s == nil {
		return false, errors.New("there is no such speaker")
	}
	ctx, cancel := context.WithCancelCause(x.ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silentSpeech, func() { cancel(errSilent) })
	defer silent.Stop()
	err = Guard(func() error {
		return s.Speak(ctx, u, func(pcm []int16) error {
			begun = true
			silent.Stop() // while the loop does not accept the piece, the speaker does not count as silent
			defer silent.Reset(silentSpeech)
			return m.pass(x, piece{part: x.part, pcm: append([]int16(nil), pcm...)})
		})
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return begun, err
}

// Speak speaks outside a session, for example to an answering machine. If the speaker fails before any sound, the
// fallback speaks.
func (s *Sessions) Speak(ctx context.Context, u Utterance, emit func(pcm []int16) error) error {
	speaker := s.o.Speakers[u.Voice.Speaker]
	if speaker == nil {
		speaker = s.o.Speakers[s.o.Fallback]
	}
	u.Text = pronounced(u.Text, u.Language)
	trying, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silentSpeech, func() { cancel(errSilent) })
	defer silent.Stop()
	begun := false
	err := speaker.Speak(trying, u, func(pcm []int16) error {
		begun = true
		silent.Stop()
		return emit(pcm)
	})
	if err == nil || begun || ctx.Err() != nil || u.Voice.Speaker == s.o.Fallback {
		return err
	}
	s.o.Log.WarnContext(ctx, "speak with the fallback", "company", u.CompanyID, "speaker", u.Voice.Speaker, "error", err)
	s.o.Observer.Failed("speaker")
	voice := *u.Voice
	voice.Name = ""
	u.Voice = &voice
	return s.o.Speakers[s.o.Fallback].Speak(ctx, u, emit)
}
