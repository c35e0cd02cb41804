package telephone_test

import (
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
)

const (
	stoppedRecording = "All right, the recording is stopped and deleted."
	refusal          = "please do not record this call"
)

// files returns the number of stored files.
func (r *rig) files() (n int) {
	if err := r.store.DB.Row(r.t.Context(), []any{&n}, "SELECT COUNT(*) FROM file"); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// recordingRig returns a rig with an agent that records calls to its line and asks callers a question.
func recordingRig(t *testing.T, e *ears) *rig {
	t.Helper()
	a := &agent.Agent{
		Name: "Robin", Greeting: "Hi.", Record: true, AskCallers: true,
		Result: []agent.Result{{Name: "desk", Type: "boolean", Question: "Desk?"}},
	}
	if e != nil {
		a.Voice = &agent.Voice{Speaker: "espeak", Transcriber: "vosk", SilenceMS: 600}
	}
	r := newRig(t, a)
	if e != nil {
		r.ears = e
	}
	r.trunked("127.0.0.1:1", theAgent)
	return r
}

func TestACallerRefusesTheRecordingAndTheCallGoesOn(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]struct {
		ears  *ears
		turns []string
	}{
		"by a key": {nil, []string{
			"agent  This is the automated assistant of Acme. " + recordedNotice + " Hi. Desk?", "visitor * *", "visitor 1 Yes",
		}},
		"by words": {&ears{known: []string{refusal, "something else"}}, []string{
			"agent  This is the automated assistant of Acme. This call is recorded. If you don't agree, say don't record, or press star. " +
				"Hi. Desk?", "visitor  " + refusal, "visitor 1 Yes",
		}},
	} {
		t.Run(how, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := recordingRig(t, want.ears)
				c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(9 * time.Second) // a part of the recording is stored
				if r.files() != 1 {
					t.Error("nothing is recorded")
				}
				if want.ears == nil {
					c.SendDigits("*")
				} else {
					_ = c.Write(noise(refusal))
				}
				r.until("the refusal is in the record", func() bool { return slices.Contains(r.lastTurns(), want.turns[1]) })
				before := len(heard())
				time.Sleep(4 * time.Second)
				pcm := heard()[max(0, before-800):]
				if said, asked := within(pcm, noise(stoppedRecording)), within(pcm, noise("Desk?")); said < clear || asked < clear {
					t.Errorf("the response is heard by %.3f, the question by %.3f", said, asked)
				}
				if n := r.files(); n != 0 {
					t.Errorf("%d files are stored", n)
				}
				c.SendDigits("1")
				r.until("the answer", func() bool { return len(r.noted()) > 0 })
				c.HangUp(t.Context())
				rec := r.ended()
				if rec.State != carillon.StateCompleted || rec.Recording != "" || rec.NoRecording != calls.Refused || r.files() != 0 {
					t.Errorf("%+v with %d files", rec, r.files())
				}
				turns := r.turns(&diary{conversation: rec.ConversationID})
				if len(turns) < len(want.turns) || !slices.Equal(turns[:len(want.turns)], want.turns) {
					t.Errorf("%q", turns)
				}
			})
		})
	}
}

func TestACalleeRefusesTheRecording(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		e, d, _ := placing(r, func(c *sip.Call, there *colleague) {
			time.Sleep(9 * time.Second) // a part of the recording is stored
			if r.files() != 1 {
				t.Error("nothing is recorded")
			}
			c.SendDigits("*")
			r.until("it is deleted", func() bool { return r.files() == 0 })
			time.Sleep(3 * time.Second)
			if !received(there, stoppedRecording) {
				t.Error("the callee does not hear that the recording is stopped")
			}
			c.HangUp(t.Context())
		})
		if e.State != carillon.StateCompleted || !d.refused || d.recorded != "" || r.files() != 0 {
			t.Errorf("%+v, %+v with %d files", e, d, r.files())
		}
	})
}

func TestABareNoRefusesNoRecording(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := recordingRig(t, &ears{known: []string{"no", refusal}})
		c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		_ = c.Write(noise("no"))
		r.until("the answer", func() bool { return len(r.noted()) > 0 })
		c.HangUp(t.Context())
		if rec := r.ended(); rec.Recording == "" || rec.NoRecording != "" {
			t.Errorf("%+v", rec)
		}
	})
}
