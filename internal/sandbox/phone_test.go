package sandbox

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/provider"

	"github.com/google/go-cmp/cmp"
)

// diary records what happens to a call, each with the time since it was dialed.
type diary struct {
	dialed time.Time
	what   []string
}

func (d *diary) add(what string, at time.Time) {
	d.what = append(d.what, fmt.Sprintf("%s@%v", what, at.Sub(d.dialed)))
}

func (d *diary) Recorded(string)                 {}
func (d *diary) Ringing(at time.Time)            { d.add("ringing", at) }
func (d *diary) Answered(at time.Time, _ string) { d.add("answered", at) }

// place places a call, and returns what happened in a line.
func place(ctx context.Context, ringTimeout time.Duration, number string, attempt int) (string, dial.Ending) {
	d := &diary{dialed: time.Now()}
	e := NewPhone(Delays{}).Place(ctx, &carillon.Sender{RingTimeout: ringTimeout}, &dial.Call{ID: "1", Number: number, Attempt: attempt}, d)
	d.add(string(e.State), e.At)
	return strings.Join(d.what, " "), e
}

func TestPhoneFollowsTheNumber(t *testing.T) {
	const (
		ordinary = "ringing@300ms answered@1.5s completed@4s"
		busyCall = "busy@300ms"
	)
	for _, c := range []struct {
		suffix  string
		attempt int
		ring    time.Duration // 0: 45 s
		want    string
	}{
		{"1222", 1, 0, ordinary},
		{"0001", 1, 0, "failed@0s"},
		{"0002", 1, 0, "failed@0s"},
		{"0002", 2, 0, "failed@0s"},
		{"0002", 3, 0, ordinary},
		{"0003", 1, 0, ordinary},
		{"0004", 1, 0, ordinary},
		{"0009", 1, 0, "ringing@300ms answered@6.5s completed@9s"},
		{"0009", 1, 5 * time.Second, "ringing@300ms no_answer@5s"},
		{"0010", 1, 0, ordinary},
		{"0011", 1, 0, busyCall},
		{"0011", 3, 0, busyCall},
		{"0012", 1, 0, "ringing@300ms no_answer@4s"},
		{"0012", 1, 2 * time.Second, "ringing@300ms no_answer@2s"},
		{"0012", 1, time.Millisecond, "ringing@1ms no_answer@1ms"},
		{"0013", 1, 0, "ringing@300ms rejected@1.5s"},
		{"0014", 1, 0, "ringing@300ms answered@1.5s voicemail@1.5s"},
		{"0015", 1, 0, "failed@300ms"},
		{"0016", 1, 0, busyCall},
		{"0016", 2, 0, ordinary},
		{"0017", 1, 0, "ringing@300ms answered@1.5s completed@1.5s"},
		{"0018", 1, 0, ordinary},
	} {
		t.Run(fmt.Sprintf("%s attempt %d", c.suffix, c.attempt), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ring := c.ring
				if ring == 0 {
					ring = 45 * time.Second
				}
				if got, _ := place(t.Context(), ring, "3460011"+c.suffix, c.attempt); got != c.want {
					t.Errorf("got %s\nwant %s", got, c.want)
				}
			})
		})
	}
}

func TestPhoneSaysHowCallsEnded(t *testing.T) {
	for suffix, want := range map[string]dial.Ending{
		"1222": {State: carillon.StateCompleted, EndedBy: "agent", AnsweredBy: "human"},
		"0001": {State: carillon.StateFailed, Reason: carillon.ReasonUndeliverable, Cause: "404 Not Found", EndedBy: "system"},
		"0002": {
			State: carillon.StateFailed, Cause: "503 Service Unavailable", EndedBy: "system", Fault: provider.FaultProvider,
			Detail: "sandbox: the line is faulty, by the number",
		},
		"0011": {State: carillon.StateBusy, Cause: "486 Busy Here", EndedBy: "callee"},
		"0012": {State: carillon.StateNoAnswer, Cause: "487 Request Terminated", EndedBy: "system", Detail: "sandbox: the ring time-out passed"},
		"0013": {State: carillon.StateRejected, Cause: "603 Decline", EndedBy: "callee"},
		"0014": {State: carillon.StateVoicemail, EndedBy: "system", AnsweredBy: "machine"},
		"0015": {State: carillon.StateFailed, Reason: carillon.ReasonProviderRefused, Cause: "488 Not Acceptable Here", EndedBy: "system"},
		"0017": {State: carillon.StateCompleted, EndedBy: "callee", AnsweredBy: "human"},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, got := place(t.Context(), 0, "3460011"+suffix, 1)
			got.At = time.Time{}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", suffix, diff)
			}
		})
	}
}

func TestPhoneHangsUpWhenItsContextEnds(t *testing.T) {
	for after, want := range map[time.Duration]string{
		0:                      "canceled@0s",
		100 * time.Millisecond: "canceled@100ms",
		time.Second:            "ringing@300ms canceled@1s",
		2 * time.Second:        "ringing@300ms answered@1.5s completed@2s",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			got, e := place(ctx, 0, "34600111222", 1)
			if got != want || e.EndedBy != "system" || (e.AnsweredBy == "human") != (e.State == carillon.StateCompleted) {
				t.Errorf("after %v: %s, %+v, want %s", after, got, e, want)
			}
		})
	}
}

func TestPhoneWithoutDelays(t *testing.T) {
	d := &diary{dialed: time.Now()}
	p := NewPhone(Delays{Ringing: -1, Answered: -1, Ended: -1})
	if e := p.Place(t.Context(), &carillon.Sender{}, &dial.Call{Number: "1"}, d); e.State != carillon.StateCompleted || len(d.what) != 2 {
		t.Errorf("%+v, %v", e, d.what)
	}
}
