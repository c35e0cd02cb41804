package telephone_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/call/rtp/rtptest"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
	"carillon/internal/voice/spoken"
)

const (
	desk      = "34600999888"
	otherDesk = "34600999777"
	whispered = "Acme: 34600110077, Yes. This call is recorded. Press 1 to take the call, 2 to decline."
	unreached = "agent  Nobody is free at the moment. How else can I help?"
	returned  = "agent  I'm back. What else can I do for you?"
)

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
		take = x.answer
	}
	r.peered(func(in *sip.Incoming) { go take(in) })
	return x
}

func (x *colleague) answer(in *sip.Incoming) {
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

// answered waits for the call that the colleague answers.
func (x *colleague) answered(t *testing.T) *sip.Call {
	t.Helper()
	return await(t, x.calls)
}

// takes waits for the call, listens to the whisper for a moment, and takes the call.
func (x *colleague) takes(t *testing.T) *sip.Call {
	t.Helper()
	c := x.answered(t)
	time.Sleep(time.Second)
	c.SendDigits("1")
	time.Sleep(time.Second)
	return c
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

// transferring calls the rig and asks for the transfer.
func (r *rig) transferring() (c *sip.Call, heard func() []int16) {
	r.t.Helper()
	c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
	if err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(time.Second)
	c.SendDigits("1")
	return c, heard
}

// says waits for a turn of the agent.
func (r *rig) says(turn string) {
	r.t.Helper()
	r.until(turn, func() bool { return slices.Contains(r.lastTurns(), turn) })
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

// outcomes returns the numbers and outcomes of a call's transfers, all of which must have ended.
func (r *rig) outcomes(rec *calls.IncomingCall) (all []string) {
	r.t.Helper()
	for _, l := range r.legs(rec.ConversationID) {
		if l.EndedAt.IsZero() || l.EndedAt.Before(l.DialedAt) || l.TakenAt.IsZero() != (l.Outcome != calls.Taken) ||
			l.State == carillon.StateDialing || l.State == carillon.StateInProgress {
			r.t.Errorf("%+v", l)
		}
		all = append(all, l.Number+" "+string(l.Outcome))
	}
	if n, err := r.store.Calls.UnderWay(r.t.Context(), 1); n != 0 || err != nil {
		r.t.Errorf("%d calls count for the line, %v", n, err)
	}
	return all
}

func TestACallIsConnectedOnceItIsTaken(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		there := r.answering(nil)
		c, heard := r.transferring()
		far := there.answered(t)
		const early, mine, theirs = "You have reached the desk.", "The words of the caller.", "And those of the desk."
		_, _ = c.Write(noise(early)), far.Write(noise(early))
		time.Sleep(5 * time.Second)
		far.SendDigits("1")
		time.Sleep(time.Second)
		if n, err := r.store.Calls.UnderWay(t.Context(), 1); n != 2 || err != nil {
			t.Errorf("%d calls count for the line, %v", n, err)
		}
		if ncc := within(there.sound(), noise(spoken.Text(whispered, "en"))); ncc < clear {
			t.Errorf("the whisper is heard by %.3f", ncc)
		}
		_, _ = c.Write(noise(mine)), far.Write(noise(theirs))
		time.Sleep(2300 * time.Millisecond)
		if mine, theirs := within(there.sound(), noise(mine)), within(heard(), noise(theirs)); mine < clear || theirs < clear {
			t.Errorf("likeness of the caller at the desk %.3f, of the desk at the caller %.3f", mine, theirs)
		}
		if desk, caller := within(there.sound(), noise(early)), within(heard(), noise(early)); desk > 0.5 || caller > 0.5 {
			t.Errorf("before the call is taken: likeness of the caller at the desk %.3f, of the desk at the caller %.3f", desk, caller)
		}
		c.SendDigits("5")
		if d := await(t, far.Digits()); d != '5' {
			t.Errorf("the key %c", d)
		}
		c.HangUp(t.Context())
		r.over(far)
		rec := r.ended()
		if rec.State != carillon.StateCompleted || rec.EndedBy != "caller" || rec.Cause != "BYE" {
			t.Errorf("%+v", rec)
		}
		if got := r.outcomes(rec); !slices.Equal(got, []string{desk + " taken"}) {
			t.Errorf("%q", got)
		}
		if l := r.legs(rec.ConversationID)[0]; l.State != carillon.StateCompleted || l.TakenAt.Sub(l.AnsweredAt) < 4*time.Second {
			t.Errorf("%+v", l)
		}
		if turns := r.lastTurns(); len(turns) != 3 || turns[1] != "visitor 1 Yes" || turns[2] != "agent  Wait." {
			t.Errorf("%q", turns)
		}
		left, right := r.sides(&diary{recorded: rec.Recording})
		if of, on := within(left, noise(mine)), within(right, noise(theirs)); of < clear || on < clear {
			t.Errorf("the recording has the caller by %.3f on the left, the desk by %.3f on the right", of, on)
		}
		if of, on := within(right, noise(mine)), within(left, noise(theirs)); of > apart || on > apart {
			t.Errorf("the recording has the caller by %.3f on the right, the desk by %.3f on the left", of, on)
		}
		if within(right, noise(spoken.Text(whispered, "en"))) > 0.5 {
			t.Error("the recording has the whisper")
		}
	})
}

func TestACallerReturnsToTheAgentWhenTheColleagueHangsUp(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		there := r.answering(nil)
		c, _ := r.transferring()
		there.takes(t).HangUp(t.Context())
		r.says(returned)
		c.HangUp(t.Context())
		rec := r.ended()
		if got := r.outcomes(rec); !slices.Equal(got, []string{desk + " taken"}) || rec.EndedBy != "caller" {
			t.Errorf("%q, %+v", got, rec)
		}
	})
}

func TestACallThatNobodyTakesReturnsToTheAgent(t *testing.T) {
	t.Parallel()
	// answered returns a colleague that answers, and then acts.
	answered := func(act func(c *sip.Call)) func(in *sip.Incoming) {
		return func(in *sip.Incoming) {
			if c, err := in.Answer(context.Background(), nil); err == nil {
				act(c)
			}
		}
	}
	refuses := func(code int) func(in *sip.Incoming) {
		return func(in *sip.Incoming) { in.Refuse(code, "Because") }
	}
	rings := func(in *sip.Incoming) { _ = in.Progress(180, "Ringing") }
	soon := func(r *rig) { r.lines[0].RingTimeout = 500 * time.Millisecond }
	to := func(numbers ...string) func(r *rig) {
		return func(r *rig) { r.agent.Transfer.Number, r.agent.Transfer.Numbers = "", numbers }
	}
	usual := func(*rig) {}
	for name, x := range map[string]struct {
		take    func(in *sip.Incoming)
		set     func(r *rig)
		outcome calls.TransferOutcome // empty: nobody is called
		state   carillon.State
	}{
		"declined":     {answered(func(c *sip.Call) { c.SendDigits("2") }), usual, calls.Declined, carillon.StateRejected},
		"other keys":   {answered(func(c *sip.Call) { c.SendDigits("3*#") }), usual, calls.Unanswered, carillon.StateNoAnswer},
		"hangs up":     {answered(func(c *sip.Call) { c.HangUp(context.Background()) }), usual, calls.Declined, carillon.StateRejected},
		"voicemail":    {answered(func(c *sip.Call) { plays(c, noise(saysMailbox)) }), usual, calls.Unanswered, carillon.StateNoAnswer},
		"busy":         {refuses(486), usual, calls.Busy, carillon.StateBusy},
		"rejected":     {refuses(603), usual, calls.Declined, carillon.StateRejected},
		"no number":    {refuses(404), usual, calls.Failed, carillon.StateFailed},
		"fault":        {refuses(503), usual, calls.Failed, carillon.StateFailed},
		"no answer":    {rings, soon, calls.Unanswered, carillon.StateNoAnswer},
		"full":         {nil, func(r *rig) { r.lines[0].MaxConcurrent = 1 }, "", ""},
		"own number":   {nil, to("34600110077"), "", ""},
		"own line":     {nil, to(lineNumber), "", ""},
		"never called": {nil, to("97912345678"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := transfers(t)
				r.answering(x.take)
				x.set(r)
				c, _ := r.transferring()
				r.says(unreached)
				c.HangUp(t.Context())
				rec := r.ended()
				var want []string
				if x.outcome != "" {
					want = []string{desk + " " + string(x.outcome)}
				}
				if got := r.outcomes(rec); !slices.Equal(got, want) || rec.EndedBy != "caller" {
					t.Errorf("%q, %+v", got, rec)
				}
				if legs := r.legs(rec.ConversationID); len(legs) > 0 && legs[0].State != x.state {
					t.Errorf("%+v", legs)
				}
			})
		})
	}
}

func TestNumbersAreCalledInTurn(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		numbers := []string{desk, otherDesk, "97912345678", "34600999666", "34600999555"}
		r.agent.Transfer.Number, r.agent.Transfer.Numbers = "", numbers
		there := &colleague{calls: make(chan *sip.Call, 1)}
		r.answering(func(in *sip.Incoming) {
			switch sip.Number(in.To) {
			case desk:
				in.Refuse(486, "Busy Here")
			case otherDesk:
				if c, err := in.Answer(context.Background(), nil); err == nil {
					c.SendDigits("2")
				}
			default:
				there.answer(in)
			}
		})
		c, _ := r.transferring()
		far := there.takes(t)
		c.HangUp(t.Context())
		r.over(far)
		want := []string{desk + " busy", otherDesk + " declined", numbers[3] + " taken"}
		if got := r.outcomes(r.ended()); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// A caller who stops waiting, in one of the phases before the call is taken, ends the second leg at once.
func TestACallerWhoStopsWaitingEndsTheSecondLeg(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		answers bool
		act     func(c *sip.Call)
		outcome calls.TransferOutcome
	}{
		"hangs up while it rings":      {false, func(c *sip.Call) { c.HangUp(context.Background()) }, calls.CallerLeft},
		"hangs up during the whisper":  {true, func(c *sip.Call) { c.HangUp(context.Background()) }, calls.CallerLeft},
		"returns while it rings":       {false, func(c *sip.Call) { c.SendDigits("#") }, calls.CallerReturned},
		"returns during the whisper":   {true, func(c *sip.Call) { c.SendDigits("#") }, calls.CallerReturned},
		"presses a key without effect": {true, func(c *sip.Call) { c.SendDigits("7") }, calls.Unanswered},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := transfers(t)
				waits, gone := make(chan struct{}), make(chan struct{})
				r.answering(func(in *sip.Incoming) {
					_ = in.Progress(180, "Ringing")
					over := in.Gone()
					if x.answers {
						c, err := in.Answer(context.Background(), nil)
						if err != nil {
							t.Error(err)
							return
						}
						over = c.Done()
					}
					close(waits)
					<-over
					close(gone)
				})
				c, _ := r.transferring()
				await(t, waits)
				time.Sleep(2 * time.Second)
				begin := time.Now()
				x.act(c)
				await(t, gone)
				if took := time.Since(begin); took > time.Second && x.outcome != calls.Unanswered {
					t.Errorf("the second leg ends after %v", took)
				}
				switch x.outcome {
				case calls.CallerReturned:
					r.says(returned)
				case calls.Unanswered:
					r.says(unreached)
				default:
				}
				c.HangUp(t.Context())
				rec := r.ended()
				if got := r.outcomes(rec); !slices.Equal(got, []string{desk + " " + string(x.outcome)}) || rec.EndedBy != "caller" ||
					rec.State != carillon.StateCompleted {
					t.Errorf("%q, %+v", got, rec)
				}
			})
		})
	}
}

func TestACallerHearsMusicAndASentence(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		r.lines[0].MaxConcurrent = 0
		r.agent.Transfer.Number, r.agent.Transfer.Numbers = "", []string{desk, otherDesk}
		ringing := make(chan struct{}, 2)
		r.answering(func(in *sip.Incoming) {
			_ = in.Progress(180, "Ringing")
			ringing <- struct{}{}
		})
		c, heard := r.transferring()
		await(t, ringing)
		begin := len(heard())
		time.Sleep(29 * time.Second)
		if silent := longestSilence(heard()[begin:]); silent > 100*time.Millisecond {
			t.Errorf("%v of silence", silent)
		}
		await(t, ringing)
		time.Sleep(10 * time.Second)
		const sentence = "I'm still trying to reach someone. Please hold, or press the pound key to talk to me again."
		if ncc := within(heard()[begin:], noise(sentence)); ncc < clear {
			t.Errorf("the sentence is heard by %.3f", ncc)
		}
		c.HangUp(t.Context())
		if got := r.outcomes(r.ended()); !slices.Equal(got, []string{desk + " unanswered", otherDesk + " caller_left"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestAStopEndsATransferInEachPhase(t *testing.T) {
	t.Parallel()
	for phase, outcome := range map[string]calls.TransferOutcome{
		"music": calls.Canceled, "whisper": calls.Canceled, "connected": calls.Taken,
	} {
		t.Run(phase, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := transfers(t)
				there := &colleague{calls: make(chan *sip.Call, 1)}
				ringing, gone := make(chan struct{}), make(chan struct{})
				r.answering(func(in *sip.Incoming) {
					if phase != "music" {
						there.answer(in)
						return
					}
					_ = in.Progress(180, "Ringing")
					close(ringing)
					<-in.Gone()
					close(gone)
				})
				c, _ := r.transferring()
				var far *sip.Call
				switch phase {
				case "music":
					await(t, ringing)
				case "whisper":
					far = there.answered(t)
				default:
					far = there.takes(t)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := r.Run(ctx); err != nil {
					t.Error(err)
				}
				r.over(c)
				if far == nil {
					await(t, gone)
				} else {
					r.over(far)
				}
				rec := r.ended()
				if got := r.outcomes(rec); !slices.Equal(got, []string{desk + " " + string(outcome)}) || rec.EndedBy != "system" {
					t.Errorf("%q, %+v", got, rec)
				}
			})
		})
	}
}

func TestAWhisperSaysWhyTheAgentCalled(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		r.agent.Record, r.agent.Purpose = false, "the tour of {{first_name}}"
		person := &colleague{calls: make(chan *sip.Call, 1)}
		there := &colleague{calls: make(chan *sip.Call, 1)}
		r.answering(func(in *sip.Incoming) {
			if sip.Number(in.To) == desk {
				there.answer(in)
			} else {
				person.answer(in)
			}
		})
		done := make(chan *diary, 1)
		go func() {
			d := &diary{}
			r.Place(t.Context(), r.lines[0], r.call("0099", 1), d)
			done <- d
		}()
		c := person.answered(t)
		time.Sleep(time.Second)
		c.SendDigits("1")
		far := there.answered(t)
		time.Sleep(6 * time.Second)
		const text = "Acme: Ana Diaz, the tour of Ana. Press 1 to take the call, 2 to decline."
		if ncc := within(there.sound(), noise(text)); ncc < clear {
			t.Errorf("the whisper is heard by %.3f", ncc)
		}
		far.SendDigits("1")
		time.Sleep(time.Second)
		c.HangUp(t.Context())
		r.over(far)
		if legs := r.legs(await(t, done).conversation); len(legs) != 1 || legs[0].Outcome != calls.Taken {
			t.Errorf("%+v", legs)
		}
	})
}

// A telephone that falls silent without a BYE, as one whose power or network fails, leaves nobody alone.
func TestASilentSideOfATransferIsLetGo(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"caller", "colleague"} {
		t.Run(side, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := transfers(t)
				there := &colleague{calls: make(chan *sip.Call, 1)}
				company, person := r.engineThat(func(in *sip.Incoming) { go there.answer(in) }), r.caller()
				r.trunk = &sip.Trunk{Host: company.Address().String(), Transport: "udp"}
				c, _, err := r.ring(person, lineNumber, "34600110077")
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				c.SendDigits("1")
				far := there.takes(t)
				ended := "system"
				if side == "caller" {
					_ = person.Close()
					r.over(far)
				} else {
					_ = company.Close()
					r.says(returned)
					c.HangUp(t.Context())
					ended = "caller"
				}
				rec := r.ended()
				if got := r.outcomes(rec); !slices.Equal(got, []string{desk + " taken"}) || rec.EndedBy != ended {
					t.Errorf("%q, %+v", got, rec)
				}
			})
		})
	}
}
