package conversation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

func aloud(text string, cut string) voice.Saying {
	s := voice.Saying{ClientID: text, Kind: chats.KindText, Text: text}
	if cut != "" {
		s.Voice = &chats.Voice{Cut: true, Heard: cut}
	}
	return s
}

func TestATalkGivesTheResponseAndTheWorkersDoNot(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		var said []agent.Said
		r.agent.set(func(ctx context.Context, q *agent.Request, emit func(agent.Action) error) error {
			said = q.Said
			result, err := q.UseTool(ctx, "map", "{}")
			return errors.Join(err, emit(agent.Action{Say: "We open at "}),
				emit(agent.Action{Say: "nine: " + result, Choices: []string{"Thanks"}}))
		})
		r.run()
		a, id := NewAloud(r.Conversations), r.open()
		ctx := t.Context()
		greeting, err := a.Announce(ctx, r.company, id, aloud("Hello, this is Robin.", ""), false)
		if err != nil || greeting.Author != chats.Agent || greeting.Extra.Name != "Robin" {
			t.Fatalf("%+v, %v", greeting, err)
		}
		if err := a.Spoke(ctx, r.company, id, greeting.Seq, chats.Voice{Cut: true, Heard: "Hello,"}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Say(ctx, r.company, id, voice.Saying{ClientID: "e", Kind: chats.KindEvent, Text: "looks at prices"}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Say(ctx, r.company, id, aloud("When do you open?", "")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // time for the workers to reply, which they must not
		if got := len(r.turns(id)); got != 3 {
			t.Errorf("%d turns before the talk asked", got)
		}
		heard := ""
		use := func(_ context.Context, name, parameters string) (string, error) { return name + parameters, nil }
		turn, err := a.Respond(ctx, r.company, id, use, func(x agent.Action) error { heard += x.Say; return nil })
		if err != nil || turn == nil || turn.Text != "We open at nine: map{}" || heard != turn.Text || turn.Kind != chats.KindChoices {
			t.Fatalf("%+v, %q, %v", turn, heard, err)
		}
		want := []agent.Said{{Text: "Hello, …"}, {Contact: true, Text: "(looks at prices)"}, {Contact: true, Text: "When do you open?"}}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Error(diff)
		}
		if again, err := a.Respond(ctx, r.company, id, use, nil); again != nil || err != nil {
			t.Errorf("nothing waits for a response: %+v, %v", again, err)
		}
		turns, err := r.store.Chats.Turns(ctx, r.company, id, 0, 10)
		if err != nil || turns[0].Extra.Voice == nil || turns[0].Extra.Name != "Robin" {
			t.Errorf("%+v, %v", turns, err)
		}
	})
}

// The request made ahead is that of the response, and nothing of it is stored.
func TestAResponseIsThoughtAboutAhead(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		var asked *agent.Request
		r.agent.set(func(_ context.Context, q *agent.Request, emit func(agent.Action) error) error {
			asked = q
			return emit(agent.Action{Say: "At nine."})
		})
		a, id := NewAloud(r.Conversations), r.open()
		ctx := t.Context()
		if _, err := a.Announce(ctx, r.company, id, aloud("Hello, this is Robin.", ""), false); err != nil {
			t.Fatal(err)
		}
		use := func(context.Context, string, string) (string, error) { return "", nil }
		a.Think(ctx, "another company", id, "When do you open?", use)
		a.Think(ctx, r.company, id, "When do you open?", use)
		if len(r.agent.begun) != 1 || len(r.turns(id)) != 1 {
			t.Fatalf("thought %d times, stored %q", len(r.agent.begun), r.turns(id))
		}
		if _, err := a.Say(ctx, r.company, id, aloud("When do you open?", "")); err != nil {
			t.Fatal(err)
		}
		a.Think(ctx, r.company, id, "And on Sundays?", use) // the response to the last words is due
		if _, err := a.Respond(ctx, r.company, id, use, func(agent.Action) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if len(r.agent.begun) != 1 {
			t.Errorf("thought %d times", len(r.agent.begun))
		}
		ahead := r.agent.begun[0]
		if diff := cmp.Diff(ahead.Said, asked.Said); diff != "" || ahead.Language != asked.Language || !ahead.Aloud ||
			ahead.ContactName != asked.ContactName || ahead.ConversationID != id || (ahead.UseTool == nil) != (asked.UseTool == nil) {
			t.Errorf("asked otherwise than thought about: %s", diff)
		}
		if _, err := r.Desk.Take(ctx, r.ana, id, ""); err != nil {
			t.Fatal(err)
		}
		a.Think(ctx, r.company, id, "Are you there?", use)
		if len(r.agent.begun) != 1 {
			t.Error("the agent thinks about what a teammate answers")
		}
	})
}

func TestAnExcuseStandsForTheResponse(t *testing.T) {
	r := newRig(t, store.Options{})
	ctx, giveUp := context.WithCancel(t.Context())
	r.agent.set(func(ctx context.Context, _ *agent.Request, _ func(agent.Action) error) error {
		giveUp()
		<-ctx.Done()
		return ctx.Err()
	})
	a, id := NewAloud(r.Conversations), r.open()
	if _, err := a.Say(t.Context(), r.company, id, aloud("Hello?", "")); err != nil {
		t.Fatal(err)
	}
	if turn, err := a.Respond(ctx, r.company, id, nil, nil); turn != nil || err == nil {
		t.Fatalf("%+v, %v", turn, err)
	}
	if r.find(id).ReplySeq == 0 {
		t.Fatal("a response that was given up is no longer awaited")
	}
	if _, err := a.Announce(t.Context(), r.company, id, aloud("I am sorry.", ""), true); err != nil {
		t.Fatal(err)
	}
	if c := r.find(id); c.ReplySeq != 0 || c.State != chats.Automated {
		t.Errorf("%+v", c)
	}
}

func TestATalkWithoutAnAgentIsHandedOver(t *testing.T) {
	r := newRig(t, store.Options{})
	a, id := NewAloud(r.Conversations), r.open()
	if _, err := a.Say(t.Context(), r.company, id, aloud("Hello?", "")); err != nil {
		t.Fatal(err)
	}
	r.agent.mu.Lock()
	r.agent.gone = true
	r.agent.mu.Unlock()
	if turn, err := a.Respond(t.Context(), r.company, id, nil, nil); turn != nil || err != nil {
		t.Fatalf("%+v, %v", turn, err)
	}
	if c := r.find(id); c.State != chats.Missed {
		t.Errorf("it is %s", c.State)
	}
	if talk, err := a.Begin(t.Context(), r.company, id); err != nil || talk.Agent != nil {
		t.Errorf("%+v, %v", talk, err)
	}
	for what, err := range map[string]error{
		"begin": errOf(a.Begin(t.Context(), "other", id)), "say": errOf(a.Say(t.Context(), "other", id, aloud("x", ""))),
		"announce": errOf(a.Announce(t.Context(), "other", id, aloud("x", ""), false)),
		"spoke":    a.Spoke(t.Context(), "other", id, 1, chats.Voice{}),
		"leave":    a.Leave(t.Context(), "other", id),
	} {
		if !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s in another company: %v", what, err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }
