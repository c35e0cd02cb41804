package telephone_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent"
	"carillon/internal/call/sip"
)

// surveyor returns an agent that asks callers questions, of which the first two have keys, and one of the last ones
// contains another.
func surveyor() *agent.Agent {
	return &agent.Agent{Name: "Robin", Greeting: "Hello.", AskCallers: true, Tools: []string{"hang_up"}, Result: []agent.Result{
		{Name: "come", Type: "boolean", Question: "Do you come?"},
		{Name: "part", Type: "choice", Choices: []string{"morning", "evening"}, Question: "In the morning, or in the evening?"},
		{Name: "adults", Type: "number", Question: "How many?"},
		{Name: "children", Type: "number", Question: "And children? How many?"},
	}}
}

// asksNext waits until the agent's newest turn is a text, and a moment of it was played.
func (r *rig) asksNext(text string) {
	r.t.Helper()
	var turns []string
	defer func() {
		if r.t.Failed() {
			r.t.Logf("the turns are %q", turns)
		}
	}()
	r.until("the question "+text, func() bool {
		turns = r.lastTurns()
		return len(turns) > 0 && turns[len(turns)-1] == "agent  "+text
	})
	time.Sleep(300 * time.Millisecond)
}

// lastTurns returns the turns of the only conversation.
func (r *rig) lastTurns() []string {
	r.t.Helper()
	var id string
	if err := r.store.DB.Row(r.t.Context(), []any{&id}, "SELECT id FROM conversation"); err != nil {
		return nil // not yet
	}
	return r.turns(&diary{conversation: id})
}

// noted returns the agent's results in the only conversation.
func (r *rig) noted() (all []string) {
	r.t.Helper()
	var id string
	if err := r.store.DB.Row(r.t.Context(), []any{&id}, "SELECT id FROM conversation"); err != nil {
		r.t.Fatal(err)
	}
	turns, err := r.store.Chats.Turns(r.t.Context(), r.company, id, 0, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, turn := range turns {
		for _, v := range turn.Extra.Set {
			all = append(all, v.Name+" "+v.Text)
		}
	}
	return all
}

// Each key is pressed while its question plays, which stops the question. It answers the question nevertheless.
func TestAKeyPressedIntoAQuestionAnswersIt(t *testing.T) {
	const opening = "This is the automated assistant of Acme. Hello. Do you come?"
	final := "Thanks, I've made a note of that. Is there anything else?"
	for name, press := range map[string]func(c *sip.Call, keys string){
		"once": func(c *sip.Call, keys string) { c.SendDigits(keys) },
		"twice": func(c *sip.Call, keys string) {
			c.SendDigits(keys)
			time.Sleep(150 * time.Millisecond)
			c.SendDigits(keys[len(keys)-1:])
		},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, surveyor())
				r.trunked("127.0.0.1", theAgent)
				c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range [][2]string{
					{opening, "1"}, {"In the morning, or in the evening?", "2"}, {"How many?", "3#"}, {"And children? How many?", "2#"},
				} {
					r.asksNext(x[0])
					press(c, x[1])
				}
				r.asksNext(final)
				c.HangUp(t.Context())
				r.ended()
				if diff := cmp.Diff([]string{"come true", "part evening", "adults 3", "children 2"}, r.noted()); diff != "" {
					t.Error(diff)
				}
				var asked []string
				for _, turn := range r.lastTurns() {
					if len(turn) > 5 && turn[:5] == "agent" {
						asked = append(asked, turn[7:])
					}
				}
				if want := []string{
					opening, "In the morning, or in the evening?", "How many?", "And children? How many?",
					final,
				}; !slices.Equal(asked, want) {
					t.Errorf("asked %q, not %q", asked, want)
				}
			})
		})
	}
}

// The caller speaks over the question.
func TestWordsIntoAQuestionAnswerIt(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		a := surveyor()
		a.Voice = &agent.Voice{Speaker: "espeak", Transcriber: "vosk", SilenceMS: 600}
		a.Result = a.Result[:2]
		r := newRig(t, a)
		r.ears = &ears{known: []string{"yes please", "in the evening please"}}
		r.trunked("127.0.0.1", theAgent)
		c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range [][2]string{
			{"This is the automated assistant of Acme. Hello. Do you come?", "yes please"},
			{"In the morning, or in the evening?", "in the evening please"},
		} {
			r.asksNext(x[0])
			_ = c.Write(noise(x[1]))
			time.Sleep(time.Duration(len(x[1])) * 40 * time.Millisecond)
		}
		r.asksNext("Thanks, I've made a note of that. Is there anything else?")
		c.HangUp(t.Context())
		r.ended()
		if diff := cmp.Diff([]string{"come true", "part evening"}, r.noted()); diff != "" {
			t.Error(diff)
		}
	})
}
