package handset

import (
	"context"
	"math"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/call/rtp"
	"carillon/internal/call/sip"
	"carillon/internal/send/sandbox"
)

// script is the course of a call: one row of the guide's table of calls.
type script struct {
	suffix string
	effect string // as the guide describes it
	first  int    // number of first attempts with this course; later ones are ordinary calls; 0 means all
	rings  bool
	slow   bool   // delayed by Delays.Slow
	at     moment // time from dialing to the answer or refusal
	code   int    // status of the refusal
	reason string
	talk   func(ctx context.Context, c *callee) // runs after the answer; nil means the call is refused
}

// moment is the time at which the phone answers or refuses a call.
type moment int

const (
	atOnce moment = iota
	onRinging
	onAnswered
	onEnded
	never
)

func (m moment) in(d *sandbox.Delays) time.Duration {
	return [...]time.Duration{atOnce: 0, onRinging: d.Ringing, onAnswered: d.Answered, onEnded: d.Ended, never: maxCall}[m]
}

var ordinaryCall = script{rings: true, at: onAnswered, talk: listens} //nolint:gochecknoglobals // read only

// scripts is the table.
var scripts = []script{ //nolint:gochecknoglobals // read-only table
	{suffix: "0001", effect: "`failed` immediately, reason `undeliverable`", code: 404, reason: "Not Found"},
	{
		suffix: "0002", effect: "the line is faulty twice, which uses up no attempt; then the call is answered", first: 2,
		code: 503, reason: "Service Unavailable",
	},
	{suffix: "0009", effect: "rings 5 s longer before it is answered", rings: true, slow: true, at: onAnswered, talk: listens},
	{suffix: "0011", effect: "`busy`", at: onRinging, code: 486, reason: "Busy Here"},
	{
		suffix: "0012", effect: "rings until the line's `ring_timeout`, 4 s at most, then `no_answer`",
		rings: true, at: onEnded, code: 480, reason: "Temporarily Unavailable",
	},
	{suffix: "0013", effect: "rings, then `rejected`", rings: true, at: onAnswered, code: 603, reason: "Decline"},
	{suffix: "0014", effect: "rings, is answered by a machine, then `voicemail`", rings: true, at: onAnswered, talk: greetsAsMachine},
	{suffix: "0015", effect: "`failed`, reason `provider_refused`", at: onRinging, code: 488, reason: "Not Acceptable Here"},
	{
		suffix: "0016", effect: "the first attempt is `busy`, the next one is answered", first: 1, at: onRinging, code: 486,
		reason: "Busy Here",
	},
	{
		suffix: "0017", effect: "is answered, and hung up by the callee immediately: `completed`", rings: true, at: onAnswered,
		talk: func(context.Context, *callee) {},
	},
	{
		suffix: "0018", effect: "is answered; presses 1 whenever the agent waits, three times, and hangs up", rings: true,
		at: onAnswered, talk: presses("1", 3),
	},
	{suffix: "0019", effect: "is answered; presses 9, to opt out of calls", rings: true, at: onAnswered, talk: presses("9", 1)},
	{
		suffix: "0020", effect: "is answered and says nothing: the agent asks twice, and says goodbye", rings: true, at: onAnswered,
		talk: isSilent,
	},
	{
		suffix: "0021", effect: "is answered; speaks into the agent's words after two seconds, and hangs up", rings: true,
		at: onAnswered, talk: interrupts,
	},
	{suffix: "0023", effect: "rings until the line's `ring_timeout` or until it is hung up", rings: true, at: never, talk: listens},
}

// callee is the phone in an answered call.
type callee struct {
	*sip.Call
	heard *Heard
}

// heardWithin is the time that the phone waits for speech before it hangs up. Otherwise two waiting sides would wait
// forever.
const heardWithin = 30 * time.Second

// untilQuiet waits until the agent has spoken and become silent. It returns false if the call has ended or nobody
// speaks.
func (c *callee) untilQuiet(ctx context.Context) bool {
	spoke, quiet := false, time.Duration(0)
	for {
		pcm, err := c.Read(ctx)
		if err != nil {
			return false
		}
		if audio.RMS(pcm) >= loudness {
			spoke, quiet = true, 0
		} else if quiet += audio.Duration(len(pcm), rtp.Rate); spoke && quiet >= quietFor {
			return true
		} else if quiet >= heardWithin {
			return false
		}
	}
}

// listens lets the agent finish once and hangs up.
func listens(ctx context.Context, c *callee) { c.untilQuiet(ctx) }

// presses presses a key whenever the agent becomes silent, up to the given number of times.
func presses(keys string, times int) func(ctx context.Context, c *callee) {
	return func(ctx context.Context, c *callee) {
		for range times {
			if !c.untilQuiet(ctx) {
				return
			}
			c.SendDigits(keys)
			c.heard.press(keys)
		}
		c.untilQuiet(ctx)
	}
}

// isSilent waits until the agent ends the call.
func isSilent(ctx context.Context, c *callee) {
	for {
		if _, err := c.Read(ctx); err != nil {
			return
		}
	}
}

const (
	maxGreetings = 4
	startOver    = 4 * time.Second // silence after a greeting
)

// greetsAsMachine speaks a long greeting and beeps. It starts over if no message is left, as mailboxes do.
func greetsAsMachine(ctx context.Context, c *callee) {
	greeting := append(babble(5*time.Second), beep()...)
	length := audio.Duration(len(greeting), rtp.Rate)
	for range maxGreetings {
		_ = c.Write(greeting)
		for at, quiet := time.Duration(0), time.Duration(0); at < length || quiet < startOver; {
			pcm, err := c.Read(ctx)
			if err != nil {
				return
			}
			d := audio.Duration(len(pcm), rtp.Rate)
			at += d
			if quiet += d; audio.RMS(pcm) >= loudness {
				quiet = 0
			}
		}
	}
	isSilent(ctx, c)
}

// interrupts speaks while the agent speaks.
func interrupts(ctx context.Context, c *callee) {
	for heard := time.Duration(0); heard < 2*time.Second; {
		pcm, err := c.Read(ctx)
		if err != nil {
			return
		}
		heard += audio.Duration(len(pcm), rtp.Rate)
	}
	_ = c.Write(babble(1500 * time.Millisecond))
	c.untilQuiet(ctx)
}

// babble resembles speech: a voice in syllables, without words.
func babble(d time.Duration) []int16 {
	pcm := make([]int16, audio.Count(d, rtp.Rate))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / rtp.Rate
		phase += (130 + 40*math.Sin(at*2.3)) / rtp.Rate
		syllable := 0.35 + 0.65*math.Abs(math.Sin(math.Pi*3.7*at))
		sum := 0.0
		for k := 1.0; k <= 12; k++ { // a buzz with two resonances
			f := k * 130
			sum += math.Sin(2*math.Pi*k*phase) * (math.Exp(-math.Pow((f-600)/300, 2)) +
				0.5*math.Exp(-math.Pow((f-1300-300*math.Sin(at*5))/300, 2)))
		}
		pcm[i] = int16(5000 * syllable * sum)
	}
	return pcm
}

// beep returns the beep of an answering machine.
func beep() []int16 {
	pcm := make([]int16, audio.Count(400*time.Millisecond, rtp.Rate))
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*1000*float64(i)/rtp.Rate))
	}
	return pcm
}
