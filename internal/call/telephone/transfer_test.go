package telephone_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/call/rtp/rtptest"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
)

const desk = "34600999888"

// colleague is a telephone that receives transferred calls.
type colleague struct {
	calls chan *sip.Call
	mu    sync.Mutex
	heard []int16
}

// answering starts a colleague who answers calls, or handles them with take.
func (r *rig) answering(take func(in *sip.Incoming)) *colleague {
	r.t.Helper()
	x := &colleague{calls: make(chan *sip.Call, 1)}
	if take == nil {
		take = func(in *sip.Incoming) {
			_ = in.Progress(180, "Ringing")
			time.Sleep(300 * time.Millisecond)
			c, err := in.Answer(context.Background(), func(sound, _ []int16) {
				x.mu.Lock()
				defer x.mu.Unlock()
				x.heard = append(x.heard, sound...)
			})
			if err == nil {
				x.calls <- c
			}
		}
	}
	r.peered(func(in *sip.Incoming) { go take(in) })
	return x
}

// answered waits for the call that the colleague answers.
func (x *colleague) answered(t *testing.T) *sip.Call {
	t.Helper()
	return await(t, x.calls)
}

func (x *colleague) sound() []int16 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]int16(nil), x.heard...)
}

// transfers returns a rig with an agent that transfers callers who say yes.
func transfers(t *testing.T) *rig {
	t.Helper()
	return transfersIn(t, &rtptest.Network{})
}

func transfersIn(t *testing.T, network sip.Network) *rig {
	t.Helper()
	r := newRigIn(t, network, &agent.Agent{
		Name: "Robin", Greeting: "Hi.", Record: true, AskCallers: true,
		Result:   []agent.Result{{Name: "desk", Type: "boolean", Question: "Desk?"}},
		Transfer: &agent.Transfer{Number: desk, Phrases: []string{"yes"}, Message: "Wait."},
	})
	r.trunked("127.0.0.1:1", theAgent)
	return r
}

// legs returns the transfers of a call.
func (r *rig) legs(conversation string) []calls.Transfer {
	r.t.Helper()
	all, err := r.store.Incoming.Transfers(r.t.Context(), r.company, conversation)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func TestACallIsTransferredToNoNumberThatIsNeverCalled(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		r.agent.Transfer.Number = "97912345678"
		rang := make(chan struct{}, 1)
		r.answering(func(in *sip.Incoming) {
			rang <- struct{}{}
			in.Refuse(486, "Busy Here")
		})
		c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4500 * time.Millisecond)
		c.SendDigits("1")
		time.Sleep(4 * time.Second)
		select {
		case <-rang:
			t.Error("the number is called")
		case <-c.Done():
			t.Error("the call ends")
		default:
		}
		c.HangUp(t.Context())
		if legs := r.legs(r.ended().ConversationID); len(legs) > 0 {
			t.Errorf("%+v", legs)
		}
	})
}

func TestACallIsTransferredToANumber(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"caller", "agent"} {
		t.Run(by+" hangs up", func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := transfers(t)
				there := r.answering(nil)
				c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				c.SendDigits("1")
				far := there.answered(t)
				if n, err := r.store.Calls.UnderWay(t.Context(), 1); n != 2 || err != nil {
					t.Errorf("%d calls count for the line, %v", n, err)
				}
				const mine, theirs = "This is what the caller has to say.", "And this is what the desk responds."
				_, _ = c.Write(noise(mine)), far.Write(noise(theirs))
				time.Sleep(2300 * time.Millisecond)
				if mine, theirs := within(there.sound(), noise(mine)), within(heard(), noise(theirs)); mine < clear || theirs < clear {
					t.Errorf("the desk hears the caller by %.3f, and is heard by %.3f", mine, theirs)
				}
				c.SendDigits("5")
				if d := await(t, far.Digits()); d != '5' {
					t.Errorf("the key %c", d)
				}
				one, other := c, far
				if by == "agent" {
					one, other = far, c
				}
				one.HangUp(t.Context())
				r.over(other)
				rec := r.ended()
				if rec.State != carillon.StateCompleted || rec.EndedBy != by {
					t.Errorf("%+v", rec)
				}
				legs := r.legs(rec.ConversationID)
				if len(legs) != 1 || legs[0].Number != desk || legs[0].State != carillon.StateCompleted ||
					legs[0].AnsweredAt.IsZero() || legs[0].EndedAt.IsZero() {
					t.Errorf("%+v", legs)
				}
				turns := r.turns(&diary{conversation: rec.ConversationID})
				if len(turns) < 3 || turns[1] != "visitor 1 Yes" || turns[2] != "agent  Wait." {
					t.Errorf("%q", turns)
				}
				left, right := r.sides(&diary{recorded: rec.Recording})
				if of, on := within(left, noise(mine)), within(right, noise(theirs)); of < clear || on < clear {
					t.Errorf("the recording has the caller by %.3f on the left, the desk by %.3f on the right", of, on)
				}
				if of, on := within(right, noise(mine)), within(left, noise(theirs)); of > apart || on > apart {
					t.Errorf("the recording has the caller by %.3f on the right, the desk by %.3f on the left", of, on)
				}
				if n, err := r.store.Calls.UnderWay(t.Context(), 1); n != 0 || err != nil {
					t.Errorf("%d calls count for the line, %v", n, err)
				}
			})
		})
	}
}

func TestATransferThatNobodyAnswersReturnsToTheAgent(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		take func(in *sip.Incoming)
		set  func(r *rig)
		want carillon.State // empty: nobody was called
	}{
		"busy": {func(in *sip.Incoming) { in.Refuse(486, "Busy Here") }, func(*rig) {}, carillon.StateBusy},
		"no answer": {func(in *sip.Incoming) {
			_ = in.Progress(180, "Ringing")
		}, func(r *rig) { r.lines[0].RingTimeout = 500 * time.Millisecond }, carillon.StateNoAnswer},
		"full":       {nil, func(r *rig) { r.lines[0].MaxConcurrent = 1 }, ""},
		"own number": {nil, func(r *rig) { r.agent.Transfer.Number = "34600110077" }, ""},
		"own line":   {nil, func(r *rig) { r.agent.Transfer.Number = lineNumber }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := transfers(t)
				r.answering(x.take)
				x.set(r)
				c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				c.SendDigits("1")
				const sorry = "agent  Sorry, no one there can take your call right now. What else can I do for you?"
				var id string
				if err := r.store.DB.Row(t.Context(), []any{&id}, "SELECT conversation_id FROM incoming_call"); err != nil {
					t.Fatal(err)
				}
				r.until("that is said", func() bool { return slices.Contains(r.turns(&diary{conversation: id}), sorry) })
				c.HangUp(t.Context())
				rec := r.ended()
				legs := r.legs(rec.ConversationID)
				if x.want == "" && len(legs) != 0 ||
					x.want != "" && (len(legs) != 1 || legs[0].State != x.want || legs[0].EndedAt.IsZero()) || rec.EndedBy != "caller" {
					t.Errorf("%+v, %+v", legs, rec)
				}
			})
		})
	}
}

func TestWhoHangsUpWhileADeskRingsCallsNobodyAnyMore(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		ringing, gone := make(chan struct{}), make(chan struct{})
		r.answering(func(in *sip.Incoming) {
			_ = in.Progress(180, "Ringing")
			close(ringing)
			<-in.Gone()
			close(gone)
		})
		c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		c.SendDigits("1")
		await(t, ringing)
		before := len(heard())
		time.Sleep(500 * time.Millisecond)
		if loud := audio.RMS(heard()[before:]); loud < 500 {
			t.Errorf("the caller hears no ringing, but %.0f", loud)
		}
		begin := time.Now()
		c.HangUp(t.Context())
		await(t, gone)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("the desk rings for %v more", took)
		}
		rec := r.ended()
		legs := r.legs(rec.ConversationID)
		if rec.EndedBy != "caller" || rec.State != carillon.StateCompleted || len(legs) != 1 || legs[0].EndedAt.IsZero() {
			t.Errorf("%+v, %+v", rec, legs)
		}
	})
}
