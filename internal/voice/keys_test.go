package voice_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/agent"
	"carillon/internal/voice"
)

// instructs responds to everything with a long sentence.
func instructs(r *rig) {
	onPhone(r)
	r.dialogue.think = func(_ context.Context, _ string, _ voice.ToolUser, emit func(agent.Action) error) error {
		return emit(agent.Action{Say: "Please enter the four digits of your card and then press the hash key if you like."})
	}
}

func TestKeysStopTheQuestionAndEndWithItsLastDigit(t *testing.T) {
	talk(t, instructs, func(r *rig) {
		r.wait(2 * time.Second)
		r.session.Type("1", "begin")
		r.wait(500 * time.Millisecond)
		asks(r, &voice.Pending{Question: "Your card?", Number: true, Digits: 4})
		press(r, "4")
		if cut := r.shown(voice.Interrupted); len(cut) != 1 {
			t.Errorf("the question was interrupted %d times", len(cut))
		}
		press(r, "711")
		r.wait(100 * time.Millisecond)
		if said := r.said(); !slices.Equal(said, []string{"begin", "4711"}) {
			t.Errorf("said %q", said)
		}
	})
	for keys, pause := range map[string]time.Duration{"47": 2100 * time.Millisecond, "47#": 100 * time.Millisecond} {
		talk(t, onPhone, func(r *rig) {
			r.wait(2 * time.Second)
			asks(r, &voice.Pending{Question: "How many?", Number: true})
			press(r, keys)
			r.wait(pause)
			if said := r.said(); !slices.Equal(said, []string{"47"}) {
				t.Errorf("%s: said %q", keys, said)
			}
		})
	}
}

func TestKeysThatNobodyAskedForAnswerNoLaterQuestion(t *testing.T) {
	talk(t, onPhone, func(r *rig) {
		r.wait(3 * time.Second)
		press(r, "47")
		asks(r, &voice.Pending{Question: "How many?", Number: true})
		r.wait(2500 * time.Millisecond)
		if said, kept := r.said(), r.kept(); len(said) > 0 || !slices.Equal(kept, []string{"47"}) {
			t.Errorf("said %q, kept %q", said, kept)
		}
		press(r, "3#")
		r.wait(100 * time.Millisecond)
		if said := r.said(); !slices.Equal(said, []string{"3"}) {
			t.Errorf("said %q", said)
		}
	})
	talk(t, instructs, func(r *rig) { // the next keys answer the question
		r.wait(3 * time.Second)
		press(r, "47")
		asks(r, &voice.Pending{Question: "How many?", Number: true})
		r.stores(said("How many?"))
		r.wait(500 * time.Millisecond)
		press(r, "3#")
		r.wait(100 * time.Millisecond)
		if said, kept := r.said(), r.kept(); !slices.Equal(said, []string{"3"}) || !slices.Equal(kept, []string{"47"}) {
			t.Errorf("said %q, kept %q", said, kept)
		}
	})
}

func TestKeysAreKeptWhenSomethingElseComesFirst(t *testing.T) {
	talk(t, onPhone, func(r *rig) { // an answer in words
		r.wait(3 * time.Second)
		asks(r, &voice.Pending{Question: "How many?", Number: true})
		press(r, "47")
		r.session.Type("1", "five")
		r.wait(3 * time.Second)
		if said, kept := r.said(), r.kept(); !slices.Equal(said, []string{"five"}) || !slices.Equal(kept, []string{"47"}) {
			t.Errorf("said %q, kept %q", said, kept)
		}
	})
	talk(t, onPhone, func(r *rig) { // the end of the call
		r.wait(3 * time.Second)
		press(r, "47")
		close(r.line.in)
		synctest.Wait()
		if said, kept := r.said(), r.kept(); len(said) > 0 || !slices.Equal(kept, []string{"47"}) {
			t.Errorf("said %q, kept %q", said, kept)
		}
	})
	talk(t, menus(2*time.Second), func(r *rig) { // the agent thinks
		r.wait(2 * time.Second)
		r.session.Type("1", "begin")
		r.wait(100 * time.Millisecond)
		press(r, "47")
		r.wait(200 * time.Millisecond)
		press(r, "11")
		r.wait(3 * time.Second)
		if kept := r.kept(); !slices.Equal(kept, []string{"471", "1"}) && !slices.Equal(kept, []string{"4711"}) {
			t.Errorf("kept %q", kept)
		}
	})
}
