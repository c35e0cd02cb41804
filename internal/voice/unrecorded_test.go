package voice_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

const unrecorded = "All right, the recording is stopped and deleted. Let's continue."

// recorded makes the talk a recorded call; refused counts the refusals.
func recorded(refused *atomic.Int64) func(r *rig) {
	return func(r *rig) {
		instructs(r)
		r.refuse = func(context.Context) { refused.Add(1) }
		r.transcriber.texts[4], r.transcriber.texts[5] = "please don't record this", "don't record this, when do you open on Sundays"
		r.transcriber.texts[6] = "no"
	}
}

func TestARefusedRecordingStopsAndTheQuestionIsAskedAgain(t *testing.T) {
	for how, refuse := range map[string]func(r *rig){
		"by words": func(r *rig) { r.speaks(4, time.Second, 2*time.Second) },
		"by a key": func(r *rig) { press(r, "*") },
	} {
		var refused atomic.Int64
		talk(t, recorded(&refused), func(r *rig) {
			r.wait(500 * time.Millisecond) // the announcement is being said
			asks(r, &voice.Pending{Question: "Do you come?", Choices: []string{"Yes", "No"}})
			refuse(r)
			r.wait(time.Second)
			all := r.texts(voice.Responded)
			if n := len(all); refused.Load() != 1 || n < 2 || !slices.Equal(all[n-2:], []string{unrecorded, "Do you come?"}) {
				t.Errorf("%s: refused %d times, said %q", how, refused.Load(), all)
			}
			if said, kept := r.said(), r.kept(); len(said) > 0 || len(kept) != 1 {
				t.Errorf("%s: said %q, kept %q", how, said, kept)
			}
			r.wait(3 * time.Second)
			press(r, "2")
			r.wait(time.Second)
			if said := r.said(); !slices.Equal(said, []string{"No"}) || refused.Load() != 1 {
				t.Errorf("%s: then said %q, refused %d times", how, said, refused.Load())
			}
		})
	}
}

func TestARefusalWithAQuestionIsHeededAndAnswered(t *testing.T) {
	var refused atomic.Int64
	talk(t, recorded(&refused), func(r *rig) {
		r.wait(3 * time.Second)
		r.speaks(5, time.Second, 3*time.Second)
		all := r.texts(voice.Responded)
		if refused.Load() != 1 || len(all) < 3 || all[1] != unrecorded || all[2][:12] != "Please enter" || len(r.said()) != 1 {
			t.Errorf("refused %d times, said %q, heard %q", refused.Load(), all, r.said())
		}
	})
}

func TestOtherWordsAndKeysRefuseNoRecording(t *testing.T) {
	var refused atomic.Int64
	talk(t, recorded(&refused), func(r *rig) {
		r.wait(3 * time.Second)
		asks(r, &voice.Pending{Question: "How many?", Number: true})
		press(r, "12*3#") // starts the number over
		r.speaks(6, time.Second, 2*time.Second)
		if said := r.said(); refused.Load() != 0 || !slices.Equal(said, []string{"3", "no"}) {
			t.Errorf("refused %d times, said %q", refused.Load(), said)
		}
	})
	talk(t, instructs, func(r *rig) { // nothing is recorded
		r.transcriber.texts[4] = "please don't record this"
		r.wait(3 * time.Second)
		press(r, "*")
		r.speaks(4, time.Second, 2*time.Second)
		if all := r.texts(voice.Responded); slices.Contains(all, unrecorded) || len(r.said()) != 1 {
			t.Errorf("said %q, heard %q", all, r.said())
		}
	})
}

// said is a turn of the agent that another part of the program stored.
func said(text string) chats.TurnView {
	return chats.TurnView{Author: chats.Agent, Kind: chats.KindText, Text: text}
}
