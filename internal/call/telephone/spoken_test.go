package telephone_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

// ears recognizes the noise of known texts.
type ears struct {
	known  []string
	stalls bool // results never arrive
}

// Listen implements voice.Transcriber.
func (e *ears) Listen(context.Context, voice.Hearing) (voice.Recognizer, error) {
	return &hearing{ears: e}, nil
}

type hearing struct {
	*ears
	mu  sync.Mutex
	pcm []int16
}

// Write implements voice.Recognizer.
func (h *hearing) Write(pcm []int16) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pcm = append(h.pcm, pcm...)
	return nil
}

// Result implements voice.Recognizer.
func (h *hearing) Result(ctx context.Context) (t voice.Transcript, err error) {
	if h.stalls {
		<-ctx.Done()
		return t, ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	best := 0.3
	for _, text := range h.known {
		if ncc := within(h.pcm, noise(text)); ncc > best {
			best, t.Text = ncc, text
		}
	}
	return t, nil
}

// Close implements voice.Recognizer.
func (*hearing) Close() {}

// loudness detects any loud sound as speech.
type loudness struct{}

// Chunk implements voice.Detector.
func (loudness) Chunk() int { return 256 }

// Score implements voice.Detector.
func (loudness) Score(chunk []int16) float32 {
	if audio.RMS(chunk) > 500 {
		return 1
	}
	return 0
}

// Reset implements voice.Detector.
func (loudness) Reset() {}

// listening returns a rig with an agent that understands speech and speaks short texts.
func listening(t *testing.T, e *ears) *rig {
	t.Helper()
	r := newRig(t, &agent.Agent{
		Name: "Robin", Greeting: "Hi.", Tools: []string{"hang_up", "handoff"}, Voice: &agent.Voice{Speaker: "espeak", Transcriber: "vosk"},
	})
	r.ears = e
	r.trunked("127.0.0.1:1", theAgent)
	return r
}

func TestWhatCallersSayIsDone(t *testing.T) {
	t.Parallel()
	const number = "34600110077"
	for text, by := range map[string]string{ // side that ends the call; "" means it waits for a teammate
		"please do not call me": "agent", "por favor no me llamen": "agent", "por favor parem de me ligar": "agent",
		"goodbye": "agent", "talk to a person": "",
	} {
		t.Run(text, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := listening(t, &ears{known: []string{text, "something else"}})
				c, _, err := r.ring(r.caller(), lineNumber, number)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(greeted)
				_ = c.Write(noise(text))
				if by == "" {
					r.until("a teammate is waited for", func() bool {
						all, _, err := r.store.Chats.List(t.Context(), chats.Filter{CompanyID: r.company, Folder: "all", Limit: 10})
						return err == nil && len(all) == 1 && (all[0].State == chats.Queued || all[0].State == chats.Missed)
					})
					c.HangUp(t.Context())
					return
				}
				r.over(c)
				rec := r.ended()
				if rec.EndedBy != by {
					t.Errorf("%+v", rec)
				}
				turns := r.turns(&diary{conversation: rec.ConversationID})
				r.mu.Lock()
				defer r.mu.Unlock()
				if stopped := slices.Equal(r.suppressed, []string{r.company + "/" + number}); stopped == (text == "goodbye") ||
					!slices.Contains(turns, "visitor  "+text) {
					t.Errorf("suppressed %q, turns %q", r.suppressed, turns)
				}
			})
		})
	}
}

// greeted is the time after which a short greeting is over.
const greeted = 2500 * time.Millisecond

func TestATranscriberThatStallsLeavesTheCallerInNoSilence(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := listening(t, &ears{stalls: true})
		c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(greeted)
		_ = c.Write(noise("what do you sell"))
		time.Sleep(12 * time.Second)
		c.HangUp(t.Context())
		pcm := heard()
		after := min(len(pcm), audio.Count(3500*time.Millisecond, 8000)) // the caller has spoken by then
		if longest := longestSilence(pcm[after:]); longest > 3*time.Second || audio.Duration(len(pcm), 8000) < 10*time.Second {
			t.Errorf("%v of silence in %v", longest, audio.Duration(len(pcm), 8000))
		}
	})
}
