package voice_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/voice"
)

// earlyRecognizer transcribes before the end of an utterance.
type earlyRecognizer struct{ recognizer }

// Early implements voice.Early.
func (r *earlyRecognizer) Early(ctx context.Context) (voice.Transcript, error) {
	return r.early(ctx, r.texts[r.value])
}

// Utterances whose words show whether they are complete.
const (
	unfinished = 10
	finished   = 11
	agreed     = 2
)

// early lets a rig transcribe early, and counts the transcripts.
func early(r *rig, count *atomic.Int64) {
	r.transcriber.texts[unfinished] = "I'd like to book a table for"
	r.transcriber.texts[finished] = "I'd like to book a table for two people"
	r.transcriber.early = func(_ context.Context, text string) (voice.Transcript, error) {
		count.Add(1)
		return voice.Transcript{Text: text}, nil
	}
	r.transcriber.err = errors.New("transcribed again at the end")
}

func (r *rig) turnsOf(who string) (all []string) {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	for _, turn := range r.dialogue.turns {
		if text, found := strings.CutPrefix(turn, who+": "); found {
			all = append(all, text)
		}
	}
	return all
}

func TestATurnWhoseWordsAreUnfinishedGoesOn(t *testing.T) {
	var count atomic.Int64
	talk(t, func(r *rig) { early(r, &count) }, func(r *rig) {
		r.wait(2 * time.Second)
		r.speaks(unfinished, 600*time.Millisecond, 1100*time.Millisecond)
		if got := r.texts(voice.Transcribed); len(got) > 0 || len(r.turnsOf("visitor")) > 0 {
			t.Fatalf("in the middle of the turn: %q", got)
		}
		r.speaks(finished, 600*time.Millisecond, 550*time.Millisecond)
		r.wait(time.Second)
		want := []string{"I'd like to book a table for two people"}
		if got := r.texts(voice.Transcribed); !slices.Equal(got, want) || !slices.Equal(r.turnsOf("visitor"), want) {
			t.Errorf("transcribed %q, stored %q", got, r.turnsOf("visitor"))
		}
		if n := count.Load(); n != 2 {
			t.Errorf("%d transcripts", n)
		}
	})
}

func TestAShortAnswerEndsItsTurnSoon(t *testing.T) {
	var count atomic.Int64
	talk(t, func(r *rig) { early(r, &count) }, func(r *rig) {
		r.wait(2 * time.Second)
		r.speaks(agreed, 400*time.Millisecond, 352*time.Millisecond)
		if got := r.texts(voice.Transcribed); !slices.Equal(got, []string{"yes"}) {
			t.Errorf("transcribed %q", got)
		}
	})
}

// While a number is dictated the turn goes on; it ends with the last digit that the question asks for.
func TestADictatedNumberIsCompleteWithItsLastDigit(t *testing.T) {
	var count atomic.Int64
	const begun, whole = 12, 13
	talk(t, func(r *rig) {
		early(r, &count)
		r.transcriber.texts[begun], r.transcriber.texts[whole] = "six zero zero one", "six zero zero one one one two two two"
		r.dialogue.pending = &voice.Pending{Question: "Which number?", Number: true, Digits: 9}
	}, func(r *rig) {
		r.wait(3 * time.Second)
		r.speaks(begun, 600*time.Millisecond, 1000*time.Millisecond)
		if got := r.texts(voice.Transcribed); len(got) > 0 {
			t.Fatalf("in the middle of the number: %q", got)
		}
		r.speaks(whole, 600*time.Millisecond, 352*time.Millisecond)
		if got := r.texts(voice.Transcribed); !slices.Equal(got, []string{"six zero zero one one one two two two"}) {
			t.Errorf("transcribed %q", got)
		}
	})
}

// An early transcript that fails, or does not arrive, delays the turn by less than half a second.
func TestATurnEndsWithoutItsEarlyTranscript(t *testing.T) {
	for name, early := range map[string]func(ctx context.Context, text string) (voice.Transcript, error){
		"fails": func(context.Context, string) (voice.Transcript, error) { return voice.Transcript{}, errors.New("down") },
		"stalls": func(ctx context.Context, _ string) (voice.Transcript, error) {
			<-ctx.Done()
			return voice.Transcript{}, ctx.Err()
		},
		"panics": func(context.Context, string) (voice.Transcript, error) { panic("of the transcriber") },
	} {
		t.Run(name, func(t *testing.T) {
			talk(t, func(r *rig) { r.transcriber.early = early }, func(r *rig) {
				r.wait(2 * time.Second)
				r.speaks(1, time.Second, 1100*time.Millisecond)
				if name == "panics" {
					return
				}
				r.wait(10 * time.Second)
				if got := r.texts(voice.Transcribed); len(got) != 1 || got[0] != "when are you open" {
					t.Errorf("transcribed %q", got)
				}
			})
		})
	}
}

// A turn that was taken for complete too early, and goes on before the response is heard, is continued.
func TestATurnThatWasCutOffGoesOn(t *testing.T) {
	var count atomic.Int64
	const rest = 14
	talk(t, func(r *rig) {
		early(r, &count)
		r.transcriber.texts[rest] = "on Sundays"
		r.dialogue.think = func(ctx context.Context, said string, _ voice.ToolUser, emit func(agent.Action) error) error {
			if said == "when are you open" {
				<-ctx.Done()
				return ctx.Err()
			}
			return emit(agent.Action{Say: "From nine."})
		}
	}, func(r *rig) {
		r.wait(2 * time.Second)
		r.speaks(1, 600*time.Millisecond, 800*time.Millisecond)
		r.speaks(rest, 400*time.Millisecond, 800*time.Millisecond)
		if first, on := r.turnsOf("visitor"), r.turnsOf("visitor goes on"); len(first) != 1 || !slices.Equal(on, []string{"on Sundays"}) {
			t.Errorf("said %q, and on %q", first, on)
		}
		r.wait(3 * time.Second)
		r.speaks(1, 600*time.Millisecond, 800*time.Millisecond)
		if on := r.turnsOf("visitor goes on"); len(on) != 1 {
			t.Errorf("a new turn goes on: %q", on)
		}
	})
}

// The response is requested as soon as the words look complete, and dropped when the person goes on.
func TestTheResponseIsRequestedBeforeTheTurnIsOver(t *testing.T) {
	var count atomic.Int64
	type thought struct {
		text string
		at   time.Time
		ctx  context.Context //nolint:containedctx // ends when the response is dropped
	}
	thoughts := make(chan thought, 10)
	talk(t, func(r *rig) {
		early(r, &count)
		r.dialogue.ahead = func(ctx context.Context, text string) { thoughts <- thought{text, time.Now(), ctx} }
	}, func(r *rig) {
		r.wait(2 * time.Second)
		r.speaks(unfinished, 600*time.Millisecond, 500*time.Millisecond)
		if len(thoughts) > 0 {
			t.Fatal("words that are not complete were thought about")
		}
		r.speaks(finished, 600*time.Millisecond, 400*time.Millisecond)
		first := <-thoughts
		if first.text != "I'd like to book a table for two people" || first.ctx.Err() != nil || len(r.turnsOf("visitor")) > 0 {
			t.Fatalf("thought about %q (%v), stored %q", first.text, first.ctx.Err(), r.turnsOf("visitor"))
		}
		r.speaks(finished, 600*time.Millisecond, 700*time.Millisecond)
		second := <-thoughts
		if first.ctx.Err() == nil || second.ctx.Err() != nil {
			t.Fatal("the response to the first half of the turn is kept, or that to all of it is dropped")
		}
		r.wait(time.Second)
		if got := r.turnsOf("visitor"); len(got) != 1 || len(thoughts) != 0 {
			t.Errorf("stored %q, %d more thoughts", got, len(thoughts))
		}
		r.wait(10 * time.Second)
		if second.ctx.Err() == nil {
			t.Error("a response that nobody asked for is kept")
		}
	})
}
