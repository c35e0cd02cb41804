package voice_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/voice"
)

func (r *rig) early() []string {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	return slices.Clone(r.dialogue.early)
}

// A person who presses a key or types while speaking has answered the question by that. The words being spoken are not
// for the next question.
func TestWhatIsBeingSaidIsForTheQuestionThatWasAnsweredMeanwhile(t *testing.T) {
	for name, answer := range map[string]func(r *rig){
		"by a key":    func(r *rig) { press(r, "1") },
		"by an entry": func(r *rig) { press(r, "7#") },
		"by typing":   func(r *rig) { r.session.Type("2", "north") },
		"":            func(*rig) {},
	} {
		talk(t, menus(0), func(r *rig) {
			r.wait(2 * time.Second)
			r.session.Type("1", "begin")
			r.wait(time.Second)
			if name == "by an entry" {
				asks(r, &voice.Pending{Question: "Another question?", Number: true})
			}
			r.frames(1, 300*time.Millisecond)
			answer(r)
			r.frames(1, 700*time.Millisecond)
			r.wait(2 * time.Second)
			if got := len(r.early()); got != min(len(name), 1) {
				t.Errorf("answered %q: %d words are for the question before, said %q", name, got, r.said())
			}
		})
	}
}

// A person who is speaking is not waiting for us; after speaking they are.
func TestWhoSpeaksIsNotAskedToWait(t *testing.T) {
	talk(t, func(r *rig) {
		r.dialogue.think = func(ctx context.Context, _ string, _ voice.ToolUser, _ func(agent.Action) error) error {
			<-ctx.Done()
			return ctx.Err()
		}
	}, func(r *rig) {
		r.wait(3 * time.Second)
		shown := len(r.texts(voice.Responded))
		r.session.Type("1", "when are you open")
		r.wait(500 * time.Millisecond)
		r.frames(1, 5*time.Second)
		if all := r.texts(voice.Responded); len(all) != shown {
			t.Errorf("into the person's words: %q", all[shown:])
		}
		r.wait(3 * time.Second)
		if all := r.texts(voice.Responded); len(all) != shown+1 || all[shown] != "One moment, please." {
			t.Errorf("after them: %q", all[shown:])
		}
	})
}

// A question that was cut off is repeated even while a phrase that asks for patience is being spoken.
func TestAQuestionFollowsAWordThatAsksForPatience(t *testing.T) {
	talk(t, func(r *rig) {
		menus(0)(r)
		r.transcriber.takes = 1600 * time.Millisecond // until the phrase is playing
		ask := r.dialogue.think
		r.dialogue.think = func(ctx context.Context, said string, use voice.ToolUser, emit func(agent.Action) error) error {
			if said == "when are you open" {
				return nil
			}
			return ask(ctx, said, use, emit)
		}
	}, func(r *rig) {
		r.wait(2 * time.Second)
		r.session.Type("1", "begin")
		r.wait(300 * time.Millisecond)
		asks(r, &voice.Pending{Question: "Another question?", Choices: []string{"north", "south"}})
		shown := len(r.texts(voice.Responded))
		r.speaks(1, time.Second, 4*time.Second)
		if got := r.texts(voice.Responded)[shown:]; !slices.Equal(got, []string{"One moment, please.", "Another question?"}) {
			t.Errorf("%q", got)
		}
	})
}
