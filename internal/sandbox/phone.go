package sandbox

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/provider"
)

// Phone simulates the telephone network: the last four digits of a number decide what happens to a call. It keeps nothing
// between calls and has no goroutine of its own.
type Phone struct{ d Delays }

// NewPhone returns a phone.
func NewPhone(d Delays) *Phone { return &Phone{d.filled()} }

// script is what happens to a call: one row of the guide's table of calls.
type script struct {
	suffix string
	effect string // as the guide describes it
	first  int    // it happens to so many first attempts, and later ones are ordinary; 0: to all
	rings  bool
	slow   bool   // it rings Delays.Slow longer before it is answered
	ends   moment // since it was dialed
	ending dial.Ending
}

// answered reports whether the call is answered before it ends.
func (s *script) answered() bool { return s.ending.AnsweredBy != "" }

var completed = dial.Ending{State: carillon.StateCompleted, EndedBy: "agent", AnsweredBy: "human"} //nolint:gochecknoglobals // read only

var ordinaryCall = script{rings: true, ends: onEnded, ending: completed} //nolint:gochecknoglobals // read only

// unanswered is what happens where the ring time-out passes first.
var unanswered = script{rings: true, ends: onEnded, ending: dial.Ending{ //nolint:gochecknoglobals // read only
	State: carillon.StateNoAnswer, Cause: "487 Request Terminated", EndedBy: "system", Detail: "sandbox: the ring time-out passed",
}}

var busy = dial.Ending{State: carillon.StateBusy, Cause: "486 Busy Here", EndedBy: "callee"} //nolint:gochecknoglobals // read only

// scripts is the table.
var scripts = []script{ //nolint:gochecknoglobals // read-only table
	{
		suffix: "0001", effect: "`failed` at once, reason `undeliverable`",
		ending: dial.Ending{State: carillon.StateFailed, Reason: carillon.ReasonUndeliverable, Cause: "404 Not Found", EndedBy: "system"},
	},
	{
		suffix: "0002", effect: "the line is faulty twice, which uses up no attempt; then the call is answered", first: 2,
		ending: dial.Ending{
			State: carillon.StateFailed, Fault: provider.FaultProvider, Cause: "503 Service Unavailable", EndedBy: "system",
			Detail: "sandbox: the line is faulty, by the number",
		},
	},
	{suffix: "0009", effect: "rings 5 s longer before it is answered", rings: true, slow: true, ends: onEnded, ending: completed},
	{suffix: "0011", effect: "`busy`", ends: onRinging, ending: busy},
	{
		suffix: "0012", effect: "rings until the line's `ring_timeout`, 4 s at most, then `no_answer`",
		rings: true, ends: onEnded, ending: unanswered.ending,
	},
	{
		suffix: "0013", effect: "rings, then `rejected`", rings: true, ends: onAnswered,
		ending: dial.Ending{State: carillon.StateRejected, Cause: "603 Decline", EndedBy: "callee"},
	},
	{
		suffix: "0014", effect: "rings, is answered by a machine, then `voicemail`", rings: true, ends: onAnswered,
		ending: dial.Ending{State: carillon.StateVoicemail, EndedBy: "system", AnsweredBy: "machine"},
	},
	{
		suffix: "0015", effect: "`failed`, reason `provider_refused`", ends: onRinging,
		ending: dial.Ending{State: carillon.StateFailed, Reason: carillon.ReasonProviderRefused, Cause: "488 Not Acceptable Here", EndedBy: "system"},
	},
	{suffix: "0016", effect: "the first attempt is `busy`, the next one is answered", first: 1, ends: onRinging, ending: busy},
	{
		suffix: "0017", effect: "is answered, and hung up by the callee at once: `completed`", rings: true, ends: onAnswered,
		ending: dial.Ending{State: carillon.StateCompleted, EndedBy: "callee", AnsweredBy: "human"},
	},
}

func scriptOf(c *dial.Call) script {
	for _, s := range scripts {
		if suffixOf(c.Number) == s.suffix && (s.first == 0 || c.Attempt <= s.first) {
			return s
		}
	}
	return ordinaryCall
}

// Place places one call on a line and returns when it has ended. When ctx ends, the call is hung up: canceled while it rings,
// completed once it was answered.
func (p *Phone) Place(ctx context.Context, line *carillon.Sender, c *dial.Call, progress dial.Progress) dial.Ending {
	s, dialed := scriptOf(c), time.Now()
	answered, ended := p.d.Answered, s.ends.in(&p.d)
	if s.slow {
		answered, ended = answered+p.d.Slow, ended+p.d.Slow
	}
	response := ended
	if s.answered() {
		response = answered
	}
	if line.RingTimeout > 0 && line.RingTimeout < response {
		s, ended = unanswered, line.RingTimeout
	}
	hungUp := dial.Ending{State: carillon.StateCanceled, Cause: "487 Request Terminated", EndedBy: "system"}
	reached := func(moment time.Duration) bool { return wait(ctx, time.Until(dialed.Add(moment))) && ctx.Err() == nil }
	if s.rings {
		if !reached(min(p.d.Ringing, ended)) {
			return over(hungUp)
		}
		progress.Ringing(time.Now())
	}
	if s.answered() {
		if !reached(answered) {
			return over(hungUp)
		}
		progress.Answered(time.Now(), "")
		hungUp = dial.Ending{State: carillon.StateCompleted, EndedBy: "system", AnsweredBy: s.ending.AnsweredBy}
	}
	if !reached(ended) {
		return over(hungUp)
	}
	return over(s.ending)
}

// over is an ending now.
func over(e dial.Ending) dial.Ending {
	e.At = time.Now()
	return e
}
