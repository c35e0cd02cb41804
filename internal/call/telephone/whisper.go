package telephone

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
	"carillon/internal/voice"
)

const (
	whisperTime  = 20 * time.Second // for a key, after the answer
	whisperTwice = 2
	whisperPause = 1500 * time.Millisecond
	acceptKey    = '1'
	declineKey   = '2'
	maxAbout     = 100 // characters
)

// whisper asks the person who answered a second leg to take the call: Taken, Declined or Unanswered. A voicemail presses
// no key. It reads the leg's sound all the time, so that none of it is late when the call is connected.
func (p *placed) whisper(ctx context.Context, far *sip.Call, text string) calls.TransferOutcome {
	ctx, cancel := context.WithTimeout(ctx, whisperTime)
	defer cancel()
	s := &speech{p: p, line: far}
	defer func() {
		s.stop()
		_ = far.Clear()
	}()
	said, silent := 0, whisperPause
	for {
		if _, err := far.Read(ctx); err != nil {
			if far.Cause().By != "" {
				return calls.Declined
			}
			return calls.Unanswered
		}
		select {
		case d := <-far.Digits():
			switch d {
			case acceptKey:
				return calls.Taken
			case declineKey:
				return calls.Declined
			}
		default:
		}
		if s.busy() {
			silent = 0
		} else if silent += frameTime; silent >= whisperPause && said < whisperTwice {
			said++
			s.say(ctx, text)
		}
	}
}

// whispered returns the words for the person who answers a second leg.
func (p *placed) whispered() string {
	w := wordsOf(p.agent.Language)
	text := fmt.Sprintf("%s: %s", p.company, p.who(w.hidden))
	if about := p.about(); about != "" {
		text += ", " + about
	}
	text += "."
	if p.agent.Record {
		text += " " + w.recorded
	}
	return text + " " + w.accept
}

// who returns the name or number of the other side.
func (p *placed) who(hidden string) string {
	switch {
	case p.person != "":
		return p.person
	case p.call.Number != "":
		return p.call.Number
	}
	return hidden
}

// about returns what a call is about: the agent's purpose if we called, otherwise the words of the caller.
func (p *placed) about() string {
	about := ""
	if !p.incoming() {
		about = voice.Fill(p.agent.Purpose, p.call.Contact)
	}
	if about == "" {
		about = p.wish.about(len(p.agent.Transfer.Phrases) == 0)
	}
	about = strings.TrimRight(strings.Join(strings.Fields(about), " "), ".!? ")
	if utf8.RuneCountInString(about) <= maxAbout {
		return about
	}
	short := string([]rune(about)[:maxAbout])
	if at := strings.LastIndexByte(short, ' '); at > 0 {
		short = short[:at]
	}
	return strings.TrimRight(short, ",;: ")
}

// wish holds a caller's words: those that asked for the transfer, and those before them.
type wish struct {
	before, last string // spoken
	request      string // the words that asked for the transfer
}

func (w *wish) observe(e voice.Event) {
	switch e.Kind {
	case voice.Transcribed:
		w.before, w.last = w.last, e.Text
	case voice.TransferAsked:
		w.request = e.Text
		if w.last != e.Text { // asked by a key
			w.before = w.last
		}
	default:
	}
}

// about returns the request. If it only asks for a person, about returns the words before it.
func (w *wish) about(anybody bool) string {
	if anybody && strings.ContainsRune(strings.TrimSpace(w.before), ' ') { // more than a yes
		return w.before
	}
	return w.request
}
