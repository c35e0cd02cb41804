package telephone_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/audio"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
)

const (
	lineNumber = "15550100101"
	theAgent   = "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"
)

// trunked adds a line whose trunk is a host.
func (r *rig) trunked(host, agent string) {
	r.lines = append(r.lines, &carillon.Sender{
		UID: int64(len(r.lines) + 1), CompanyID: r.company, ID: "line", Number: lineNumber, Channel: carillon.Voice,
		Provider: "sip", MaxConcurrent: 2,
		Settings: []byte(`{"trunk":"sip:` + host + `","agent":"` + agent + `"}`),
	})
}

// settings adds settings to the last line.
func (r *rig) settings(more string) {
	line := r.lines[len(r.lines)-1]
	line.Settings = []byte(strings.Replace(string(line.Settings), `{`, `{`+more+`,`, 1))
}

// A member of another company who sets up a line with this number, earlier or later, does not get its calls.
func TestALineOfASetUpFileGoesBeforeThoseOfMembers(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		r.trunked("127.0.0.1", "99999999-9999-4999-8999-999999999999")
		r.trunked("127.0.0.1", theAgent)
		r.lines[0].CompanyID, r.lines[0].Settings = "another",
			[]byte(strings.Replace(string(r.lines[0].Settings), `{`, `{"public":"true",`, 1))
		c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		c.HangUp(t.Context())
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.asked != r.company {
			t.Errorf("the agent of %q was asked for", r.asked)
		}
	})
}

func TestACallThatTwoCompaniesCouldTakeIsRefused(t *testing.T) {
	t.Parallel()
	const claimed = `"claimed":"true"`
	for name, x := range map[string]struct {
		first, second string // settings
		owner         string // owner of the number: ours, theirs
		asked         string // company whose agent answers; "" means none
	}{
		"both entered it":               {claimed, claimed, "", ""},
		"both were declared":            {`"encrypt":false`, `"encrypt":false`, "", ""},
		"the second was declared":       {claimed, `"encrypt":false`, "", "ours"},
		"it was assigned to the first":  {claimed, `"encrypt":false`, "theirs", "theirs"},
		"it was assigned to the second": {claimed, claimed, "ours", "ours"},
		"it was assigned to a third":    {claimed, claimed, "third", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				r.trunked("127.0.0.1", theAgent)
				r.settings(x.first)
				r.lines[0].CompanyID = "theirs"
				r.trunked("127.0.0.1:5070", theAgent)
				r.settings(x.second)
				company := map[string]string{"": "", "ours": r.company, "theirs": "theirs", "third": "third"}
				r.owner = company[x.owner]
				c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
				if err == nil {
					c.HangUp(t.Context())
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.asked != company[x.asked] || x.asked == "" && err == nil {
					t.Errorf("the agent of %q was asked for, %v", r.asked, err)
				}
				told := r.told.String()
				disputed := strings.Contains(told, "numbers assign")
				if disputed != (x.owner == "" && x.asked == "") || strings.Contains(told, lineNumber) {
					t.Errorf("the log says %s", told)
				}
			})
		})
	}
}

func TestCallsComeAsTheirLineDemands(t *testing.T) {
	t.Parallel()
	const password = `"username":"acme","password":"secret","authenticate":"true"`
	for name, x := range map[string]struct {
		line  string
		trunk sip.Trunk // trunk of the caller
		code  int       // 0: accepted
	}{
		"nothing is demanded":             {`"encrypt":"false"`, sip.Trunk{}, 0},
		"encrypted sound":                 {`"encrypt":"true"`, sip.Trunk{Encrypt: true}, 0},
		"plain sound":                     {`"encrypt":"true"`, sip.Trunk{}, 488},
		"encrypted sound of its own will": {`"encrypt":"false"`, sip.Trunk{Encrypt: true}, 0},
		"without TLS":                     {`"encrypt":"true","trunk":"sips:127.0.0.1"`, sip.Trunk{Encrypt: true}, 403},
		"with the password":               {password, sip.Trunk{Username: "acme", Password: "secret"}, 0},
		"without a password":              {password, sip.Trunk{}, 401},
		"with a wrong password":           {password, sip.Trunk{Username: "acme", Password: "guess"}, 401},
		"with another user's name":        {password, sip.Trunk{Username: "beta", Password: "secret"}, 401},
		"with the password, plain sound":  {password + `,"encrypt":"true"`, sip.Trunk{Username: "acme", Password: "secret"}, 488},
		"a password is there, not wanted": {`"username":"acme","password":"secret"`, sip.Trunk{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				r.trunked("127.0.0.1", theAgent)
				settings := map[string]any{}
				for _, text := range []string{string(r.lines[0].Settings), `{` + x.line + `}`} {
					if err := json.Unmarshal([]byte(text), &settings); err != nil {
						t.Fatal(err)
					}
				}
				r.lines[0].Settings, _ = json.Marshal(settings)
				x.trunk.Host, x.trunk.Transport = r.engine.Address().String(), "udp"
				c, err := r.caller().Dial(t.Context(), sip.Dial{Trunk: x.trunk, To: lineNumber, From: "34600110077", Ring: hung})
				if err == nil {
					if c.Encrypted() != x.trunk.Encrypt {
						t.Errorf("encrypted: %v", c.Encrypted())
					}
					c.HangUp(t.Context())
				}
				var refused *sip.Refused
				switch {
				case x.code == 0 && err != nil, x.code > 0 && (!errors.As(err, &refused) || refused.Code != x.code):
					t.Errorf("%v, want %d", err, x.code)
				case x.code > 0 && r.incoming.UnderWay() != 0:
					t.Error("a call that is refused has a place")
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				given := x.trunk.Password != ""
				if told := strings.Contains(r.told.String(), "as its line demands"); told != (x.code > 0 && (x.code != 401 || given)) {
					t.Errorf("the log says %s", r.told)
				}
			})
		})
	}
}

// Anyone can call with any caller ID. The worst effect for the owner of the number is to get no marketing.
func TestACallerEndsMarketingAlone(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		a := robin()
		a.Greeting = "Hi."
		r := newRig(t, a)
		r.trunked("127.0.0.1", theAgent)
		c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4500 * time.Millisecond)
		c.SendDigits("9")
		r.over(c)
		r.ended()
		if !slices.Equal(r.suppressed, []string{r.company + "/34600110077"}) || !r.callers {
			t.Errorf("suppressed %q, as a caller: %v", r.suppressed, r.callers)
		}
		if ncc := within(heard(), noise("You won't get any more marketing from us.")); ncc < clear {
			t.Errorf("the confirmation is heard by %.3f", ncc)
		}
	})
}

// occupy makes calls of another node take places on the line.
func (r *rig) occupy(n int) {
	for range n {
		c := &calls.IncomingCall{ID: carillon.NewID(time.Now()), CompanyID: r.company, SenderUID: 1, RingingAt: time.Now()}
		if _, err := r.store.Incoming.Take(r.t.Context(), c, 0); err != nil {
			r.t.Fatal(err)
		}
	}
}

// ended waits for the end of the only call to the line, and returns its record.
func (r *rig) ended() *calls.IncomingCall {
	r.t.Helper()
	var id string
	r.until("the call's end", func() bool {
		var open bool
		err := r.store.DB.Row(r.t.Context(), []any{&id, &open}, "SELECT id, under_way FROM incoming_call")
		return err == nil && !open
	})
	c, err := r.store.Incoming.Find(r.t.Context(), r.company, id)
	if err != nil || c == nil || c.UnderWay {
		r.t.Fatal(c, err)
	}
	return c
}

// hung is the time after which a wait counts as hung.
const hung = 2 * time.Minute

// await returns the next value of a channel, or its zero value once it is closed.
func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(hung):
		t.Fatal("nothing comes")
	}
	return v
}

// until waits for a condition.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	for end := time.Now().Add(hung); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("does not come: ", what)
		}
	}
}

// over waits for the end of a call.
func (r *rig) over(c *sip.Call) {
	r.t.Helper()
	await(r.t, c.Done())
}

// caller returns a telephone that calls the rig.
func (r *rig) caller() *sip.Engine {
	r.t.Helper()
	return r.engineThat(nil)
}

// engineThat returns another telephone in the rig's network, which handles calls with take.
func (r *rig) engineThat(take func(in *sip.Incoming)) *sip.Engine {
	r.t.Helper()
	e, err := sip.New(r.t.Context(), sip.Options{
		Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Network: r.network, OnCall: take,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return e
}

// ring calls a number of the rig. heard returns the received sound.
func (r *rig) ring(from *sip.Engine, to, number string) (c *sip.Call, heard func() []int16, err error) {
	return r.ringFor(hung, from, to, number)
}

// ringFor is like ring, with a limit for the answer.
func (r *rig) ringFor(wait time.Duration, from *sip.Engine, to, number string) (c *sip.Call, heard func() []int16, err error) {
	var mu sync.Mutex
	var all []int16
	r.opened.Store(r.Telephone)
	c, err = from.Dial(r.t.Context(), sip.Dial{
		Trunk: sip.Trunk{Host: r.engine.Address().String(), Transport: "udp"}, To: to, From: number, Ring: wait,
		OnFrame: func(in, _ []int16) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, in...)
		},
	})
	return c, func() []int16 {
		mu.Lock()
		defer mu.Unlock()
		return append([]int16(nil), all...)
	}, err
}

func TestACallToALineIsAnsweredByItsAgent(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		r.trunked("127.0.0.1:1", theAgent)
		c, heard, err := r.ring(r.caller(), "+"+lineNumber, "+34600110077")
		if err != nil {
			t.Fatal(err)
		}
		if r.incoming.UnderWay() != 1 {
			t.Errorf("%d calls", r.incoming.UnderWay())
		}
		const opening = "This is the automated assistant of Acme. This call is recorded. If you don't agree, press star. " +
			"Hello, this is Robin."
		time.Sleep(time.Duration(len(opening))*40*time.Millisecond + 600*time.Millisecond)
		c.HangUp(t.Context())
		rec := r.ended()
		all, _, err := r.store.Chats.List(t.Context(), chats.Filter{CompanyID: r.company, Folder: "all", Closed: true, Limit: 10})
		if err != nil || len(all) != 1 || r.incoming.UnderWay() != 0 {
			t.Fatalf("%+v, %v, %d calls", all, err, r.incoming.UnderWay())
		}
		turns := r.turns(&diary{conversation: all[0].ID})
		if len(turns) == 0 || turns[0] != "agent  "+opening || all[0].Channel != "phone" || all[0].State != chats.Resolved {
			t.Errorf("%q in %+v", turns, all[0])
		}
		if rec.State != carillon.StateCompleted || rec.EndedBy != "caller" || rec.Cause != "BYE" || rec.Number != "34600110077" ||
			rec.AgentID != theAgent ||
			rec.ConversationID != all[0].ID || rec.AnsweredAt.Before(rec.RingingAt) || rec.EndedAt.Before(rec.AnsweredAt) ||
			rec.Recording == "" {
			t.Errorf("%+v", rec)
		}
		if d := audio.Duration(len(r.recording(&diary{recorded: rec.Recording})), 8000); d < 2*time.Second {
			t.Errorf("a recording of %v", d)
		}
		if ncc := within(heard(), noise("Hello, this is Robin.")); ncc < clear {
			t.Errorf("the greeting is heard by %.3f", ncc)
		}
	})
}

func TestCallsAreNotTurnedAwayForTheTalksInBrowsers(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		r.trunked("127.0.0.1", theAgent)
		from := r.caller()
		for _, number := range []string{"34600110077", "34600110078"} {
			c, heard, err := r.ring(from, lineNumber, number)
			if err != nil {
				t.Fatal(err)
			}
			defer c.HangUp(t.Context())
			time.Sleep(700 * time.Millisecond)
			if audio.RMS(heard()) < 50 || r.incoming.UnderWay() == 0 {
				t.Errorf("%s is not talked with, %d calls", number, r.incoming.UnderWay())
			}
		}
		if r.incoming.UnderWay() != 2 {
			t.Errorf("%d calls at once", r.incoming.UnderWay())
		}
	})
}

func TestACallerIsAskedWhereTheAgentIsTo(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]bool{"asked": true, "not asked": false} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				a := robin()
				a.Record, a.AskCallers, a.Greeting = false, asks, "Hi."
				r := newRig(t, a)
				r.trunked("127.0.0.1", theAgent)
				c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(4500 * time.Millisecond) // for the opening and the question
				c.SendDigits("1")
				time.Sleep(1500 * time.Millisecond)
				c.HangUp(t.Context())
				rec := r.ended()
				turns, err := r.store.Chats.Turns(t.Context(), r.company, rec.ConversationID, 0, 100)
				if err != nil {
					t.Fatal(err)
				}
				set := 0
				for _, x := range turns {
					set += len(x.Extra.Set)
				}
				if set == 1 != asks || rec.Recording != "" {
					t.Errorf("%d values, %+v", set, rec)
				}
			})
		})
	}
}

func TestACallToALineIsHungUpByTheCompany(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		r.trunked("127.0.0.1", theAgent)
		c, _, err := r.ring(r.caller(), lineNumber, "34600110077")
		if err != nil {
			t.Fatal(err)
		}
		var id string
		if err := r.store.DB.Row(t.Context(), []any{&id}, "SELECT id FROM incoming_call"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.incoming.HangUp(t.Context(), "another", id); !carillon.IsCode(err, carillon.NotFound) {
			t.Error(err)
		}
		if state, err := r.incoming.HangUp(t.Context(), r.company, id); err != nil || state == "" {
			t.Error(state, err)
		}
		r.over(c)
		if rec := r.ended(); rec.State != carillon.StateCompleted || rec.EndedBy != "system" {
			t.Errorf("%+v", rec)
		}
		if state, err := r.incoming.HangUp(t.Context(), r.company, id); err != nil || state != "" {
			t.Error(state, err)
		}
	})
}

func TestCallsThatNoLineTakes(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		set  func(r *rig)
		code int
	}{
		"unknown number":    {func(*rig) {}, 403},
		"no agent":          {func(r *rig) { r.trunked("127.0.0.1", "") }, 404},
		"another trunk":     {func(r *rig) { r.trunked("127.0.0.2", theAgent) }, 403},
		"suspended company": {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.suspended = true }, 480},
		"a full node":       {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.placed = 3 }, 503},
		"foreign agent":     {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.absent = true }, 480},
		"all lines busy":    {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.occupy(2) }, 486},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				x.set(r)
				_, _, err := r.ring(r.caller(), lineNumber, "34600110077")
				var refused *sip.Refused
				if !errors.As(err, &refused) || refused.Code != x.code || r.incoming.UnderWay() != 0 {
					t.Errorf("%v, %d calls", err, r.incoming.UnderWay())
				}
			})
		})
	}
}

// Callers do not learn whether other companies' numbers are lines; only a company and its telephone company know that.
func TestStrangersToALineLearnNotWhetherThereIsOne(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		set func(r *rig)
		to  string
	}{
		"no line":                    {func(*rig) {}, lineNumber},
		"a line of another trunk":    {func(r *rig) { r.trunked("127.0.0.2", theAgent) }, lineNumber},
		"such a line without agent":  {func(r *rig) { r.trunked("127.0.0.2", "") }, lineNumber},
		"such a line of a member":    {func(r *rig) { r.trunked(`127.0.0.2","public":"true`, theAgent) }, lineNumber},
		"a line of another provider": {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.lines[0].Provider = "sandbox" }, lineNumber},
		"a line without settings":    {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.lines[0].Settings = nil }, lineNumber},
		"no number":                  {func(r *rig) { r.trunked("127.0.0.1", theAgent) }, "robin"},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				x.set(r)
				_, _, err := r.ring(r.caller(), x.to, "34600110077")
				var refused *sip.Refused
				if !errors.As(err, &refused) || refused.Error() != "403 Forbidden" || r.engine.Refusals()["line"] != 1 {
					t.Errorf("%v, refused: %v", err, r.engine.Refusals())
				}
			})
		})
	}
}

func TestCallsThatWereTakenEndWithTheProgram(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		r.trunked("127.0.0.1", theAgent)
		from := r.caller()
		c, _, err := r.ring(from, lineNumber, "anonymous")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		if err := r.Run(ctx); err != nil || r.incoming.UnderWay() != 0 {
			t.Errorf("%v, %d calls", err, r.incoming.UnderWay())
		}
		if took := time.Since(begin); took < drain || took > drain+time.Second {
			t.Errorf("calls under way were given %v", took)
		}
		r.over(c)
		if _, _, err := r.ring(from, lineNumber, "34600110077"); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("another call: %v", err)
		}
	})
}

// A caller gets an answer or a refusal within seconds. If the caller hangs up earlier, nothing happens.
func TestACallThatItTakesLongToFindTheAgentOf(t *testing.T) {
	t.Parallel()
	t.Run("the caller gives up", func(t *testing.T) {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(t, robin())
			r.trunked("127.0.0.1", theAgent)
			r.finding = 2 * time.Second
			if _, _, err := r.ringFor(time.Second, r.caller(), lineNumber, "34600110077"); !errors.Is(err, sip.ErrUnanswered) {
				t.Error(err)
			}
			rec := r.ended()
			if rec.State != carillon.StateCanceled || rec.EndedBy != "caller" || !rec.AnsweredAt.IsZero() || r.incoming.UnderWay() != 0 {
				t.Errorf("%+v, %d calls", rec, r.incoming.UnderWay())
			}
		})
	})
	t.Run("the database stalls", func(t *testing.T) {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(t, robin())
			r.trunked("127.0.0.1", theAgent)
			r.finding = time.Hour
			begin := time.Now()
			_, _, err := r.ring(r.caller(), lineNumber, "34600110077")
			var refused *sip.Refused
			if took := time.Since(begin); !errors.As(err, &refused) || refused.Code != 503 || took > 6*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	})
}
