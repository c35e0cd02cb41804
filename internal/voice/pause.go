package voice

import (
	"context"
	"time"

	"carillon/internal/store/chats"
)

// A turn is transcribed at each pause of earlyAfter, in case it has ended. The words decide how long the pause may last.
// If the person continues, the transcript is dropped.

// earlyTimeout is the silence after which a turn ends although its early transcript has not arrived.
const earlyTimeout = time.Second

// maxEarly is the maximum number of early transcripts of a turn.
const maxEarly = 8

// joinWithin is the time after a turn within which the person may continue it, unless our response is heard.
const joinWithin = 1500 * time.Millisecond

// pause is a silence within an utterance, or at its end.
type pause struct {
	ctx        context.Context //nolint:containedctx // ends when the person goes on
	cancel     context.CancelFunc
	transcript Transcript
	err        error
	done       bool // set by the transcribing goroutine
	known      bool // set on the session's goroutine, with the transcript
	failed     bool // there is no early transcript
	// drop drops the response to the words so far, if one was requested.
	drop context.CancelFunc
}

// holds reports whether the transcript at a pause is that of the whole utterance.
func (p *pause) holds() bool {
	return p != nil && p.done && !p.transcript.Partial && p.ctx.Err() == nil
}

// pauses follows the silence of the current utterance, which was `before` until the last chunk.
func (l *listener) pauses(ctx context.Context, before time.Duration) {
	u := l.current
	switch silence := l.ears.silence; {
	case silence == 0 && before >= earlyAfter:
		u.resumed()
		if l.onPause != nil {
			l.onPause(u, before)
		}
	case silence >= earlyAfter && u.pause == nil && l.services != nil && l.onEarly != nil && u.paused < maxEarly:
		u.paused++
		p := &pause{}
		p.ctx, p.cancel = context.WithCancel(ctx)
		select {
		case u.sound <- sound{pause: p}:
			u.pause = p
		default:
			p.cancel()
		}
	}
}

// resumed drops the transcript of a pause.
func (u *utterance) resumed() {
	if u.pause != nil {
		u.pause.cancel()
		if u.pause.drop != nil {
			u.pause.drop()
		}
		u.pause = nil
	}
}

// early transcribes the sound up to a pause. It runs on the transcribing goroutine.
func (l *listener) early(u *utterance, p *pause, r Recognizer, failed error) {
	e, able := r.(Early)
	if able && failed == nil {
		ctx, cancel := context.WithTimeout(p.ctx, resultTimeout)
		p.transcript, p.err = e.Early(ctx)
		cancel()
		p.done = p.err == nil
	}
	if p.ctx.Err() != nil {
		return
	}
	l.post(func() {
		if u.pause != p {
			return
		}
		p.known, p.failed = p.done, !p.done
		if p.known {
			l.onEarly(u, p.transcript.Text)
		}
	})
}

const (
	// maxLikely is the longest silence after which a turn whose words look complete ends.
	maxLikely = 800 * time.Millisecond
	// thinkTimeout is the time after which a response that nobody has asked for is dropped.
	thinkTimeout = 10 * time.Second
)

// think requests the response to the words up to a pause, if they look complete. If the person continues, the response
// is dropped.
func (l *hearer) think(u *utterance, text string) {
	if text == "" || u.pause.transcript.Partial || u.continues || l.held != nil || l.mate != nil || l.confirm != "" ||
		l.ending != "" || l.answer != nil || l.conversation.State != chats.Automated || l.silence(l.person) > maxLikely {
		return
	}
	var ctx context.Context
	ctx, u.pause.drop = context.WithTimeout(l.ctx, thinkTimeout)
	var use ToolUser
	if l.x.start.ClientTools {
		use = l.x.use
	}
	go func() {
		_ = Guard(func() error {
			l.dialogue().Think(ctx, l.x.start.CompanyID, l.x.start.ConversationID, text, use)
			return nil
		})
	}()
}

// silence returns the silence that ends a turn of somebody now.
func (l *hearer) silence(of *listener) time.Duration {
	configured := time.Duration(l.x.voice.SilenceMS) * time.Millisecond
	choices := len(l.offered()) > 0
	var p *pause
	if of != nil && of.current != nil {
		p = of.current.pause
	}
	switch {
	case p == nil, p.failed:
		return silenceFor(configured, choices)
	case !p.known:
		return max(earlyTimeout, configured)
	}
	e := l.asked
	if choices && e.slot == slotFree {
		e.slot = slotChoice
	}
	text := p.transcript.Text
	if l.held != nil && resumes(text, of.current.spoken, l.x.language()) {
		return scaled(needShort, configured)
	}
	return scaled(need(text, e, l.x.language(), &l.habits), configured)
}

// expectedBy returns the answer that a question expects.
func expectedBy(p *Pending) expected {
	switch {
	case p == nil || p.Question == "":
	case p.Accept == "email":
		return expected{slot: slotEmail}
	case p.Number || p.Digits > 0:
		return expected{slotDigits, p.Digits}
	case p.Accept == "date", p.Accept == "name":
		return expected{slot: slotWord}
	case len(p.Choices) > 0:
		return expected{slot: slotChoice}
	}
	return expected{}
}

// asks looks up what the person is asked for, when they begin to speak.
func (l *hearer) asks() {
	l.asked = expected{}
	if l.mate == nil && l.canHear() {
		l.lookUpPending(func(l *loop, p *Pending) { l.asked = expectedBy(p) })
	}
}
