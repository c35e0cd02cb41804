package telephone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/voice"
)

// Trial is a call that tests a line: it says in one sentence that it is a test, and hangs up.
type Trial struct {
	Number   string
	Language string
	Company  string // name of the company
	Speaker  voice.Speaker
	Show     func(TrialStep) // receives each step as it happens, on one goroutine
}

// TrialStep is a message between the line and its trunk.
type TrialStep struct {
	After time.Duration // time since the beginning of the trial
	Ours  bool          // sent by us
	Code  int           // of a response; 0 for a request
	Text  string        // such as 180 Ringing, or INVITE
}

// TrialEnd is the result of a trial.
type TrialEnd struct {
	Problem  string // one of the Trial… constants
	Code     int    // status of the trunk's last response, if it refused the call
	Detail   string // in SIP terms
	Answered bool
	Talked   time.Duration // time from the answer to the end
	Packets  int64         // packets of sound received
	Loud     bool          // the sound was more than silence
}

// Results of a trial.
const (
	TrialWell        = ""            // answered, and sound was received
	TrialUnreachable = "unreachable" // the trunk sent nothing
	TrialDenied      = "denied"      // the trunk is at an address that the line may not call
	TrialEncryption  = "encryption"  // the trunk's certificate is not trusted, or it does not support TLS
	TrialPassword    = "password"    // the trunk requires another user name or password
	TrialForbidden   = "forbidden"   // the trunk does not allow the number or the caller's number
	TrialNumber      = "number"      // the number does not exist, or needs another form
	TrialSound       = "sound"       // the two sides have no audio format in common
	TrialSilent      = "silent"      // answered, but no sound was received
	TrialCut         = "cut"         // answered, but ended before the sentence
	TrialBusy        = "busy"
	TrialUnanswered  = "unanswered"
	TrialDeclined    = "declined"
	TrialFault       = "fault"   // a fault of the trunk
	TrialRefused     = "refused" // refused for another reason
	TrialCanceled    = "canceled"
	TrialSettings    = "settings" // the line's settings cannot be read
)

const (
	trialRing = 30 * time.Second // limit of ringing
	trialTalk = 20 * time.Second
	trialRest = 800 * time.Millisecond // after the sentence, for the other side's words
)

// Try calls a number to test a line. The call is hung up when ctx ends.
func (t *Telephone) Try(ctx context.Context, line *carillon.Sender, x Trial) TrialEnd {
	if t.o.Denied.Has(x.Number) {
		return TrialEnd{Problem: TrialForbidden, Detail: deniedDetail}
	}
	trunk, header, err := t.o.Trunks(line, &dial.Call{Number: x.Number, Attempt: 1})
	if err != nil {
		return TrialEnd{Problem: TrialSettings, Detail: carillon.Shorten(err.Error())}
	}
	if trunk.WhatsApp != "" {
		if _, refused := t.permit(ctx, line, trunk.WhatsApp, x.Number); refused != nil {
			return TrialEnd{Problem: TrialForbidden, Detail: carillon.Shorten(refused.Detail)}
		}
	}
	pcm := x.sentence(ctx, line.CompanyID)
	begin := time.Now()
	show := func(s TrialStep) {
		s.After = time.Since(begin)
		x.Show(s)
	}
	c, err := t.o.Engine.Dial(ctx, sip.Dial{
		Trunk: trunk, To: x.Number, From: cmp.Or(trunk.CallerID, line.Number), Name: x.Company,
		Ring:   min(cmp.Or(line.RingTimeout, trialRing), trialRing),
		Header: header, OnLadder: func(step string) { show(stepOf(step)) },
	})
	if err != nil {
		return trialError(ctx, err)
	}
	return trialTalked(ctx, c, pcm, show)
}

// stepOf parses a step of the ladder.
func stepOf(step string) (s TrialStep) {
	arrow, text, _ := strings.Cut(step, " ")
	s.Ours, s.Text = arrow == "▶", text
	code, _, _ := strings.Cut(text, " ")
	s.Code, _ = strconv.Atoi(code)
	return s
}

// trialTalked speaks the sentence in an answered call, listens, and hangs up.
func trialTalked(ctx context.Context, c *sip.Call, pcm []int16, show func(TrialStep)) TrialEnd {
	e := TrialEnd{Answered: true}
	answered := time.Now()
	length := audio.Duration(len(pcm), c.Rate())
	talking, cancel := context.WithTimeout(ctx, min(length+trialRest, trialTalk))
	defer cancel()
	err := c.Write(pcm)
	for err == nil {
		var heard []int16
		if heard, err = c.Read(talking); err == nil && audio.RMS(heard) >= audible {
			e.Loud = true
		}
	}
	e.Talked = time.Since(answered)
	_, e.Packets = c.Lost()
	switch why := c.Cause(); why.By { // its sound ends before Done is closed
	case "":
		show(TrialStep{Ours: true, Text: "BYE"})
		c.HangUp(context.WithoutCancel(ctx))
	case sip.Them:
		show(TrialStep{Text: "BYE"})
		fallthrough
	default:
		e.Detail = why.Text
	}
	switch {
	case ctx.Err() != nil:
		e.Problem = TrialCanceled
	case e.Talked < length && (e.Packets > 0 || e.Talked < soundWithin):
		e.Problem = TrialCut
	case e.Packets == 0:
		e.Problem = TrialSilent
	}
	return e
}

// soundWithin is the minimum length of a call in which missing sound counts as a finding.
const soundWithin = time.Second

// audible is the RMS above which sound is louder than the noise of a line.
const audible = 100.0

// trialError returns the result of a call without an answer.
func trialError(ctx context.Context, err error) TrialEnd {
	e := TrialEnd{Detail: carillon.Shorten(err.Error())}
	var refused *sip.Refused
	switch {
	case errors.As(err, &refused):
		e.Code = refused.Code
		e.Problem = problemOf(refused.Code)
	case ctx.Err() != nil:
		e.Problem = TrialCanceled
	case errors.Is(err, sip.ErrDenied):
		e.Problem = TrialDenied
	case errors.Is(err, sip.ErrUnanswered):
		e.Problem = TrialUnanswered
	case errors.Is(err, sip.ErrSound):
		e.Problem = TrialSound
	case strings.Contains(err.Error(), "x509:"), strings.Contains(err.Error(), "tls:"):
		e.Problem = TrialEncryption
	case errors.Is(err, sip.ErrUnreachable):
		e.Problem = TrialUnreachable
	default:
		e.Problem = TrialFault
	}
	return e
}

// problemOf converts a SIP status into a finding about the line.
func problemOf(code int) string {
	switch code {
	case 401, 407:
		return TrialPassword
	case 403:
		return TrialForbidden
	case 404, 410, 416, 484, 604:
		return TrialNumber
	case 415, 488, 606:
		return TrialSound
	case 486, 600:
		return TrialBusy
	case 408, 480, 487:
		return TrialUnanswered
	case 603, 607, 608:
		return TrialDeclined
	}
	if code >= 500 && code < 600 {
		return TrialFault
	}
	return TrialRefused
}

// sentence returns the sound of the sentence, or two tones if no speaker works.
func (x *Trial) sentence(ctx context.Context, companyID string) []int16 {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var pcm []int16
	if x.Speaker != nil {
		err := x.Speaker.Speak(ctx, voice.Utterance{
			CompanyID: companyID, Voice: (*agent.Voice)(nil).Settings(), Language: x.Language,
			Text: fmt.Sprintf(wordsOf(x.Language).trial, x.Company), Rate: trialRate,
		}, func(piece []int16) error {
			if pcm = append(pcm, piece...); len(pcm) > trialRate*int(trialTalk/time.Second) {
				return errors.New("the sentence is too long")
			}
			return nil
		})
		if err == nil && len(pcm) > 0 {
			return pcm
		}
	}
	return tones()
}

// trialRate is the sample rate of telephones.
const trialRate = 8000

// tones returns a high and a low tone of half a second each.
func tones() []int16 {
	pcm := make([]int16, trialRate)
	for i := range pcm {
		f := 880.0
		if i >= trialRate/2 {
			f = 660
		}
		pcm[i] = int16(6000 * math.Sin(2*math.Pi*f*float64(i)/trialRate))
	}
	return pcm
}
