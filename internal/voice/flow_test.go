package voice_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/voice"
)

// asks sets the pending question of a flow.
func asks(r *rig, p *voice.Pending) {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	r.dialogue.pending = p
}

// stores simulates turns that are stored elsewhere and published.
func (r *rig) stores(turns ...chats.TurnView) {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	for _, v := range turns {
		r.dialogue.c.LastSeq++
		v.Seq = r.dialogue.c.LastSeq
		r.passed++
		text, err := json.Marshal(v)
		if err != nil {
			r.t.Error(err)
		}
		r.hub.Publish(&events.Event{CompanyID: company, Topic: chats.Topic(talkID), Seq: r.passed, Kind: "turn", Payload: text, Own: true})
	}
}

// onPhone makes the line a telephone line.
func onPhone(r *rig) { r.line.keys = make(chan rune, 16) }

func press(r *rig, keys string) {
	for _, k := range keys {
		r.line.keys <- k
	}
	r.wait(64 * time.Millisecond)
}

func (r *rig) said() (all []string) {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	for _, turn := range r.dialogue.turns {
		if text, own := strings.CutPrefix(turn, "visitor: "); own {
			all = append(all, text)
		}
	}
	return all
}

func TestWhatAFlowSaysByItselfIsAResponseWithItsChoices(t *testing.T) {
	talk(t, onPhone, func(r *rig) {
		r.wait(2 * time.Second)
		before := r.line.written()
		turn := chats.TurnView{Author: chats.Agent, Kind: chats.KindChoices, Text: "Which pier?"}
		turn.Choices = []string{"North", "South"}
		r.stores(chats.TurnView{Author: chats.Visitor, Text: "typed elsewhere"}, turn)
		r.wait(2 * time.Second)
		all := r.shown(voice.Responded)
		if last := all[len(all)-1]; last.Text != "Which pier?" || !slices.Equal(last.Choices, turn.Choices) || last.Seq != 3 ||
			len(r.shown(voice.Said)) != 1 {
			t.Errorf("%+v, said %+v", all, r.shown(voice.Said))
		}
		if got := r.line.written() - before; got < time.Second { // two words, and "Press … for …." twice
			t.Errorf("%v of sound", got)
		}
		press(r, "2")
		r.wait(time.Second)
		if got := r.said(); !slices.Equal(got, []string{"South"}) {
			t.Errorf("said %q", got)
		}
	})
}

func TestKeysSayANumberWhereAFlowAsksForOne(t *testing.T) {
	stopped := 0
	set := func(r *rig) {
		onPhone(r)
		r.stop = func(context.Context) error { stopped++; return nil }
	}
	for keys, want := range map[string]string{"93#": "93", "9": "9", "12*407": "407"} {
		talk(t, set, func(r *rig) {
			asks(r, &voice.Pending{Question: "How many?", Number: true})
			press(r, keys)
			r.wait(3500 * time.Millisecond)
			if got := r.said(); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: said %q", keys, got)
			}
		})
	}
	talk(t, set, func(r *rig) {
		asks(r, &voice.Pending{Question: "Which?", Choices: []string{"a", "b"}})
		press(r, "7")
		r.wait(time.Second)
		if got := r.said(); !slices.Equal(got, []string{"7"}) {
			t.Errorf("a key that takes no choice: said %q", got)
		}
	})
	talk(t, set, func(r *rig) {
		press(r, "5")
		r.wait(5 * time.Second)
		if got := r.said(); !slices.Equal(got, []string{"5"}) {
			t.Errorf("a key that nobody asked for: said %q", got)
		}
	})
	if stopped > 0 {
		t.Errorf("calls were stopped %d times", stopped)
	}
	talk(t, set, func(r *rig) {
		press(r, "9")
		r.wait(5 * time.Second)
		if e := r.shown(voice.Ended); stopped != 1 || len(e) != 1 || e[0].Code != "stopped" {
			t.Errorf("stopped %d times, ended %+v", stopped, e)
		}
	})
}

// kept returns the keys that were stored without a request for a response.
func (r *rig) kept() (all []string) {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	for _, turn := range r.dialogue.turns {
		if key, kept := strings.CutPrefix(turn, "kept: "); kept {
			all = append(all, key)
		}
	}
	return all
}

// menus responds to everything with a question with two choices, after a delay.
func menus(after time.Duration) func(r *rig) {
	return func(r *rig) {
		onPhone(r)
		r.dialogue.think = func(_ context.Context, said string, _ voice.ToolUser, emit func(agent.Action) error) error {
			time.Sleep(after)
			return emit(agent.Action{
				Say: "After " + said + " comes another question with a few words?", Choices: []string{"north", "south"},
			})
		}
	}
}

func TestAKeyAnswersTheQuestionThatIsHeard(t *testing.T) {
	talk(t, menus(time.Second), func(r *rig) {
		r.wait(2 * time.Second)
		r.session.Type("1", "begin")
		r.wait(1500 * time.Millisecond) // the question is playing
		press(r, "1")
		press(r, "2") // before the next question is played
		r.wait(1500 * time.Millisecond)
		press(r, "2")
		r.wait(3 * time.Second)
		if said, kept := r.said(), r.kept(); !slices.Equal(said, []string{"begin", "north", "south"}) ||
			!slices.Equal(kept, []string{"2"}) {
			t.Errorf("said %q, kept %q", said, kept)
		}
		if cut := r.shown(voice.Interrupted); len(cut) != 2 {
			t.Errorf("what was said was interrupted %d times", len(cut))
		}
	})
}

func TestAKeyThatIsPressedTwiceAnswersOnce(t *testing.T) {
	talk(t, menus(0), func(r *rig) {
		r.wait(2 * time.Second)
		r.session.Type("1", "begin")
		r.wait(time.Second)
		press(r, "1")
		r.wait(200 * time.Millisecond) // the next question has begun
		press(r, "1")
		r.wait(time.Second)
		if said, kept := r.said(), r.kept(); !slices.Equal(said, []string{"begin", "north"}) || !slices.Equal(kept, []string{"1"}) {
			t.Errorf("said %q, kept %q", said, kept)
		}
		press(r, "1")
		r.wait(time.Second)
		if said := r.said(); !slices.Equal(said, []string{"begin", "north", "north"}) {
			t.Errorf("said %q", said)
		}
	})
}

func TestKeysThatNobodyAskedForAreATurn(t *testing.T) {
	for keys, want := range map[string][]string{"4711": {"4711"}, "47#": {"47"}, "#": nil, "*": nil, "47*8#": {"8"}} {
		talk(t, onPhone, func(r *rig) {
			r.wait(3 * time.Second)
			press(r, keys)
			r.wait(3500 * time.Millisecond)
			if got := r.said(); !slices.Equal(got, want) {
				t.Errorf("%s: said %q, not %q", keys, got, want)
			}
		})
	}
	talk(t, func(r *rig) { // a teammate has the conversation
		onPhone(r)
		r.dialogue.c.State, r.dialogue.c.LastSeq = chats.Active, 3
	}, func(r *rig) {
		press(r, "47#")
		r.wait(time.Second)
		if got := r.said(); !slices.Equal(got, []string{"47"}) {
			t.Errorf("to a teammate: said %q", got)
		}
	})
}

// A key can also confirm a transcript, and the choices offered before remain available.
func TestAConfirmationLeavesTheChoicesOfTheQuestion(t *testing.T) {
	set := func(r *rig) {
		menus(0)(r)
		r.transcriber.unsure = true
	}
	for keys, want := range map[string][]string{"1": {"begin", "when are you open"}, "2": {"begin", "south"}} {
		talk(t, set, func(r *rig) {
			r.wait(2 * time.Second)
			r.session.Type("1", "begin")
			r.wait(3 * time.Second)
			r.speaks(1, time.Second, 2*time.Second)
			press(r, keys)
			r.wait(3 * time.Second)
			if keys == "2" { // declined
				press(r, "2")
				r.wait(time.Second)
			}
			if got := r.said(); !slices.Equal(got, want) {
				t.Errorf("%s: said %q, not %q", keys, got, want)
			}
		})
	}
}

// Input without a response leaves the question open: its choices remain available, and it is repeated if it was cut
// off.
func TestAQuestionStandsThatGetsNoResponse(t *testing.T) {
	talk(t, func(r *rig) {
		menus(0)(r)
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
		r.wait(500 * time.Millisecond)
		asks(r, &voice.Pending{Question: "Another question?", Choices: []string{"north", "south"}})
		r.speaks(1, time.Second, 2*time.Second)
		if all := r.shown(voice.Responded); all[len(all)-1].Text != "Another question?" {
			t.Errorf("the last words are %+v", all[len(all)-1])
		}
		press(r, "2")
		r.wait(time.Second)
		if got := r.said(); !slices.Equal(got, []string{"begin", "when are you open", "south"}) {
			t.Errorf("said %q", got)
		}
	})
}

func TestWhoIsSilentIsAskedAgain(t *testing.T) {
	talk(t, nil, func(r *rig) {
		asks(r, &voice.Pending{Question: "Which pier?", Choices: []string{"North", "South"}})
		r.wait(30 * time.Second)
		all := r.shown(voice.Responded)
		if len(all) < 3 || all[1].Text != "Are you still there?" || all[2].Text != "Which pier?" ||
			!slices.Equal(all[2].Choices, []string{"North", "South"}) {
			t.Errorf("%+v", all)
		}
	})
	talk(t, nil, func(r *rig) { // while a flow waits for a server
		asks(r, &voice.Pending{Busy: true})
		r.wait(20 * time.Second)
		if all := r.texts(voice.Responded); len(all) < 3 || all[1] != "I'm still looking." ||
			slices.Contains(all, "Are you still there?") {
			t.Errorf("%q", all)
		}
	})
}

func TestAQuestionThatWaitsGreetsWhoComesBack(t *testing.T) {
	for ago, want := range map[time.Duration]int{10 * time.Second: 0, time.Hour: 1} {
		talk(t, func(r *rig) {
			r.dialogue.c.LastSeq, r.dialogue.c.VisitorSeq, r.dialogue.c.LastAt = 4, 3, time.Now().Add(-ago)
			r.dialogue.pending = &voice.Pending{Question: "Which pier?", Choices: []string{"North"}}
		}, func(r *rig) {
			if got := r.texts(voice.Responded); len(got) != want || want > 0 && got[0] != "Which pier?" {
				t.Errorf("after %v: %q", ago, got)
			}
			r.session.Type("1", "North")
			r.wait(time.Second)
			if got := r.said(); !slices.Equal(got, []string{"North"}) {
				t.Errorf("said %q", got)
			}
		})
	}
}

// "Yes" spoken over our words is only a backchannel, unless it is one of the choices.
func TestAChoiceCutsInWhereABackchannelDoesNot(t *testing.T) {
	for choice, want := range map[string]int{"Yes": 1, "Sure thing": 0} {
		talk(t, func(r *rig) {
			r.dialogue.think = func(_ context.Context, said string, _ voice.ToolUser, emit func(agent.Action) error) error {
				return emit(agent.Action{Say: strings.Repeat("word ", 40), Choices: []string{choice}})
			}
		}, func(r *rig) {
			r.wait(2 * time.Second)
			r.session.Type("1", "begin")
			r.wait(time.Second)
			r.speaks(2, 500*time.Millisecond, time.Second)
			if got := len(r.said()) - 1; got != want {
				t.Errorf("with the choice %s: %d more turns of the person, %q", choice, got, r.said())
			}
		})
	}
}

// The response and the resulting state are stored together, but their events arrive in any order.
func TestTheLastWordsAreSpokenBeforeTheTalkEnds(t *testing.T) {
	talk(t, func(r *rig) {
		r.dialogue.think = func(_ context.Context, _ string, _ voice.ToolUser, emit func(agent.Action) error) error {
			r.dialogue.mu.Lock()
			r.dialogue.c.State = chats.Resolved
			r.dialogue.mu.Unlock()
			over := chats.TurnView{Author: "system", Kind: chats.KindEvent}
			over.Event = "resolved"
			r.stores(chats.TurnView{Author: chats.Agent, Text: "Goodbye then.", ClientID: "reply:1"}, over)
			time.Sleep(300 * time.Millisecond)
			return emit(agent.Action{Say: "Goodbye then."})
		}
	}, func(r *rig) {
		r.wait(2 * time.Second)
		before := r.line.written()
		r.session.Type("1", "that is all")
		r.wait(3 * time.Second)
		synctest.Wait()
		if got := r.line.written() - before; got < 190*time.Millisecond {
			t.Errorf("%v of sound", got)
		}
		if e := r.shown(voice.Ended); len(e) != 1 || e[0].Code != string(chats.Resolved) {
			t.Errorf("ended %+v", e)
		}
	})
}
