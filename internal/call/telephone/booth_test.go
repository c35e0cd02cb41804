package telephone_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/voice"
)

// Phrases of callees, which the rig's transcriber knows by their noise.
const (
	saysHello    = "Hello there?"
	saysMailbox  = "You have reached Ana. Please leave a message after the tone."
	saysFull     = "The mailbox is full. Goodbye."
	saysScreener = "Please record your name and reason for calling."
	saysStay     = "Thank you. Please stay on the line."
	saysMenu     = "For sales, press one. For support, press two."
	saysWho      = "Yes, this is Ana."
)

// placing places a call to a scripted callee, and returns its ending.
func placing(r *rig, script func(c *sip.Call, there *colleague)) (dial.Ending, *diary, *colleague) {
	r.t.Helper()
	there := r.answering(nil)
	type ended struct {
		e dial.Ending
		d *diary
	}
	done := make(chan ended, 1)
	go func() {
		e, d := r.place("0099")
		done <- ended{e, d}
	}()
	c := there.answered(r.t)
	script(c, there)
	x := await(r.t, done)
	return x.e, x.d, there
}

// screenable returns a rig with an agent that understands speech and knows what to tell machines.
func screenable(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, &agent.Agent{
		Name: "Robin", Greeting: "Hi {{first_name}}.", Voicemail: "Call us, {{first_name}}.", Purpose: "your tour", MenuKeys: "w2",
		Tools: []string{"hang_up"}, Voice: &agent.Voice{Speaker: "espeak", Transcriber: "vosk", SilenceMS: 600},
	})
	r.ears = phrasebook{}
	return r
}

// alike returns the share of a sound that another one contains, and their correlation there.
func alike(pcm, sound []int16) (overlap, ncc float64) {
	_, shift := audiotest.Correlate(pcm, sound)
	from, to := max(0, -shift), min(len(pcm), len(sound)-shift)
	if to <= from {
		return 0, 0
	}
	ncc, _ = audiotest.Correlate(pcm[from:to], sound[from+shift:to+shift])
	return float64(to-from) / float64(len(sound)), ncc
}

// phrasebook is a transcriber of whole phrases.
type phrasebook struct{}

// Listen implements voice.Transcriber.
func (phrasebook) Listen(context.Context, voice.Hearing) (voice.Recognizer, error) {
	return &recognizer{}, nil
}

type recognizer struct{ hearing }

// Result implements voice.Recognizer.
func (r *recognizer) Result(context.Context) (t voice.Transcript, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range []string{saysHello, saysMailbox, saysFull, saysScreener, saysStay, saysMenu, saysWho} {
		if overlap, ncc := alike(r.pcm, noise(text)); overlap >= 0.6 && ncc > 0.8 {
			t.Text = text
		}
	}
	return t, nil
}

func tone(hz float64, d time.Duration) []int16 {
	pcm := make([]int16, audio.Count(d, 8000))
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/8000))
	}
	return pcm
}

// plays has the callee play sound and waits for its end.
func plays(c *sip.Call, sounds ...[]int16) {
	for _, pcm := range sounds {
		_ = c.Write(pcm)
		time.Sleep(audio.Duration(len(pcm), 8000))
	}
}

func received(there *colleague, text string) bool { return within(there.sound(), noise(text)) >= clear }

// speech waits until the callee receives speech, and returns its beginning after now.
func (r *rig) speech(there *colleague) time.Duration {
	r.t.Helper()
	from := len(there.sound())
	loudAt := 0
	r.until("our words", func() bool {
		pcm := there.sound()
		loudAt = len(pcm) - from
		return len(pcm) > from && audio.RMS(pcm[len(pcm)-160:]) > 500
	})
	return audio.Duration(loudAt, 8000)
}

// quiet waits until the callee has heard nothing for half a second.
func (r *rig) quiet(there *colleague) {
	r.t.Helper()
	r.until("silence", func() bool {
		pcm := there.sound()
		return audio.RMS(pcm[max(0, len(pcm)-4000):]) < 100
	})
}

const message = "Call us, Ana."

func TestAVoicemailThatIsUnderstoodGetsTheMessageAfterItsBeep(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := screenable(t)
		var beeped int
		e, d, there := placing(r, func(c *sip.Call, there *colleague) {
			plays(c, noise(saysMailbox), make([]int16, 8000), tone(880, 400*time.Millisecond))
			beeped = len(there.sound())
		})
		if e.State != carillon.StateVoicemail || e.AnsweredBy != "machine" || e.EndedBy != "agent" {
			t.Errorf("%+v", e)
		}
		heard := there.sound()
		if after := heard[max(0, beeped-800):]; within(after, noise(message)) < clear {
			t.Error("the message is not complete after the beep")
		}
		if turns := r.turns(d); !slices.Contains(turns, "agent  "+message) {
			t.Errorf("turns %q", turns)
		}
	})
}

func TestAMessageThatTheBeepInterruptsBeginsAgain(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := screenable(t)
		r.agent.Voicemail = "Please call us back about your tour, {{first_name}}."
		var beeped int
		e, d, there := placing(r, func(c *sip.Call, there *colleague) {
			plays(c, noise(saysMailbox))
			r.until("the message", func() bool {
				return within(there.sound(), noise("Please call us back about your tour, Ana.")[:4000]) > clear
			})
			plays(c, tone(880, 400*time.Millisecond))
			beeped = len(there.sound())
		})
		if e.EndedBy != "agent" || within(there.sound()[max(0, beeped-800):], noise("Please call us back about your tour, Ana.")) < clear {
			t.Errorf("%+v: the message is not complete after the beep", e)
		}
		if n := len(slices.DeleteFunc(r.turns(d), func(s string) bool { return !strings.Contains(s, "Please call") })); n != 1 {
			t.Errorf("%d messages in the record", n)
		}
	})
}

func TestAFullMailboxGetsNoMessage(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := screenable(t)
		e, _, there := placing(r, func(c *sip.Call, _ *colleague) { plays(c, noise(saysFull)) })
		if e.State != carillon.StateVoicemail || e.Cause != "The mailbox takes no message" || received(there, message) {
			t.Errorf("%+v", e)
		}
	})
}

func TestAPersonWhoSpeaksOverTheMessageIsGreeted(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := screenable(t)
		r.agent.Voicemail = "This is a long message, and the person comes home before it ends, {{first_name}}."
		e, d, _ := placing(r, func(c *sip.Call, there *colleague) {
			plays(c, noise(saysMailbox), make([]int16, 8000), tone(880, 400*time.Millisecond))
			time.Sleep(time.Second)
			plays(c, noise(saysHello))
			time.Sleep(6 * time.Second)
			c.HangUp(t.Context())
		})
		if e.State != carillon.StateCompleted || e.AnsweredBy != "human" || e.EndedBy != "callee" {
			t.Errorf("%+v", e)
		}
		greeted := slices.DeleteFunc(r.turns(d), func(s string) bool { return !strings.HasSuffix(s, "Hi Ana.") })
		if len(greeted) != 2 {
			t.Errorf("turns %q", r.turns(d))
		}
	})
}

func TestAScreenerIsToldWhoCallsAndWhy(t *testing.T) {
	t.Parallel()
	const introduction = "This is Acme, for Ana, about your tour."
	for name, x := range map[string]struct {
		then  func(t *testing.T, c *sip.Call)
		state carillon.State
		by    string
		cause string
	}{
		"the person takes the call": {func(t *testing.T, c *sip.Call) {
			plays(c, noise(saysStay))
			time.Sleep(15 * time.Second)
			plays(c, noise(saysWho))
			time.Sleep(8 * time.Second)
			c.HangUp(t.Context())
		}, carillon.StateCompleted, "human", ""},
		"it asks again, and again": {func(_ *testing.T, c *sip.Call) {
			plays(c, noise(saysScreener))
			time.Sleep(6 * time.Second)
			plays(c, noise(saysScreener))
		}, carillon.StateVoicemail, "screener", "Screened"},
		"nobody takes the call": {func(*testing.T, *sip.Call) {}, carillon.StateVoicemail, "screener", ""},
		"a voicemail takes the call": {func(_ *testing.T, c *sip.Call) {
			plays(c, noise(saysMailbox), tone(880, 400*time.Millisecond))
		}, carillon.StateVoicemail, "machine", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := screenable(t)
				var wait time.Duration
				e, d, there := placing(r, func(c *sip.Call, there *colleague) {
					plays(c, noise(saysScreener))
					wait = r.speech(there)
					r.quiet(there)
					x.then(t, c)
				})
				if e.State != x.state || e.AnsweredBy != x.by || e.Cause != x.cause && x.cause != "" {
					t.Errorf("%+v", e)
				}
				if wait > 1300*time.Millisecond || !received(there, introduction) {
					t.Errorf("the introduction begins after %v", wait)
				}
				turns := r.turns(d)
				if !slices.Contains(turns, "agent  "+introduction) {
					t.Errorf("turns %q", turns)
				}
				if x.by == "human" {
					if !slices.Contains(turns, "visitor  "+saysWho) || !strings.HasSuffix(turns[len(turns)-1], "Hi Ana.") {
						t.Errorf("turns %q", turns)
					}
				}
				if x.by == "machine" && !received(there, message) {
					t.Error("no message")
				}
			})
		})
	}
}

func TestAMenuGetsTheKeysOfTheAgent(t *testing.T) {
	t.Parallel()
	for keys, by := range map[string]string{"": "menu", "w2": "human"} {
		t.Run(keys, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := screenable(t)
				r.agent.MenuKeys = keys
				e, _, _ := placing(r, func(c *sip.Call, _ *colleague) {
					plays(c, noise(saysMenu))
					if keys == "" {
						return
					}
					if d := await(t, c.Digits()); d != '2' {
						t.Errorf("the key %c", d)
					}
					time.Sleep(3 * time.Second)
					plays(c, noise(saysHello))
					time.Sleep(4 * time.Second)
					c.HangUp(t.Context())
				})
				if e.AnsweredBy != by || (e.State == carillon.StateCompleted) != (by == "human") {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// The person's first words, and those that follow, reach the conversation as if nothing was being judged.
func TestAPersonsFirstWordsAreTheFirstTurn(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := screenable(t)
		e, d, _ := placing(r, func(c *sip.Call, _ *colleague) {
			plays(c, noise(saysHello))
			time.Sleep(8 * time.Second)
			c.HangUp(t.Context())
		})
		turns := r.turns(d)
		if e.State != carillon.StateCompleted || e.AnsweredBy != "human" || !slices.Contains(turns, "visitor  "+saysHello) {
			t.Errorf("%+v, turns %q", e, turns)
		}
	})
}
