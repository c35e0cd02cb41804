package telephone

import (
	"context"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/audio"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/voice"
)

// An answering machine is recognized by its sound: a person says a word or two and waits; a machine continues. This is
// a guess, and recorded as one. A person who answers the agent's questions may hardly pause between two answers, so
// short transcribed utterances do not count.
const (
	listenFor    = 8 * time.Second // after the answer
	longGreeting = 3500 * time.Millisecond
	shortPause   = 700 * time.Millisecond
	loud         = 250.0 // RMS of speech on a telephone
	fewWords     = 3
	maxGreeting  = 25 * time.Second
	quietAfter   = 1200 * time.Millisecond // silence after which a greeting counts as ended
)

// machine wraps the line of a call until the kind of callee is known.
type machine struct {
	line  voice.Line
	rate  int
	found func()

	mu      sync.Mutex
	heard   time.Duration // sound since the answer
	speech  time.Duration // speech without a pause
	silence time.Duration
	machine bool
	decided bool
}

// Rate implements voice.Line.
func (m *machine) Rate() int { return m.line.Rate() }

// Write implements voice.Line.
func (m *machine) Write(pcm []int16) error { return m.line.Write(pcm) }

// Clear implements voice.Line.
func (m *machine) Clear() error { return m.line.Clear() }

// Lead implements voice.Line.
func (m *machine) Lead() time.Duration { return m.line.Lead() }

// Digits implements voice.Line.
func (m *machine) Digits() <-chan rune { return m.line.Digits() }

// Read implements voice.Line.
func (m *machine) Read(ctx context.Context) ([]int16, error) {
	pcm, err := m.line.Read(ctx)
	if err == nil && m.listen(pcm) {
		m.found()
	}
	return pcm, err
}

// listen processes sound. It returns true once, when a machine has answered.
func (m *machine) listen(pcm []int16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.decided {
		return false
	}
	d := audio.Duration(len(pcm), m.rate)
	m.heard += d
	if audio.RMS(pcm) >= loud {
		m.speech += d + m.silence
		m.silence = 0
	} else if m.silence += d; m.silence > shortPause {
		m.speech, m.silence = 0, 0
	}
	m.machine = m.speech >= longGreeting
	m.decided = m.machine || m.heard >= listenFor
	return m.machine
}

// understood processes the transcript of an utterance.
func (m *machine) understood(text string) {
	if len(strings.Fields(text)) > fewWords {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.speech, m.silence = 0, 0
}

func (m *machine) isMachine() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine
}

// leaveMessage waits for the end of a machine's greeting and leaves the agent's message, if it has one.
func (p *placed) leaveMessage(ctx context.Context, c *sip.Call, m *machine, conversationID string) dial.Ending {
	defer p.leave(ctx, conversationID)
	e := dial.Ending{
		State: carillon.StateVoicemail, AnsweredBy: "machine", EndedBy: "system",
		Detail: "a machine answered, as far as can be told from its sound",
	}
	if p.agent.Voicemail == "" {
		return e
	}
	_ = c.Clear()
	silence := time.Duration(0)
	for waited := time.Duration(0); waited < maxGreeting && silence < quietAfter; {
		pcm, err := c.Read(ctx)
		if err != nil {
			return e
		}
		d := audio.Duration(len(pcm), m.rate)
		if waited += d; audio.RMS(pcm) >= loud {
			silence = 0
		} else {
			silence += d
		}
	}
	if err := p.say(ctx, c, p.agent.Voicemail); err != nil {
		e.Detail += "; the message was not left: " + err.Error()
	}
	e.EndedBy = "agent"
	return e
}

// say speaks a text and waits until it was played.
func (p *placed) say(ctx context.Context, c *sip.Call, text string) error {
	total := time.Duration(0)
	var begin time.Time // beginning of the sound
	err := p.o.Voices.Speak(ctx, voice.Utterance{
		CompanyID: p.line.CompanyID, Voice: p.agent.Voice.Settings(), Language: p.agent.Language,
		Text: voice.Fill(text, p.call.Contact), Rate: c.Rate(),
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
	case <-ctx.Done():
	}
	return ctx.Err()
}
