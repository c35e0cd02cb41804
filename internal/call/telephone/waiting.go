package telephone

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
)

// waiting is a caller who waits for a transfer: they hear music, and a sentence every waitingEvery, such as their new
// position in the queue. The key # and hanging up end the wait.
type waiting struct {
	p    *placed
	line *sip.Call
	ctx  context.Context //nolint:containedctx // canceled when the caller no longer waits
	stop context.CancelFunc
	over chan struct{}
	why  atomic.Value // calls.TransferOutcome

	position atomic.Int64 // in the queue; 0 if it is the caller's turn
}

const (
	waitingEvery = 30 * time.Second
	backKey      = '#' // to the agent
)

// waits begins a wait, which waiting.end ends.
func (p *placed) waits(ctx context.Context, c *sip.Call) *waiting {
	x := &waiting{p: p, line: c, over: make(chan struct{})}
	x.ctx, x.stop = context.WithCancel(ctx)
	go func() {
		defer close(x.over)
		x.run()
	}()
	return x
}

// left returns CallerLeft, CallerReturned, or "" if the caller waits.
func (x *waiting) left() calls.TransferOutcome {
	why, _ := x.why.Load().(calls.TransferOutcome)
	return why
}

// end ends the wait and returns left.
func (x *waiting) end() calls.TransferOutcome {
	x.stop()
	<-x.over
	if x.left() == "" && x.line.Cause().By != "" {
		return calls.CallerLeft
	}
	return x.left()
}

func (x *waiting) leave(why calls.TransferOutcome) {
	x.why.Store(why)
	x.stop()
}

func (x *waiting) run() {
	s := &speech{p: x.p, line: x.line}
	defer func() {
		s.stop()
		_ = x.line.Clear()
	}()
	_ = x.line.Write(make([]int16, slackFrames*frameSamples))
	said := int64(0) // position
	for frame := 1; ; frame++ {
		if _, err := x.line.Read(x.ctx); err != nil { // a frame every 20 ms
			if x.line.Cause().By != "" {
				x.leave(calls.CallerLeft)
			}
			return
		}
		select {
		case d := <-x.line.Digits():
			if d == backKey {
				x.leave(calls.CallerReturned)
				return
			}
		default:
		}
		w, at, due := wordsOf(x.p.agent.Language), x.position.Load(), frame%int(waitingEvery/frameTime) == 0
		switch {
		case at > 0 && at != said && (due || said == 0):
			s.say(x.ctx, fmt.Sprintf(w.position, at))
			said = at
		case due:
			s.say(x.ctx, w.holding)
		}
		if !s.busy() {
			_ = x.line.Write(music(frame*frameSamples, frameSamples, x.line.Rate()))
		}
	}
}

// speech is a text being spoken in the background.
type speech struct {
	p    *placed
	line *sip.Call
	done chan struct{} // nil: nothing is spoken
	hush context.CancelFunc
}

func (s *speech) say(ctx context.Context, text string) {
	s.stop()
	ctx, s.hush = context.WithCancel(ctx)
	done := make(chan struct{})
	s.done = done
	go func() {
		defer close(done)
		if err := s.p.speak(ctx, s.line, text); err != nil && ctx.Err() == nil && s.line.Cause().By == "" {
			s.p.o.Log.WarnContext(ctx, "speak during a transfer", "company", s.p.line.CompanyID, "call", s.p.call.ID, "error", err)
		}
	}()
}

func (s *speech) busy() bool {
	if s.done == nil {
		return false
	}
	select {
	case <-s.done:
		s.stop()
		return false
	default:
		return true
	}
}

func (s *speech) stop() {
	if s.done == nil {
		return
	}
	s.hush()
	<-s.done
	s.done = nil
}

const (
	frameTime = 20 * time.Millisecond
	noteTime  = 500 * time.Millisecond
	noteLevel = 4000.0 // peak of a note; the music is at −20 dBFS
	noteRise  = 0.02   // seconds
	noteFall  = 0.7    // seconds to 1/e
	notesHeld = 4      // sounding at the same time
)

// tune is the music of waiting callers, in hertz: broken chords of C, A minor, F and G.
var tune = [...]float64{ //nolint:gochecknoglobals // read only
	523.25, 659.25, 783.99, 1046.5, 783.99, 659.25, 523.25, 392,
	440, 523.25, 659.25, 880, 659.25, 523.25, 440, 329.63,
	349.23, 440, 523.25, 698.46, 523.25, 440, 349.23, 523.25,
	392, 493.88, 587.33, 783.99, 587.33, 493.88, 392, 493.88,
}

// music returns n samples of the tune from a position.
func music(at, n, rate int) []int16 {
	pcm := make([]int16, n)
	note := int(noteTime.Seconds() * float64(rate))
	for i := range pcm {
		sum := 0.0
		for back := range min(notesHeld, (at+i)/note+1) {
			nth := (at+i)/note - back
			t := float64(at+i-nth*note) / float64(rate)
			level := min(1, t/noteRise) * math.Exp(-t/noteFall)
			if left := notesHeld*noteTime.Seconds() - t; left < noteRise {
				level *= max(0, left/noteRise)
			}
			phase := 2 * math.Pi * tune[nth%len(tune)] * t
			sum += level * (math.Sin(phase) + math.Sin(2*phase)/4)
		}
		pcm[i] = int16(noteLevel * sum)
	}
	return pcm
}
