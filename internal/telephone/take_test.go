package telephone_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/audio"
	"carillon/internal/sip"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
)

const (
	lineNumber = "15550100101"
	theAgent   = "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"
)

// trunked has a line whose trunk is a host.
func (r *rig) trunked(host, agent string) {
	r.lines = append(r.lines, &carillon.Sender{
		UID: int64(len(r.lines) + 1), CompanyID: r.company, ID: "line", Number: lineNumber, Channel: carillon.Voice, Provider: "sip", MaxConcurrent: 2,
		Settings: []byte(`{"trunk":"sip:` + host + `","agent":"` + agent + `"}`),
	})
}

// A member of another company who sets up a line with this number, before or after, does not get its calls.
func TestALineOfASetUpFileGoesBeforeThoseOfMembers(t *testing.T) {
	t.Parallel()
	r := newRig(t, robin())
	r.trunked("127.0.0.1", "99999999-9999-4999-8999-999999999999")
	r.trunked("127.0.0.1", theAgent)
	r.lines[0].CompanyID, r.lines[0].Settings = "another", []byte(strings.Replace(string(r.lines[0].Settings), `{`, `{"public":"true",`, 1))
	c, _, err := r.ring(caller(t), lineNumber, "34600110077")
	if err != nil {
		t.Fatal(err)
	}
	c.HangUp(t.Context())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked != r.company {
		t.Errorf("the agent of %q was asked for", r.asked)
	}
}

// occupy has calls of another node take places on the line.
func (r *rig) occupy(n int) {
	for range n {
		c := &calls.IncomingCall{ID: carillon.NewID(time.Now()), CompanyID: r.company, SenderUID: 1, RingingAt: time.Now()}
		if _, err := r.store.Incoming().Take(r.t.Context(), c, 0); err != nil {
			r.t.Fatal(err)
		}
	}
}

// ended waits for the end of the only call to the line, and returns its record.
func (r *rig) ended() *calls.IncomingCall {
	var id string
	for range 150 {
		var open bool
		err := r.store.Row(r.t.Context(), []any{&id, &open}, "SELECT id, under_way FROM incoming_call")
		if err == nil && !open {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	c, err := r.store.Incoming().Find(r.t.Context(), r.company, id)
	if err != nil || c == nil || c.UnderWay {
		r.t.Fatal(c, err)
	}
	return c
}

// caller is somebody who calls the rig.
func caller(t *testing.T) *sip.Engine {
	t.Helper()
	e, err := sip.New(t.Context(), sip.Options{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// ring calls a number of the rig; heard is the sound that comes back.
func (r *rig) ring(from *sip.Engine, to, number string) (c *sip.Call, heard func() []int16, err error) {
	var mu sync.Mutex
	var all []int16
	r.opened.Store(r.Telephone)
	c, err = from.Dial(r.t.Context(), sip.Dial{
		Trunk: sip.Trunk{Host: r.engine.Address().String(), Transport: "udp"}, To: to, From: number,
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
	t.Parallel()
	r := newRig(t, robin())
	r.trunked("127.0.0.1:1", theAgent)
	c, heard, err := r.ring(caller(t), "+"+lineNumber, "+34600110077")
	if err != nil {
		t.Fatal(err)
	}
	if r.incoming.UnderWay() != 1 {
		t.Errorf("%d calls", r.incoming.UnderWay())
	}
	const opening = "This is the automated assistant of Acme. This call is recorded. Hello, this is Robin."
	time.Sleep(time.Duration(len(opening))*40*time.Millisecond + 600*time.Millisecond)
	c.HangUp(t.Context())
	rec := r.ended()
	all, _, err := r.store.Chats().List(t.Context(), chats.Filter{CompanyID: r.company, Folder: "all", Closed: true, Limit: 10})
	if err != nil || len(all) != 1 || r.incoming.UnderWay() != 0 {
		t.Fatalf("%+v, %v, %d calls", all, err, r.incoming.UnderWay())
	}
	turns := r.turns(&diary{conversation: all[0].ID})
	if len(turns) == 0 || turns[0] != "agent  "+opening || all[0].Channel != "phone" || all[0].State != chats.Resolved {
		t.Errorf("%q in %+v", turns, all[0])
	}
	if rec.State != carillon.StateCompleted || rec.EndedBy != "caller" || rec.Cause != "BYE" || rec.Number != "34600110077" || rec.AgentID != theAgent ||
		rec.ConversationID != all[0].ID || rec.AnsweredAt.Before(rec.RingingAt) || rec.EndedAt.Before(rec.AnsweredAt) || rec.Recording == "" {
		t.Errorf("%+v", rec)
	}
	if d := audio.Duration(len(r.recording(&diary{recorded: rec.Recording})), 8000); d < 2*time.Second {
		t.Errorf("a recording of %v", d)
	}
	sound(t, "the greeting is heard", 0.5, func() float64 {
		if heard == nil { // it was not: the caller calls again
			if c, heard, err = r.ring(caller(t), "+"+lineNumber, "+34600110077"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(len(opening))*40*time.Millisecond + 600*time.Millisecond)
			c.HangUp(t.Context())
			r.ended()
		}
		pcm := heard()
		heard = nil
		return within(pcm, noise("Hello, this is Robin."))
	})
}

func TestCallsAreNotTurnedAwayForTheTalksInBrowsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, robin())
	r.trunked("127.0.0.1", theAgent)
	from := caller(t)
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
}

func TestACallerIsAskedWhereTheAgentIsTo(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]bool{"asked": true, "not asked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := robin()
			a.Record, a.AskCallers, a.Greeting = false, asks, "Hi."
			r := newRig(t, a)
			r.trunked("127.0.0.1", theAgent)
			c, _, err := r.ring(caller(t), lineNumber, "34600110077")
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(4500 * time.Millisecond) // for the opening and the question
			c.SendDigits("1")
			time.Sleep(1500 * time.Millisecond)
			c.HangUp(t.Context())
			rec := r.ended()
			turns, err := r.store.Chats().Turns(t.Context(), r.company, rec.ConversationID, 0, 100)
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
	}
}

func TestACallToALineIsHungUpByTheCompany(t *testing.T) {
	t.Parallel()
	r := newRig(t, robin())
	r.trunked("127.0.0.1", theAgent)
	c, _, err := r.ring(caller(t), lineNumber, "34600110077")
	if err != nil {
		t.Fatal(err)
	}
	var id string
	if err := r.store.Row(t.Context(), []any{&id}, "SELECT id FROM incoming_call"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.incoming.HangUp(t.Context(), "another", id); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	if state, err := r.incoming.HangUp(t.Context(), r.company, id); err != nil || state == "" {
		t.Error(state, err)
	}
	select {
	case <-c.Done():
	case <-time.After(3 * time.Second):
		t.Error("the call goes on")
	}
	if rec := r.ended(); rec.State != carillon.StateCompleted || rec.EndedBy != "system" {
		t.Errorf("%+v", rec)
	}
	if state, err := r.incoming.HangUp(t.Context(), r.company, id); err != nil || state != "" {
		t.Error(state, err)
	}
}

func TestCallsThatNoLineTakes(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		set  func(r *rig)
		code int
	}{
		"unknown number":    {func(*rig) {}, 404},
		"no agent":          {func(r *rig) { r.trunked("127.0.0.1", "") }, 404},
		"another trunk":     {func(r *rig) { r.trunked("127.0.0.2", theAgent) }, 403},
		"suspended company": {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.suspended = true }, 480},
		"a full node":       {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.placed = 3 }, 503},
		"foreign agent":     {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.absent = true }, 480},
		"all lines busy":    {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.occupy(2) }, 486},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, robin())
			x.set(r)
			_, _, err := r.ring(caller(t), lineNumber, "34600110077")
			var refused *sip.Refused
			if !errors.As(err, &refused) || refused.Code != x.code || r.incoming.UnderWay() != 0 {
				t.Errorf("%v, %d calls", err, r.incoming.UnderWay())
			}
		})
	}
}

func TestCallsThatWereTakenEndWithTheProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t, robin())
	r.trunked("127.0.0.1", theAgent)
	from := caller(t)
	c, _, err := r.ring(from, lineNumber, "anonymous")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if err := r.Run(ctx); err != nil || r.incoming.UnderWay() != 0 || time.Since(begin) < 200*time.Millisecond {
		t.Errorf("%v after %v, %d calls", err, time.Since(begin), r.incoming.UnderWay())
	}
	select {
	case <-c.Done():
	case <-time.After(3 * time.Second):
		t.Error("the call was not hung up")
	}
	if _, _, err := r.ring(from, lineNumber, "34600110077"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("another call: %v", err)
	}
}
