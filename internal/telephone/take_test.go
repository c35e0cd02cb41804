package telephone_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/audio"
	"carillon/internal/sip"
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

// caller is somebody who calls the rig.
func caller(t *testing.T) *sip.Engine {
	t.Helper()
	e, err := sip.New(t.Context(), sip.Options{Address: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
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
	if r.Taken() != 1 {
		t.Errorf("%d calls", r.Taken())
	}
	const opening = "This is the automated assistant of Acme. Hello, this is Robin."
	time.Sleep(time.Duration(len(opening))*40*time.Millisecond + 600*time.Millisecond)
	c.HangUp(t.Context())
	for range 50 {
		if r.Taken() == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	all, _, err := r.store.Chats().List(t.Context(), chats.Filter{CompanyID: r.company, Folder: "all", Closed: true, Limit: 10})
	if err != nil || len(all) != 1 || r.Taken() != 0 {
		t.Fatalf("%+v, %v, %d calls", all, err, r.Taken())
	}
	turns := r.turns(&diary{conversation: all[0].ID})
	if len(turns) == 0 || turns[0] != "agent  "+opening || all[0].Channel != "phone" || all[0].State != chats.Resolved {
		t.Errorf("%q in %+v", turns, all[0])
	}
	if ncc := within(heard(), noise("Hello, this is Robin.")); ncc < 0.5 {
		t.Errorf("the greeting is heard by %.3f", ncc)
	}
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
		if audio.RMS(heard()) < 50 || r.Taken() == 0 {
			t.Errorf("%s is not talked with, %d calls", number, r.Taken())
		}
	}
	if r.Taken() != 2 {
		t.Errorf("%d calls at once", r.Taken())
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
		"all lines busy":    {func(r *rig) { r.trunked("127.0.0.1", theAgent); r.underWay = 2 }, 486},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, robin())
			x.set(r)
			_, _, err := r.ring(caller(t), lineNumber, "34600110077")
			var refused *sip.Refused
			if !errors.As(err, &refused) || refused.Code != x.code || r.Taken() != 0 {
				t.Errorf("%v, %d calls", err, r.Taken())
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
	if err := r.Run(ctx); err != nil || r.Taken() != 0 || time.Since(begin) < 200*time.Millisecond {
		t.Errorf("%v after %v, %d calls", err, time.Since(begin), r.Taken())
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
