package callee

import "time"

const (
	afterBeep    = 200 * time.Millisecond
	beepRestarts = 3 * time.Second         // a beep that early into the message restarts it
	quietAfter   = 1500 * time.Millisecond // silence after which a greeting without a beep counts as ended
	maxGreeting  = 25 * time.Second
	interrupts   = 400 * time.Millisecond // speech over our message
	shortSpeech  = 2500 * time.Millisecond
	waitsAfter   = time.Second // silence of a person who waits for our words
)

// Act is the next step in leaving a message.
type Act int

// Acts.
const (
	Wait   Act = iota
	Speak      // begin the message
	Stop       // stop the message; it may begin again
	GiveUp     // say nothing more: the mailbox takes no message
	Greet      // somebody is there
)

// Mailbox decides when the message is left: after the beep, or after the greeting if there is none.
type Mailbox struct {
	t         *Tracker
	since     time.Duration
	began     time.Duration // beginning of the message
	greeted   time.Duration // speech before it
	restarted bool
	stopped   bool // somebody spoke over the message
	handled   *Beep
}

// NewMailbox returns a Mailbox for a callee that was recognized now.
func NewMailbox(t *Tracker) *Mailbox { return &Mailbox{t: t, since: t.at} }

// Next returns the act after each piece of sound. speaking means that the message is being played.
func (m *Mailbox) Next(speaking bool) Act {
	t := m.t
	t.ours = speaking
	if t.kind == Unavailable {
		return GiveUp
	}
	beep := t.beep
	if beep == m.handled {
		beep = nil
	}
	if speaking {
		return m.spoken(beep)
	}
	switch {
	case beep != nil && t.at < beep.To+afterBeep:
		return Wait
	case beep != nil:
		m.handled = beep
	case m.stopped && t.quiet >= waitsAfter && t.length <= shortSpeech:
		return Greet
	case t.quiet >= quietAfter && t.greeted > 0 && !t.tones.sounds(), t.at-m.since >= maxGreeting:
	default:
		return Wait
	}
	m.began, m.greeted, m.stopped = t.at, t.greeted, false
	return Speak
}

// spoken returns the act while the message is being played.
func (m *Mailbox) spoken(beep *Beep) Act {
	t := m.t
	switch {
	case m.restarted:
	case beep != nil && beep.To-m.began <= beepRestarts:
		m.restarted = true
		return Stop
	case t.tones.sounds() && t.at-m.began <= beepRestarts:
		return Wait // the end of the tone decides
	}
	if t.greeted-m.greeted >= interrupts {
		m.stopped = !m.restarted
		m.restarted = true
		return Stop
	}
	return Wait
}
